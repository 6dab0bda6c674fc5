"""Metrics, one file each, with formula and source.

Ranking metrics take a ranking of passage ids (best first, no repeats) and the set of gold ids, and return a
value in [0, 1]. A question without gold never reaches them.
"""

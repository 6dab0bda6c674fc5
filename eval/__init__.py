"""The evaluation harness: `python -m eval` measures the library, its tiers and its peers on question sets.

It is not part of the wheel. It stands beside the package in a checkout and needs the `eval` extra.
"""

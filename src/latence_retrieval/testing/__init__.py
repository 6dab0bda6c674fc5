"""Conformance suites for adapter authors: subclass one, say how to make your adapter, run pytest."""

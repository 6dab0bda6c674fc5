"""The seams: one Protocol a file. A port's docstring is its specification; `testing/` holds the suites."""

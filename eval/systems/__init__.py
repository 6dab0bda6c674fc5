"""Systems under test: the library's tiers, its surfaces, plain baselines and peers in the style of their papers."""

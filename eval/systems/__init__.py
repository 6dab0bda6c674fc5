"""Systems under test: the library's tiers and surfaces, plain baselines, and peers in papers' style."""

"""Word-based ranking: index terms, posting lists, exact BM25, and the blocking keys of names."""

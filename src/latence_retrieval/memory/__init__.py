"""In-memory adapters: the executable reference for the ports."""

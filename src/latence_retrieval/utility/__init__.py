"""What a chunk is worth: signals, each on [0, 1], and their weighted mean."""

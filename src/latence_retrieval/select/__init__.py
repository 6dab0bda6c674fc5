"""What is kept under the token budget, and how far from the best possible that can be."""

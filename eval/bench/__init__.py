"""Latency and build speed on synthetic knowledge bases of any size."""

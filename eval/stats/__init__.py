"""What differences mean: intervals, tests and breakdowns over per-question values."""

"""What the core promises, with pytest-benchmark: the first thing to compare between commits."""

"""Rates over size, threads and instruction sets, against the machine's own limit and against peers."""

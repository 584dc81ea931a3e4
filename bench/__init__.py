"""Benchmarks. Each asserts its answers; figures are compared within one run only."""

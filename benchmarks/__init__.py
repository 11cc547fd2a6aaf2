"""Measurements of speed and memory from a checkout (`python -m benchmarks`); they are not installed."""

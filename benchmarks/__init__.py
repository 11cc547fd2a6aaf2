"""Measurements of speed and memory; run by `surefoot bench`, never by tests."""

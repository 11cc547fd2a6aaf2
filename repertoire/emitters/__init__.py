"""Emitters: where the solutions of the next generation come from."""

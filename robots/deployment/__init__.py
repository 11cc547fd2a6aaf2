"""A controller's walk, step by step: measured, and filmed."""

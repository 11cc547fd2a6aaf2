"""Evolution strategies: search distributions that learn from a ranking of what they sampled."""

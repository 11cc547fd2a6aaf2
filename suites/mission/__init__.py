"""The mission benchmark: what breaks on the way to a goal, and what robots make of it without a reset."""

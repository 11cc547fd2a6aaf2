"""Closed-loop simulation: episodes of one robot, and many on all cores."""

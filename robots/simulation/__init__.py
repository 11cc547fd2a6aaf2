"""Closed-loop simulation: the contract of backends, threads, and a robot as a Gymnasium environment."""

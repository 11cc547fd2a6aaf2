"""Relearning: gaits that are not in the repertoire, refined on models of the damaged robot."""

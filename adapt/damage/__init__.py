"""Damage: what can be wrong with a robot, and how a user writes it."""

HEALTHY = "healthy"  # the text of no damage

"""Missions: one simulation without resets; the robot breaks while it walks, notices and walks on."""

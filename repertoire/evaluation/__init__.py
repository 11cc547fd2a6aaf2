"""Gaits over several episodes: measured, corrected, merged."""

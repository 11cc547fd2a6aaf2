"""Algorithms: their table, their settings, and the search that runs one."""

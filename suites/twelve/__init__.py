"""Twelve damages that others chose, at most five trials, and the share of the intact robot's progress."""

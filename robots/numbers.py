"""Numbers as people read them."""

import math


def short(value: float) -> str:
    """A number in about three digits, e.g. 1234, 56.7 or 0.89; a dash for nan."""
    if math.isnan(value):
        return "-"
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{decimals}f}"

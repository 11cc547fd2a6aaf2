"""Numbers of the benchmark as its report writes them."""

import math

from adapt.suite.metrics import Metric
from adapt.suite.summaries import Summary

NOTHING = "-"


def format_value(value: float, decimals: int) -> str:
    """A number; a dash where it is infinite or there is none."""
    return f"{value:.{decimals}f}" if math.isfinite(value) else NOTHING


def format_summary(summary: Summary | None, metric: Metric) -> str:
    """A statistic with its interval, e.g. `0.93 [0.91, 0.95]`; a dash where there is none."""
    if summary is None:
        return NOTHING
    value, low, high = (
        format_value(end, metric.decimals) for end in (summary.value, summary.low, summary.high)
    )
    return f"{value} [{low}, {high}]"

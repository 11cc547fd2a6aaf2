"""What the pictures of studies share: panels of curves with their intervals."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from robots.rendering.figures import COLORS, EMPTY

_DASHES = ("-", "--", "-.", ":")


def panels(count: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure and its panels, in two columns, or in one if there is only one.

    Args:
        count: of panels.
        size: width and height of a panel [inches].
    """
    columns = min(2, count)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    found = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in found[count:]:
        axes.set_axis_off()
    return figure, list(found[:count])


def draw_curve(axes: Axes, places: np.ndarray, curve: np.ndarray, *, number: int, label: str) -> None:
    """Draw a curve with its interval.

    Args:
        axes: to draw in.
        places: (n,).
        curve: values there and both ends of their intervals, (3, n).
        number: of the curve, which decides its colour and dashes.
        label: in the legend.
    """
    middles, lows, highs = curve
    marker = "" if np.ptp(places) else "o"  # a single point would have no line
    color, dashes = COLORS[number % len(COLORS)], _DASHES[number % len(_DASHES)]
    axes.fill_between(places, lows, highs, color=color, alpha=0.25, linewidth=0)
    axes.plot(places, middles, color=color, linestyle=dashes, marker=marker, label=label)


def finish(axes: Axes, title: str, legend: str | None) -> None:
    """Give a panel its title and a grid, and a legend to the right under a heading, unless that is None."""
    axes.set_title(title, loc="left", fontsize=11)
    axes.grid(color=EMPTY)
    axes.spines[["top", "right"]].set_visible(False)
    if legend is not None:
        axes.legend(
            title=legend,
            loc="upper left",
            bbox_to_anchor=(1.02, 1),
            alignment="left",
            labelcolor="linecolor",
            handlelength=3,
            fontsize=9,
            title_fontsize=9,
            frameon=False,
        )

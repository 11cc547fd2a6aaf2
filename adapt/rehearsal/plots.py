"""Picture of a rehearsal: under each damage the best gait there is, and how many are nearly as good."""

import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adapt.rehearsal.survival import GOOD, Survival, survivals
from adapt.rehearsal.table import Table
from repertoire.plots import save_figure

# of the palette of Okabe and Ito, which colour-blind people can tell apart; the marks also differ in shape
_BEST, _IN_USE, _COUNT = "#0072b2", "#d55e00", "#009e73"
_QUIET = "#555555"


def draw_rehearsal(table: Table, title: str, path: Path) -> None:
    """Draw what a repertoire still can under each condition.

    Args:
        table: of its rehearsal.
        title: of the picture.
        path: of the PNG.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    found = survivals(table)
    figure = Figure(figsize=(10.0, 1.5 + 0.24 * len(found)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2.4, 1.0))
    _draw_levels(left, found)
    _draw_counts(right, found)
    left.set_yticks(range(len(found)), [survival.condition for survival in found], fontsize=9)
    left.set_ylim(len(found) - 0.4, -0.6)  # the first on top
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=9)
    save_figure(figure, path)


def _draw_levels(axes: Axes, found: Sequence[Survival]) -> None:
    """Draw the best gait of each condition, what share of the healthy best that is, and the gait in use."""
    places = range(len(found))
    bests = [survival.objective for survival in found]
    axes.barh(places, bests, height=0.7, color=_BEST, label="the best gait there is")
    in_use = [survival.in_use for survival in found]
    axes.plot(
        in_use, places, "d", color=_IN_USE, mec="white", ms=8, label="the gait that was best when healthy"
    )
    axes.axvline(bests[0], color=_QUIET, linestyle="--", linewidth=1.2, zorder=0)
    for place, survival in zip(places, found, strict=True):
        if not math.isnan(survival.headroom):
            end = max(survival.objective, survival.in_use, 0.0)
            _label(axes, end, place, f"{survival.headroom:.0%}", offset=8)
    axes.set_xlabel("mean objective of an episode, and the best gait's share of the healthy best")
    axes.margins(x=0.09)
    _tidy(axes)


def _draw_counts(axes: Axes, found: Sequence[Survival]) -> None:
    """Draw how many gaits of each condition are good."""
    counts = [survival.good for survival in found]
    axes.barh(range(len(found)), counts, height=0.7, color=_COUNT)
    axes.set_xscale("log")
    axes.set_xlim(0.8, 3 * max(counts))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    for place, count in enumerate(counts):
        _label(axes, count, place, f"{count:,}", offset=4)
    axes.set_xlabel(f"gaits that reach {GOOD:.0%} of that")
    _tidy(axes)


def _label(axes: Axes, x: float, y: float, text: str, *, offset: float) -> None:
    """Write to the right of a place, `offset` [points] away."""
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.annotate(text, (x, y), (offset, 0), textcoords="offset points", va="center", fontsize=8, bbox=box)


def _tidy(axes: Axes) -> None:
    """Leave out what is not needed."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)

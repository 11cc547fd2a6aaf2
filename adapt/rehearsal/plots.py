"""Picture of a rehearsal: under each damage the best gait, and how many gaits are nearly as good."""

import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adapt.rehearsal.table import GOOD, Survival, Table, survivals
from robots.rendering.figures import PLAIN, save_figure
from robots.rendering.palette import BLUE, GREEN, QUIET, VERMILION


@PLAIN
def draw_rehearsal(table: Table, title: str, path: Path) -> None:
    """Draw what a repertoire can still do under each condition of its rehearsal."""
    found = survivals(table)
    figure = Figure(figsize=(10.0, 1.5 + 0.24 * len(found)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2.4, 1.0))
    _draw_survivals(left, found)
    _draw_counts(right, found)
    left.set_yticks(range(len(found)), [survival.condition for survival in found], fontsize=9)
    left.set_ylim(len(found) - 0.4, -0.6)  # the first on top
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=9)
    save_figure(figure, path)


def _draw_survivals(axes: Axes, found: Sequence[Survival]) -> None:
    """Draw the best gait of each condition, what share of the healthy best that is, and the incumbent."""
    places = range(len(found))
    bests = [survival.objective for survival in found]
    axes.barh(places, bests, height=0.7, color=BLUE, label="the best gait")
    incumbents = [survival.incumbent for survival in found]
    label = "the incumbent: the gait that is best when healthy"
    axes.plot(incumbents, places, "d", color=VERMILION, mec="white", ms=8, label=label)
    axes.axvline(bests[0], color=QUIET, linestyle="--", linewidth=1.2, zorder=0)
    for place, survival in zip(places, found, strict=True):
        if not math.isnan(survival.headroom):
            end = max(survival.objective, survival.incumbent, 0.0)
            _write_next_to(axes, end, place, f"{survival.headroom:.0%}", offset=8)
    axes.set_xlabel("mean objective of an episode\nin percent: the best gait's share of the healthy best")
    axes.margins(x=0.09)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _draw_counts(axes: Axes, found: Sequence[Survival]) -> None:
    """Draw how many gaits are good under each condition."""
    counts = [survival.good for survival in found]
    axes.barh(range(len(found)), counts, height=0.7, color=GREEN)
    axes.set_xscale("log")
    axes.set_xlim(0.8, 3 * max(counts))
    for set_formatter in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        set_formatter("{x:,.0f}")
    for place, count in enumerate(counts):
        _write_next_to(axes, count, place, f"{count:,}", offset=4)
    axes.set_xlabel(f"gaits that reach\n{GOOD:.0%} of the best")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _write_next_to(axes: Axes, x: float, y: float, text: str, *, offset: float) -> None:
    """Write to the right of a place, `offset` [points] away."""
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.annotate(text, (x, y), (offset, 0), textcoords="offset points", va="center", fontsize=8, bbox=box)

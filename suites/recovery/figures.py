"""Pictures of a recovery benchmark: recovery ratios over trials, and for each damage."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adapt.report import spread
from repertoire.plots import save_figure
from suites.recovery.cases import Track
from suites.recovery.metrics import by_damage, interquartile_mean, summarise
from suites.recovery.recoveries import Results

# The palette of Okabe and Ito, which colour-blind people can tell apart; lines also differ in dashes
_COLORS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#777777")
_DASHES = ("-", "--", "-.", ":")
_GRID = "#e4e4e4"
_FIRST = "rehearsed"  # drawn with the widest line
_MARGIN = 0.04
_DARK = 0.6  # below it, cells are dark and their text is white
_SPACING = 0.052  # least distance between labels, as a share of the axis


def draw_curves(results: Results, path: Path) -> None:
    """Draw the interquartile mean of the recovery ratio over trials with its interval, one panel per track.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    tracks = results.tracks
    columns = min(3, len(tracks))
    rows = math.ceil(len(tracks) / columns)
    figure = Figure(figsize=(5.6 * columns, 3.9 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, track in zip(panels, tracks, strict=False):
        _draw_track(axes, results, track)
    for axes in panels[len(tracks) :]:
        axes.set_axis_off()
    save_figure(figure, path)


def _draw_track(axes: Axes, results: Results, track: Track) -> None:
    """Draw the curves of a track for binding damages, each with its name at its end."""
    trials, ends = np.arange(1, results.trials + 1), {}
    recoveries = results.of(track)
    for name, runs in recoveries[recoveries["binding"] == 1].groupby("selector", sort=False):
        points = [summarise(by_damage(runs, f"rr_{trial}"), interquartile_mean) for trial in trials]
        middles, lows, highs = np.transpose(points)
        color, dashes = _style(results.selectors, str(name))
        axes.fill_between(trials, lows, highs, color=color, alpha=0.15, linewidth=0)
        width = 2.6 if name == _FIRST else 1.4
        axes.plot(trials, middles, color=color, linestyle=dashes, linewidth=width)
        ends[str(name)] = float(middles[-1])
    axes.axhline(0.9, color="black", linewidth=0.8, linestyle=(0, (1, 3)))
    axes.set_title(f"{track.name}: {track.title}", loc="left", fontsize=9)
    axes.set(xlabel="trials", ylabel="recovery ratio", ylim=(0, 1 + _MARGIN), xlim=(1, results.trials))
    axes.set_xticks([1, *range(5, results.trials + 1, 5)])
    axes.grid(color=_GRID)
    axes.spines[["top", "right"]].set_visible(False)
    _label_ends(axes, results.selectors, ends)


def _label_ends(axes: Axes, selectors: Sequence[str], ends: dict[str, float]) -> None:
    """Write the selectors' names next to the ends of their curves, without overlap."""
    places = -spread(-np.array(list(ends.values())), _SPACING * (1 + _MARGIN))  # from the top down
    for (name, end), place in zip(ends.items(), places, strict=True):
        axes.annotate(
            f"{name} {end:.2f}",
            (1.02, place / (1 + _MARGIN)),
            xycoords="axes fraction",
            va="center",
            fontsize=8,
            color=_style(selectors, name)[0],
            weight="bold" if name == _FIRST else "normal",
        )


def _style(selectors: Sequence[str], name: str) -> tuple[str, str]:
    """Colour and dashes of a selector; the first of both are reserved for `rehearsed`."""
    others = [other for other in selectors if other != _FIRST]
    number = 0 if name == _FIRST else 1 + others.index(name)
    return _COLORS[number % len(_COLORS)], _DASHES[number % len(_DASHES)]


def draw_damages(ratios: pd.DataFrame, path: Path, *, after: int) -> None:
    """Draw mean recovery ratios after some trials, of every selector and damage, as a heat map.

    Args:
        ratios: a row for each damage and a column for each selector, the first of them without adaptation.
        path: to draw to.
        after: how many trials.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    ratios = ratios.sort_values(ratios.columns[0], kind="stable")
    d, columns = ratios.shape
    figure = Figure(figsize=(0.62 * columns + 4.4, 0.28 * d + 1.9), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(ratios, cmap="viridis", vmin=0, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(ratios):
        color = "white" if value < _DARK else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7.5, color=color)
    axes.set_xticks(range(columns), ratios.columns, rotation=40, ha="right", fontsize=8)
    axes.set_yticks(range(d), ratios.index, fontsize=8)
    axes.set_title(f"mean recovery ratio after {after} trials", loc="left", fontsize=10)
    figure.colorbar(image, ax=axes, fraction=0.04)
    save_figure(figure, path)

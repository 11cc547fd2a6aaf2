"""Picture of a recovery: what each trial was expected to bring, what it brought, and what that was worth."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from repertoire.plots import save_figure
from robots.errors import InvalidValueError

# Of the palette of Okabe and Ito, which colour-blind people can tell apart; lines also differ in dashes.
_PREDICTED, _MEASURED, _CHOSEN = "#777777", "#0072b2", "#d55e00"
_QUIET = "#dddddd"
_MOST_UPRIGHT = 10  # labels of trials that fit beside each other
_LABEL_GAP = 0.062  # least distance between labels beside the lines, as a fraction of the axis


def draw_recovery(
    *,
    trials_predicted: Sequence[float],
    trials_measured: Sequence[float],
    chosen: Sequence[bool],
    cells: Sequence[str],
    healthy: float,
    broken: float,
    recovered: float,
    oracle: float | None = None,
    title: str,
    path: Path,
) -> None:
    """Draw the trials of a recovery and the levels to compare them with.

    Args:
        trials_predicted: objective expected of each trial.
        trials_measured: objective of each trial.
        chosen: whether each trial was of the controller that was chosen.
        cells: label of each trial's controller.
        healthy: objective before the damage.
        broken: objective of the same controller after it.
        recovered: objective of the chosen controller, measured afresh.
        oracle: objective of the best controller there is.
        title: of the picture.
        path: of the PNG.

    Raises:
        InvalidValueError: there is no trial, lengths differ, or the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    predicted, measured = np.asarray(trials_predicted, float), np.asarray(trials_measured, float)
    if not len(cells) or not len(predicted) == len(measured) == len(chosen) == len(cells):
        raise InvalidValueError(
            "trials_predicted, trials_measured, chosen and cells must have an entry for each of at least one "
            f"trial, not {len(predicted)}, {len(measured)}, {len(chosen)} and {len(cells)}"
        )
    figure = Figure(figsize=(8.2, 4.6), layout="constrained")
    axes = figure.add_subplot()
    _draw_trials(axes, predicted, measured, cells, np.asarray(chosen, np.bool_))
    _draw_levels(axes, healthy=healthy, broken=broken, recovered=recovered, oracle=oracle)
    axes.set_title(title, loc="left", fontsize=11)
    figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=9)
    save_figure(figure, path)


def _draw_trials(
    axes: Axes, predicted: np.ndarray, measured: np.ndarray, cells: Sequence[str], chosen: np.ndarray
) -> None:
    """Draw what was predicted and measured, joined for each trial."""
    numbers = np.arange(1, len(cells) + 1)
    axes.vlines(numbers, predicted, measured, color=_QUIET, linewidth=3, zorder=1)
    axes.plot(numbers, predicted, "o", mfc="white", mec=_PREDICTED, mew=1.5, ms=7, label="predicted")
    axes.plot(numbers, measured, "o", color=_MEASURED, ms=7, label="measured, one episode")
    axes.plot(
        numbers[chosen], measured[chosen], "*", color=_CHOSEN, ms=17, mec="white", label="the chosen gait"
    )
    crowded = len(cells) > _MOST_UPRIGHT
    between = ": " if crowded else "\n"
    labels = [f"{number}{between}{cell}" for number, cell in zip(numbers, cells, strict=True)]
    axes.set_xticks(numbers, labels, fontsize=8, rotation=90 if crowded else 0)
    axes.margins(y=0.08)
    axes.set_xlim(0.4, len(cells) + 0.6)
    axes.set_xlabel("trial, and the cell of its controller")
    axes.set_ylabel("objective [sum of rewards]")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_levels(
    axes: Axes, *, healthy: float, broken: float, recovered: float, oracle: float | None
) -> None:
    """Draw a line for each level, with its label beside it."""
    levels = [
        ("healthy", healthy, "#009e73", "--"),
        ("damaged", broken, "black", ":"),
        ("recovered", recovered, _CHOSEN, "-"),
    ]
    if oracle is not None:
        levels.append(("best of all", oracle, "#cc79a7", "-."))
    for _, level, color, dashes in levels:
        axes.axhline(level, color=color, linestyle=dashes, linewidth=1.5, zorder=0)
    low, high = axes.get_ylim()
    places = spread(np.array([level for _, level, _, _ in levels]), _LABEL_GAP * (high - low))
    for (name, level, color, _), place in zip(levels, places, strict=True):
        axes.annotate(
            f"{name} {level:,.0f}",
            (1.01, place),
            xycoords=("axes fraction", "data"),
            va="center",
            color=color,
        )


def spread(values: np.ndarray, gap: float) -> np.ndarray:
    """Move values up, as little as needed for neighbours to differ by at least `gap`."""
    places = values.astype(float)
    order = np.argsort(values, kind="stable")
    for below, above in pairwise(order):
        places[above] = max(places[above], places[below] + gap)
    return places

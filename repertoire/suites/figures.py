"""Pictures of a study: QD score over evaluations, and the archives that came of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.markers import CARETLEFT
from matplotlib.ticker import MaxNLocator

from repertoire.plots import save_figure, stack
from repertoire.profile_plot import draw_profile
from repertoire.statistics import mean_interval
from repertoire.suites.formats import format_number
from repertoire.suites.result import TrialResult
from repertoire.suites.trials import Trials

# Of the palette of Okabe and Ito, which colour-blind people can tell apart; lines also differ in dashes
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000")
_DASHES = ("-", "--", "-.", ":")
_EMPTY = "#e4e4e4"
_QUIET = "#555555"
_MILLIONTH = 1e-6
_POINTS = 200  # of a curve
_PROFILE_WIDTH = 150  # of all lines together [points]
_BAR = "objective (grey: empty cell)"


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean QD score of trials over evaluations and its 95% interval, arrays of equal length [10⁶]."""

    evaluations: np.ndarray
    means: np.ndarray
    lows: np.ndarray
    highs: np.ndarray


def mean_curve(results: Sequence[TrialResult]) -> Curve | None:
    """Average the histories of trials, as far as all of them go; None if there is no history."""
    histories = [one.history for one in results if len(one.history.get("evaluations", ()))]
    if not histories:
        return None
    first = max(history["evaluations"][0] for history in histories)
    last = min(history["evaluations"][-1] for history in histories)
    evaluations = np.linspace(first, last, _POINTS)
    scores = [np.interp(evaluations, history["evaluations"], history["qd_score"]) for history in histories]
    intervals = [mean_interval(values) for values in _MILLIONTH * np.transpose(scores)]
    means, lows, highs = np.transpose([(one.mean, one.low, one.high) for one in intervals])
    return Curve(evaluations, means, lows, highs)


def median_trial(results: Sequence[TrialResult]) -> TrialResult:
    """The trial with the median QD score; of an even number, the lower of the two in the middle."""
    return sorted(results, key=lambda one: one.qd_score)[(len(results) - 1) // 2]


def draw_curves(trials: Trials, path: Path) -> None:
    """Draw QD score over evaluations: mean and 95% interval of each algorithm, one panel a domain.

    A triangle marks the paper's final mean where our trials have as many evaluations.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    columns = min(2, len(trials.domains))
    rows = math.ceil(len(trials.domains) / columns)
    figure = Figure(figsize=(5.8 * columns, 3.1 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, domain in zip(panels, trials.domains, strict=False):
        _draw_domain(axes, trials, domain)
    for axes in panels[len(trials.domains) :]:
        axes.set_axis_off()
    save_figure(figure, path)


def draw_archives(trials: Trials, path: Path) -> None:
    """Draw an archive of each algorithm in each domain: of the trial with the median QD score.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    rows, columns = len(trials.algorithms), len(trials.domains)
    figure = Figure(figsize=(2.3 * columns + 1.3, 2.45 * rows + 0.3), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    scales = {domain: _scale(trials, domain) for domain in trials.domains}
    for algorithm, line in zip(trials.algorithms, panels, strict=True):
        line[0].set_ylabel(algorithm, fontsize=11)
        for domain, axes in zip(trials.domains, line, strict=True):
            _draw_archive(axes, trials.of(domain, algorithm), scales[domain])
    for domain, axes in zip(trials.domains, panels[0], strict=True):
        axes.set_title(domain, fontsize=11)
    if trials.published.objectives:
        bar = figure.colorbar(ScalarMappable(*scales[trials.domains[0]]), ax=panels, aspect=30, pad=0.02)
        bar.set_label(_BAR)
    else:
        for domain, column in zip(trials.domains, panels.T, strict=True):
            bar = figure.colorbar(
                ScalarMappable(*scales[domain]), ax=column, location="bottom", aspect=20, pad=0.02
            )
            bar.set_label(_BAR, fontsize=8)
    save_figure(figure, path)


def _scale(trials: Trials, domain: str) -> tuple[Normalize, Colormap]:
    """Colours of objectives in a domain: between limits that all share, or else those of what is shown."""
    shown = [median_trial(trials.of(domain, name)).objectives for name in trials.algorithms_in(domain)]
    found = np.concatenate([values[np.isfinite(values)] for values in shown])
    limits = trials.published.objectives or ((found.min(), found.max()) if len(found) else (0.0, 1.0))
    colors = matplotlib.colormaps["viridis"].with_extremes(bad=_EMPTY)
    return Normalize(*limits), colors


def _draw_domain(axes: Axes, trials: Trials, domain: str) -> None:
    """Draw the curves of a domain, the one that ends highest first, and what is around them."""
    found = {name: mean_curve(trials.of(domain, name)) for name in trials.algorithms_in(domain)}
    curves = {name: curve for name, curve in found.items() if curve is not None}
    for name in sorted(curves, key=lambda name: -curves[name].means[-1]):
        _draw_curve(axes, trials, domain, name, curves[name])
    axes.set_title(domain, loc="left", fontsize=11)
    axes.set_xlabel("evaluations")
    axes.set_ylabel("QD score [10⁶]")
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(bottom=0)
    axes.grid(color=_EMPTY)
    axes.spines[["top", "right"]].set_visible(False)
    if curves:
        marked = any(trials.comparable(domain, name) for name in curves)
        _add_legend(axes, "final mean, ◂ the paper's" if marked else "final mean")


def _add_legend(axes: Axes, title: str) -> None:
    """List the curves beside them, in the order in which they were drawn."""
    axes.legend(
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        alignment="left",
        labelcolor="linecolor",
        handlelength=3,
        fontsize=9,
        title_fontsize=9,
        frameon=False,
    )


def _draw_curve(axes: Axes, trials: Trials, domain: str, algorithm: str, curve: Curve) -> None:
    """Draw a curve with its interval, and the paper's mean."""
    number = [*dict.fromkeys((*trials.published.algorithms, *trials.algorithms))].index(algorithm)
    color, dashes = _COLORS[number % len(_COLORS)], _DASHES[number % len(_DASHES)]
    axes.fill_between(curve.evaluations, curve.lows, curve.highs, color=color, alpha=0.25, linewidth=0)
    axes.plot(
        curve.evaluations,
        curve.means,
        color=color,
        linestyle=dashes,
        marker="" if np.ptp(curve.evaluations) else "o",  # a single point would have no line
        label=f"{algorithm} {format_number(curve.means[-1])}",
    )
    if trials.comparable(domain, algorithm):
        end, printed = curve.evaluations[-1], trials.published.means[domain, algorithm]["qd_score"]
        axes.plot(end, printed, marker=CARETLEFT, ms=7, color=color, mec="none", clip_on=False, zorder=3)


def _draw_archive(axes: Axes, results: Sequence[TrialResult], scale: tuple[Normalize, Colormap]) -> None:
    """Draw the archive of the median trial, if there is any."""
    axes.set_box_aspect(1)
    axes.set(xticks=[], yticks=[])
    if not results:
        axes.text(0.5, 0.5, "no trial", ha="center", va="center", color=_QUIET, transform=axes.transAxes)
        return
    shown, (norm, colors) = median_trial(results), scale
    if shown.objectives.ndim == 1:
        width = _PROFILE_WIDTH / len(shown.objectives)
        draw_profile(axes, shown.objectives, norm, colors, line_width=width)
    else:
        axes.imshow(
            stack(shown.objectives),
            norm=norm,
            cmap=colors,
            origin="lower",
            interpolation="nearest",
            aspect="auto",
        )
    axes.set_xlabel(f"trial {shown.trial}: {shown.coverage:.1%} filled", fontsize=8, color=_QUIET)

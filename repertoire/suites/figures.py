"""Pictures of a study: QD score over evaluations, and archives."""

import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.markers import CARETLEFT
from matplotlib.ticker import MaxNLocator

from repertoire.plots import draw_profile, save_figure, stack
from repertoire.statistics import mean_interval
from repertoire.suites.report import format_number
from repertoire.suites.results import StudyResults, TrialResult

# The palette of Okabe and Ito, which colour-blind people can tell apart; lines also differ in dashes
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000")
_DASHES = ("-", "--", "-.", ":")
_EMPTY, _QUIET = "#e4e4e4", "#555555"
_MILLIONTH = 1e-6
_POINTS = 200  # of a curve
_PROFILE_WIDTH = 150  # of all lines of a profile together [points]
_BAR = "objective (grey: empty cell)"


def mean_curve(results: Sequence[TrialResult]) -> np.ndarray | None:
    """Average the histories of trials over the range that all of them cover.

    Returns:
        Evaluations, the mean QD score and both ends of its 95% interval [10⁶], (4, points); None if there is
        no history.
    """
    histories = [one.history for one in results if len(one.history.get("evaluations", ()))]
    if not histories:
        return None
    first = max(history["evaluations"][0] for history in histories)
    last = min(history["evaluations"][-1] for history in histories)
    evaluations = np.linspace(first, last, _POINTS)
    scores = [np.interp(evaluations, history["evaluations"], history["qd_score"]) for history in histories]
    intervals = [mean_interval(values) for values in _MILLIONTH * np.transpose(scores)]
    return np.array([evaluations, *np.transpose([(one.mean, one.low, one.high) for one in intervals])])


def draw_curves(results: StudyResults, path: Path) -> None:
    """Draw mean QD score over evaluations and its 95% interval for each algorithm, one panel per domain.

    A triangle marks the paper's final mean where our trials have as many evaluations.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    columns = min(2, len(results.domains))
    rows = math.ceil(len(results.domains) / columns)
    figure = Figure(figsize=(5.8 * columns, 3.1 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, domain in zip(panels, results.domains, strict=False):
        _draw_curves_of(axes, results, domain)
    for axes in panels[len(results.domains) :]:
        axes.set_axis_off()
    save_figure(figure, path)


def draw_archives(results: StudyResults, path: Path) -> None:
    """Draw the archive of the median trial of each algorithm in each domain.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    rows, columns = len(results.algorithms), len(results.domains)
    figure = Figure(figsize=(2.3 * columns + 1.3, 2.45 * rows + 0.3), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    scales = {domain: _color_scale(results, domain) for domain in results.domains}
    for algorithm, line in zip(results.algorithms, panels, strict=True):
        line[0].set_ylabel(algorithm, fontsize=11)
        for domain, axes in zip(results.domains, line, strict=True):
            _draw_archive(axes, results, domain, algorithm, scales[domain])
    for domain, axes in zip(results.domains, panels[0], strict=True):
        axes.set_title(domain, fontsize=11)
    if results.published.objectives:
        bar = figure.colorbar(ScalarMappable(*scales[results.domains[0]]), ax=panels, aspect=30, pad=0.02)
        bar.set_label(_BAR)
    else:
        for domain, column in zip(results.domains, panels.T, strict=True):
            colors = ScalarMappable(*scales[domain])
            bar = figure.colorbar(colors, ax=column, location="bottom", aspect=20, pad=0.02)
            bar.set_label(_BAR, fontsize=8)
    save_figure(figure, path)


def _draw_curves_of(axes: Axes, results: StudyResults, domain: str) -> None:
    """Draw the curves of a domain, the one that ends highest first."""
    found = {name: mean_curve(results.of(domain, name)) for name in results.algorithms_in(domain)}
    curves = {name: curve for name, curve in found.items() if curve is not None}
    for name in sorted(curves, key=lambda name: -curves[name][1, -1]):
        _draw_curve(axes, results, domain, name, curves[name])
    axes.set_title(domain, loc="left", fontsize=11)
    axes.set_xlabel("evaluations")
    axes.set_ylabel("QD score [10⁶]")
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(bottom=0)
    axes.grid(color=_EMPTY)
    axes.spines[["top", "right"]].set_visible(False)
    if curves:
        marked = any(results.is_comparable(domain, name) for name in curves)
        axes.legend(
            title="final mean, ◂ the paper's" if marked else "final mean",
            loc="upper left",
            bbox_to_anchor=(1.02, 1),
            alignment="left",
            labelcolor="linecolor",
            handlelength=3,
            fontsize=9,
            title_fontsize=9,
            frameon=False,
        )


def _draw_curve(axes: Axes, results: StudyResults, domain: str, algorithm: str, curve: np.ndarray) -> None:
    """Draw a curve with its interval and the paper's mean."""
    number = [*dict.fromkeys((*results.published.algorithms, *results.algorithms))].index(algorithm)
    color, dashes = _COLORS[number % len(_COLORS)], _DASHES[number % len(_DASHES)]
    evaluations, means, lows, highs = curve
    marker = "" if np.ptp(evaluations) else "o"  # a single point would have no line
    label = f"{algorithm} {format_number(means[-1])}"
    axes.fill_between(evaluations, lows, highs, color=color, alpha=0.25, linewidth=0)
    axes.plot(evaluations, means, color=color, linestyle=dashes, marker=marker, label=label)
    if results.is_comparable(domain, algorithm):
        end, printed = evaluations[-1], results.published.means[domain, algorithm]["qd_score"]
        axes.plot(end, printed, marker=CARETLEFT, ms=7, color=color, mec="none", clip_on=False, zorder=3)


def _color_scale(results: StudyResults, domain: str) -> tuple[Normalize, Colormap]:
    """Return the colours of objectives: over the published range, or else over what is shown."""
    shown = [results.median_trial(domain, name).objectives for name in results.algorithms_in(domain)]
    found = np.concatenate([values[np.isfinite(values)] for values in shown])
    limits = results.published.objectives or ((found.min(), found.max()) if len(found) else (0.0, 1.0))
    return Normalize(*limits), matplotlib.colormaps["viridis"].with_extremes(bad=_EMPTY)


def _draw_archive(
    axes: Axes, results: StudyResults, domain: str, algorithm: str, scale: tuple[Normalize, Colormap]
) -> None:
    """Draw the archive of the median trial, if there is any."""
    axes.set_box_aspect(1)
    axes.set(xticks=[], yticks=[])
    if not results.of(domain, algorithm):
        axes.text(0.5, 0.5, "no trial", ha="center", va="center", color=_QUIET, transform=axes.transAxes)
        return
    shown, (norm, colors) = results.median_trial(domain, algorithm), scale
    if shown.objectives.ndim == 1:
        width = _PROFILE_WIDTH / len(shown.objectives)
        draw_profile(axes, shown.objectives, norm, colors, line_width=width)
    else:
        cells = stack(shown.objectives)
        axes.imshow(cells, norm=norm, cmap=colors, aspect="auto", origin="lower", interpolation="nearest")
    axes.set_xlabel(f"trial {shown.trial}: {shown.coverage:.1%} filled", fontsize=8, color=_QUIET)

"""Pictures of a study: QD score over evaluations, archives, and how normally its trials are distributed."""

import math
from collections.abc import Iterable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import CARETLEFT
from matplotlib.ticker import MaxNLocator
from scipy import stats

from repertoire.plots import draw_profile, save_figure, stack
from suites.markdown import format_number, format_p
from suites.paper.analysis import Analysis
from suites.paper.published import Metric
from suites.statistics import ALPHA, mean_interval

# The palette of Okabe and Ito, which colour-blind people can tell apart; lines and markers also differ
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000", "#7a7a7a")
_DASHES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_EMPTY, _QUIET = "#e4e4e4", "#555555"
_MILLIONTH = 1e-6
_POINTS = 200  # of a curve
_PROFILE_WIDTH = 150  # of all lines of a profile together [points]
_BAR = "objective (grey: empty cell)"


def mean_curve(histories: Iterable[dict[str, np.ndarray]], over: str = "evaluations") -> np.ndarray | None:
    """Average the histories of trials over the range that all of them cover.

    Args:
        histories: of the trials; those that do not have the column `over` are left out.
        over: name of the column that increases along a history.

    Returns:
        Values of that column, the mean QD score and both ends of its 95% interval [10⁶], (4, points); None if
        there is no history.
    """
    found = [history for history in histories if len(history.get(over, ()))]
    if not found:
        return None
    first = max(history[over][0] for history in found)
    last = min(history[over][-1] for history in found)
    places = np.linspace(first, last, _POINTS)
    scores = [np.interp(places, history[over], history["qd_score"]) for history in found]
    intervals = [mean_interval(values) for values in _MILLIONTH * np.transpose(scores)]
    return np.array([places, *np.transpose([(one.mean, one.low, one.high) for one in intervals])])


def draw_curves(study: Analysis, path: Path, over: str = "evaluations") -> None:
    """Draw mean QD score and its 95% interval for each algorithm, one panel per domain.

    A triangle marks the paper's final mean where our trials have as many evaluations.

    Args:
        study: the trials.
        path: of the picture.
        over: `evaluations`, or `cpu_seconds` to draw over processor time.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    columns = min(2, len(study.domains))
    rows = math.ceil(len(study.domains) / columns)
    figure = Figure(figsize=(5.8 * columns, 3.1 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, domain in zip(panels, study.domains, strict=False):
        _draw_curves_of(axes, study, domain, over)
    for axes in panels[len(study.domains) :]:
        axes.set_axis_off()
    save_figure(figure, path)


def draw_archives(study: Analysis, path: Path) -> None:
    """Draw the archive of the median trial of each algorithm in each domain.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    rows, columns = len(study.algorithms), len(study.domains)
    figure = Figure(figsize=(2.3 * columns + 1.3, 2.45 * rows + 0.3), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    scales = {domain: _color_scale(study, domain) for domain in study.domains}
    for algorithm, line in zip(study.algorithms, panels, strict=True):
        line[0].set_ylabel(algorithm, fontsize=11)
        for domain, axes in zip(study.domains, line, strict=True):
            _draw_archive(axes, study, domain, algorithm, scales[domain])
    for domain, axes in zip(study.domains, panels[0], strict=True):
        axes.set_title(domain, fontsize=11)
    if study.published.objectives:
        bar = figure.colorbar(ScalarMappable(*scales[study.domains[0]]), ax=panels, aspect=30, pad=0.02)
        bar.set_label(_BAR)
    else:
        for domain, column in zip(study.domains, panels.T, strict=True):
            colors = ScalarMappable(*scales[domain])
            bar = figure.colorbar(colors, ax=column, location="bottom", aspect=20, pad=0.02)
            bar.set_label(_BAR, fontsize=8)
    save_figure(figure, path)


def draw_normality(study: Analysis, path: Path) -> None:
    """Draw a normal Q-Q plot of each metric that is tested in each domain, all algorithms in one panel.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    metrics, domains = study.published.tested, study.domains
    figure = Figure(figsize=(3.1 * len(domains), 3.4 * len(metrics) + 0.4), layout="constrained")
    panels = figure.subplots(len(metrics), len(domains), squeeze=False, sharex=True, sharey=True)
    for metric, line in zip(metrics, panels, strict=True):
        for domain, axes in zip(domains, line, strict=True):
            _draw_quantiles(axes, study, metric, domain)
        line[0].set_ylabel(f"{metric.name}\n[standard deviations]")
    for domain, axes in zip(domains, panels[0], strict=True):
        axes.set_title(domain, fontsize=11)
    figure.supxlabel("quantile of the normal distribution [standard deviations]", fontsize=10)
    figure.legend(
        handles=[
            Line2D([], [], color=color, marker=marker, linestyle="", markersize=5, label=name)
            for name, (color, _, marker) in ((name, _style(study, name)) for name in study.algorithms)
        ],
        loc="outside upper center",
        ncols=len(study.algorithms),
        frameon=False,
    )
    save_figure(figure, path)


def _style(study: Analysis, algorithm: str) -> tuple[str, str, str]:
    """Return the colour, dashes and marker of an algorithm, the same in every study."""
    number = [*dict.fromkeys((*study.published.algorithms, *study.algorithms))].index(algorithm)
    return tuple(kind[number % len(kind)] for kind in (_COLORS, _DASHES, _MARKERS))  # type: ignore[return-value]


def _draw_quantiles(axes: Axes, study: Analysis, metric: Metric, domain: str) -> None:
    """Draw the standardised trials of each algorithm over normal quantiles, with p of its test."""
    axes.axline((0, 0), slope=1, color=_QUIET, linewidth=0.8, alpha=0.6)
    test = study.tests[metric.name, domain]
    if not any(test.normality.values()):
        axes.text(0.04, 0.96, "too few trials", size=8, va="top", color=_QUIET, transform=axes.transAxes)
    for place, name in enumerate(study.algorithms_in(domain)):
        values, p = np.sort(study.values(domain, name, metric)), test.normality[name]
        if p is None:
            continue
        color, _, marker = _style(study, name)
        quantiles = stats.norm.ppf((np.arange(len(values)) + 0.5) / len(values))
        axes.plot(quantiles, stats.zscore(values, ddof=1), marker, color=color, ms=3.5, alpha=0.85)
        axes.annotate(
            f"p {format_p(p)}",
            (0, 1),
            xycoords="axes fraction",
            xytext=(6, -6 - 11 * place),
            textcoords="offset points",
            va="top",
            color=color,
            size=8,
            weight="bold" if p <= ALPHA else "normal",
        )
    axes.grid(color=_EMPTY)
    axes.set(xlim=(-2.3, 2.3), ylim=(-3.4, 3.4))
    axes.spines[["top", "right"]].set_visible(False)


def _draw_curves_of(axes: Axes, study: Analysis, domain: str, over: str) -> None:
    """Draw the curves of a domain, the one that ends highest first."""
    found = {name: mean_curve(study.of(domain, name).history, over) for name in study.algorithms_in(domain)}
    curves = {name: curve for name, curve in found.items() if curve is not None}
    for name in sorted(curves, key=lambda name: -curves[name][1, -1]):
        _draw_curve(axes, study, domain, name, curves[name])
    axes.set_title(domain, loc="left", fontsize=11)
    axes.set_xlabel("processor time [s]" if over == "cpu_seconds" else over)
    axes.set_ylabel("QD score [10⁶]")
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(bottom=0)
    axes.grid(color=_EMPTY)
    axes.spines[["top", "right"]].set_visible(False)
    if curves:
        marked = any(study.is_comparable(domain, name) for name in curves)
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


def _draw_curve(axes: Axes, study: Analysis, domain: str, algorithm: str, curve: np.ndarray) -> None:
    """Draw a curve with its interval and the paper's mean."""
    color, dashes, _ = _style(study, algorithm)
    evaluations, means, lows, highs = curve
    marker = "" if np.ptp(evaluations) else "o"  # a single point would have no line
    label = f"{algorithm} {format_number(means[-1])}"
    axes.fill_between(evaluations, lows, highs, color=color, alpha=0.25, linewidth=0)
    axes.plot(evaluations, means, color=color, linestyle=dashes, marker=marker, label=label)
    if study.is_comparable(domain, algorithm):
        end, printed = evaluations[-1], study.published.means[domain, algorithm]["qd_score"]
        axes.plot(end, printed, marker=CARETLEFT, ms=7, color=color, mec="none", clip_on=False, zorder=3)


def _color_scale(study: Analysis, domain: str) -> tuple[Normalize, Colormap]:
    """Return the colours of objectives: over the published range, or else over what is shown."""
    shown = [study.median_trial(domain, name).objectives for name in study.algorithms_in(domain)]
    found = np.concatenate([values[np.isfinite(values)] for values in shown])
    limits = study.published.objectives or ((found.min(), found.max()) if len(found) else (0.0, 1.0))
    return Normalize(*limits), matplotlib.colormaps["viridis"].with_extremes(bad=_EMPTY)


def _draw_archive(
    axes: Axes, study: Analysis, domain: str, algorithm: str, scale: tuple[Normalize, Colormap]
) -> None:
    """Draw the archive of the median trial, if there is any."""
    axes.set_box_aspect(1)
    axes.set(xticks=[], yticks=[])
    if study.of(domain, algorithm).empty:
        axes.text(0.5, 0.5, "no trial", ha="center", va="center", color=_QUIET, transform=axes.transAxes)
        return
    shown, (norm, colors) = study.median_trial(domain, algorithm), scale
    if shown.objectives.ndim == 1:
        width = _PROFILE_WIDTH / len(shown.objectives)
        draw_profile(axes, shown.objectives, norm, colors, line_width=width)
    else:
        cells = stack(shown.objectives)
        axes.imshow(cells, norm=norm, cmap=colors, aspect="auto", origin="lower", interpolation="nearest")
    axes.set_xlabel(f"trial {shown.trial}: {shown.coverage:.1%} filled", fontsize=8, color=_QUIET)

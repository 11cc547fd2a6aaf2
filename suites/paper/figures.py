"""Pictures of a study: QD score over evaluations and times, and archives."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from repertoire.plots import draw_profile, stack
from robots.rendering.figures import EMPTY, PLAIN, QUIET, save_figure
from suites.figures import draw_curve, finish, panels
from suites.markdown import format_number
from suites.paper.analysis import Analysis
from suites.statistics import mean_interval

_MILLIONTH = 1e-6
_POINTS = 200  # of a curve
_PROFILE_WIDTH = 150  # of all lines of a profile together [points]


def mean_curve(histories: Iterable[dict[str, np.ndarray]], over: str = "evaluations") -> np.ndarray | None:
    """Average the histories of trials that have a column, over the range that all of them cover.

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


@PLAIN
def draw_curves(study: Analysis, path: Path, over: str = "evaluations") -> None:
    """Draw mean QD score and its 95% interval over evaluations or `cpu_seconds`, one panel per domain."""
    figure, found = panels(len(study.domains), (5.8, 3.1))
    for axes, domain in zip(found, study.domains, strict=True):
        _draw_curves_of(axes, study, domain, over)
    save_figure(figure, path)


@PLAIN
def draw_archives(study: Analysis, path: Path) -> None:
    """Draw the archive of the median trial of each algorithm in each domain."""
    rows, columns = len(study.algorithms), len(study.domains)
    figure = Figure(figsize=(2.3 * columns + 1.3, 2.45 * rows + 0.3), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    scales = {domain: _color_scale(study, domain) for domain in study.domains}
    for algorithm, line in zip(study.algorithms, grid, strict=True):
        line[0].set_ylabel(algorithm, fontsize=11)
        for domain, axes in zip(study.domains, line, strict=True):
            _draw_archive(axes, study, domain, algorithm, scales[domain])
    for domain, axes in zip(study.domains, grid[0], strict=True):
        axes.set_title(domain, fontsize=11)
    for domain, column in zip(study.domains, grid.T, strict=True):
        colors = ScalarMappable(*scales[domain])
        bar = figure.colorbar(colors, ax=column, location="bottom", aspect=20, pad=0.02)
        bar.set_label("objective (grey: empty cell)", fontsize=8)
    save_figure(figure, path)


def _draw_curves_of(axes: Axes, study: Analysis, domain: str, over: str) -> None:
    """Draw the curves of a domain, the one that ends highest first."""
    found = {name: mean_curve(study.of(domain, name).history, over) for name in study.algorithms_in(domain)}
    curves = {name: curve for name, curve in found.items() if curve is not None}
    numbers = [*dict.fromkeys((*study.published.algorithms, *study.algorithms))]  # the same in every study
    for name in sorted(curves, key=lambda name: -curves[name][1, -1]):
        places, *curve = curves[name]
        label = f"{name} {format_number(curve[0][-1])}"
        draw_curve(axes, places, np.array(curve), number=numbers.index(name), label=label)
    axes.set_xlabel("processor time [s]" if over == "cpu_seconds" else over)
    axes.set_ylabel("QD score [10⁶]")
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(bottom=0)
    finish(axes, domain, "final mean" if curves else None)


def _color_scale(study: Analysis, domain: str) -> tuple[Normalize, Colormap]:
    """Return the colours of objectives: over the published range, or else over what is shown."""
    shown = [study.median_trial(domain, name).objectives for name in study.algorithms_in(domain)]
    found = np.concatenate([values[np.isfinite(values)] for values in shown])
    limits = study.published.objectives or ((found.min(), found.max()) if len(found) else (0.0, 1.0))
    return Normalize(*limits), matplotlib.colormaps["viridis"].with_extremes(bad=EMPTY)


def _draw_archive(
    axes: Axes, study: Analysis, domain: str, algorithm: str, scale: tuple[Normalize, Colormap]
) -> None:
    axes.set_box_aspect(1)
    axes.set(xticks=[], yticks=[])
    if study.of(domain, algorithm).empty:
        axes.text(0.5, 0.5, "no trial", ha="center", va="center", color=QUIET, transform=axes.transAxes)
        return
    shown, (norm, colors) = study.median_trial(domain, algorithm), scale
    if shown.objectives.ndim == 1:
        width = _PROFILE_WIDTH / len(shown.objectives)
        draw_profile(axes, shown.objectives, norm, colors, line_width=width)
    else:
        cells = stack(shown.objectives)
        axes.imshow(cells, norm=norm, cmap=colors, aspect="auto", origin="lower", interpolation="nearest")
    axes.set_xlabel(f"trial {shown.trial}: {shown.coverage:.1%} filled", fontsize=8, color=QUIET)

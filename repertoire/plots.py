"""Pictures of a repertoire: its archive as a heat map or a profile, and how training went."""

import math
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from scipy.spatial import Voronoi

from repertoire.problems.record import ProblemRecord
from repertoire.repertoire import Repertoire, format_cell
from robots.errors import InvalidValueError
from robots.rendering.figures import BLUE, EMPTY, PLAIN, QUIET, save_figure
from robots.words import short

_WIDTH = 6.2  # [inches] of the heat map
_MOST_TICKS = 10
_MOST_RULED = 300  # cells next to each other; lines between more would leave nothing to see of them
_COLORS = matplotlib.colormaps["viridis"].with_extremes(bad=EMPTY)
_UNWARNED = np.errstate(over="ignore", invalid="ignore")  # what is drawn may be as large as numbers can be
_PROFILE = {"line_width": 1.0, "margin": 0.06}


@PLAIN
@_UNWARNED
def draw_repertoire(repertoire: Repertoire, path: str | Path) -> None:
    """Draw the archive, each cell in the colour of its elite's objective.

    The cells of a grid are squares, nested so that any number of measures fits on paper. The cells of a CVT
    archive of two measures are their regions. The cells of a grid of a single measure, and those of other CVT
    archives, are lines as high as the objective.
    """
    figure = Figure(figsize=(_WIDTH + 2.4, _height(repertoire) + 1.15), layout="constrained")
    _draw_archive(figure, figure.add_subplot(), repertoire)
    ringed = " (ringed)" if len(repertoire.elites) else ""
    figure.suptitle(_headline(repertoire) + ringed, x=0.01, ha="left", fontsize=11)
    save_figure(figure, path)


@PLAIN
@_UNWARNED
def draw_history(repertoire: Repertoire, path: str | Path) -> None:
    """Draw QD score, coverage and best objective over the evaluations of training."""
    history = repertoire.history
    if not len(history.get("evaluations", ())) or not {"qd_score", "coverage", "best"} <= history.keys():
        raise InvalidValueError("the repertoire has no history to draw")
    curves = {
        "QD score": history["qd_score"],
        "coverage [%]": 100 * history["coverage"],
        "best objective": history["best"],
    }
    figure = Figure(figsize=(8.2, 2.1 * len(curves) + 0.1), layout="constrained")
    panels = figure.subplots(len(curves), 1, sharex=True)
    for axes, (name, curve) in zip(panels, curves.items(), strict=True):
        axes.plot(history["evaluations"], curve, color=BLUE)
        axes.set_ylabel(name)
        axes.yaxis.set_major_formatter("{x:,.10g}")  # as many digits as it takes to tell ticks apart
        axes.grid(color=EMPTY)
        axes.spines[["top", "right"]].set_visible(False)
    panels[-1].xaxis.set_major_formatter("{x:,.0f}")
    panels[-1].set_xlabel("evaluations")
    figure.suptitle(_headline(repertoire), x=0.01, ha="left", fontsize=11)
    save_figure(figure, path)


def objective_grid(repertoire: Repertoire) -> np.ndarray:
    """Objective of each cell, of the archive's shape; nan where a cell is empty."""
    values = np.full(repertoire.grid, np.nan)
    values.flat[repertoire.elites.cells] = repertoire.elites.objectives
    return values


def stack(values: np.ndarray) -> np.ndarray:
    """Flatten a grid into rows and columns, later measures nested in earlier ones.

    Measures 0, 2, 4, ... run along the columns and 1, 3, 5, ... along the rows ("dimensional stacking",
    LeBlanc et al. 1990): of four, the first two choose a block, the last two a square within it.
    """
    axes = range(values.ndim)
    rows = math.prod(values.shape[1::2])
    return values.transpose(*axes[1::2], *axes[0::2]).reshape(rows, -1)


def draw_profile(
    axes: Axes,
    objectives: np.ndarray,
    norm: Normalize,
    colors: Colormap,
    *,
    line_width: float,
    margin: float = 0.0,
) -> None:
    """Draw objectives (cells,), nan where a cell is empty, as upright lines over cells that are 1 wide.

    Lines are as wide as told [points]. Below the lowest and above the highest objective is a margin, a share
    of the distance between them.
    """
    low, high = float(norm.vmin or 0), float(norm.vmax or 0)
    room = margin * (high - low)
    bottom, top = axes.yaxis.get_major_locator().nonsingular(low - room, high + room)
    cells = np.flatnonzero(np.isfinite(objectives))
    found = objectives[cells]
    axes.vlines(cells + 0.5, bottom, found, colors=colors(norm(found)), linewidth=line_width)
    axes.set(xlim=(0, len(objectives)), ylim=(bottom, top))


def _height(repertoire: Repertoire) -> float:
    """Height of the picture [inches]: cells are square unless the picture became too low or too high."""
    grid = repertoire.grid
    if cell_regions(repertoire) is not None:
        return _WIDTH
    if len(grid) == 1:
        return 3.4  # of the profile
    return float(np.clip(_WIDTH * math.prod(grid[1::2]) / math.prod(grid[0::2]), 2.2, 9.0))


def _draw_archive(figure: Figure, axes: Axes, repertoire: Repertoire) -> None:
    """Draw the archive with its labels and colours."""
    values, regions = objective_grid(repertoire), cell_regions(repertoire)
    found = repertoire.elites.objectives
    norm = Normalize(*((found.min(), found.max()) if len(found) else (0.0, 1.0)))
    if regions is not None:
        _draw_regions(axes, repertoire, regions, _COLORS(norm(values)))
    elif values.ndim == 1:
        draw_profile(axes, values, norm, _COLORS, **_PROFILE)
    else:
        _draw_squares(axes, values, norm)
    if regions is None:
        _label_measures(axes, repertoire)
    if regions is None and values.ndim == 1:
        axes.set_ylabel(_objective_words(repertoire))
    elif len(repertoire.elites):
        bar = figure.colorbar(ScalarMappable(norm, _COLORS), ax=axes, fraction=0.05, pad=0.02)
        bar.set_label(_objective_words(repertoire))
    if len(repertoire.elites):
        _ring_best(axes, repertoire, regions)


def cell_regions(repertoire: Repertoire) -> list[np.ndarray] | None:
    """Corners of the cells of an archive with centroids for two measures; None of any other."""
    ranges = np.array(repertoire.problem.measure_ranges, float)
    centroids = repertoire.settings.archive.centroids(repertoire.problem.measure_ranges)
    if centroids is None or len(ranges) != 2:
        return None
    low, width = ranges[:, 0], ranges[:, 1] - ranges[:, 0]
    unit = (centroids - low) / width  # distances are those of measures in units of their ranges
    # with the mirror images of all centroids at the four borders, the regions end at the borders
    mirrored = [unit * (1, -1), unit * (-1, 1), (0, 2) + unit * (1, -1), (2, 0) + unit * (-1, 1)]
    diagram = Voronoi(np.concatenate([unit, *mirrored]))
    return [
        low + width * diagram.vertices[diagram.regions[diagram.point_region[i]]] for i in range(len(unit))
    ]


def _draw_regions(axes: Axes, repertoire: Repertoire, regions: list[np.ndarray], colors: np.ndarray) -> None:
    axes.add_collection(PolyCollection(regions, facecolors=colors, edgecolors="white", linewidths=0.4))
    problem = repertoire.problem
    axes.set(xlim=problem.measure_ranges[0], ylim=problem.measure_ranges[1])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(f"{{x:{problem.measure_format}}}")
    axes.set(xlabel=problem.measure_labels[0], ylabel=problem.measure_labels[1].replace(": ", ":\n"))


def _draw_squares(axes: Axes, values: np.ndarray, norm: Normalize) -> None:
    squares = stack(values)
    rows, columns = squares.shape
    axes.imshow(
        squares,
        cmap=_COLORS,
        norm=norm,
        origin="lower",
        extent=(0, columns, 0, rows),
        interpolation="nearest",
        aspect="auto",
    )
    _rule(axes, values.shape)


def _objective_words(repertoire: Repertoire) -> str:
    name, spread = repertoire.problem.objective_name, repertoire.spread
    first = "objective" if spread is None else f"mean objective of {spread.episodes} episodes"
    return f"{first}\n[{name}]" if name else first


def _rule(axes: Axes, grid: tuple[int, ...]) -> None:
    """Draw lines between the squares, thicker ones between the blocks of outer measures."""
    across, along = axes.get_xaxis_transform(), axes.get_yaxis_transform()
    for draw, transform, sizes in ((axes.vlines, across, grid[0::2]), (axes.hlines, along, grid[1::2])):
        total, blocks = math.prod(sizes), 1
        widest = min(3.0, 180.0 / total)  # [points], half of a cell or so
        for depth, size in enumerate(sizes):
            blocks *= size
            if blocks > _MOST_RULED:
                break
            width = 0.4 if depth == len(sizes) - 1 else widest / (depth + 1)
            edges = np.arange(1, blocks) * (total / blocks)
            draw(edges, 0, 1, transform=transform, color="white", linewidth=width)


def _label_measures(axes: Axes, repertoire: Repertoire) -> None:
    grid, problem = repertoire.grid, repertoire.problem
    if repertoire.settings.archive.centroids(problem.measure_ranges) is not None:
        axes.set_xlabel(f"number of the cell, a region of {', '.join(problem.measure_names)}")
        return
    total_rows, total_columns = math.prod(grid[1::2]), math.prod(grid[0::2])
    axes.set_xticks(*_ticks(problem, 0, grid[0], total_columns))
    axes.set_xlabel(problem.measure_labels[0])
    if len(grid) > 1:
        axes.set_yticks(*_ticks(problem, 1, grid[1], total_rows))
        axes.set_ylabel(problem.measure_labels[1].replace(": ", ":\n"))
    nested = "within each block, lowest to highest"
    if len(grid) > 2:
        axes.set_title(
            f"{nested} from left to right: {', then '.join(problem.measure_names[2::2])}",
            loc="left",
            color=QUIET,
            size=9,
        )
    if len(grid) > 3:
        note = f"{nested} from bottom to top: {', then '.join(problem.measure_names[3::2])}"
        axes.annotate(
            note, (1.015, 0), xycoords="axes fraction", rotation=90, va="bottom", color=QUIET, size=9
        )


def _ticks(problem: ProblemRecord, measure: int, size: int, total: int) -> tuple[list[float], list[str]]:
    """Positions and labels of an outer measure's boundaries between cells; of quarters if there are many."""
    count = size if size <= _MOST_TICKS else 4
    low, high = problem.measure_ranges[measure]
    values = [low + (high - low) * i / count for i in range(count + 1)]
    return [total * i / count for i in range(count + 1)], [
        f"{value:{problem.measure_format}}" for value in values
    ]


def _ring_best(axes: Axes, repertoire: Repertoire, regions: list[np.ndarray] | None) -> None:
    """Put a ring around the best elite's cell, or the end of its line."""
    best = repertoire.best()
    if regions is not None:
        # measures outside the ranges count as at the end of them
        x, y = np.clip(repertoire.elites.measures[best], *np.transpose(repertoire.problem.measure_ranges))
    else:
        marked = np.zeros(repertoire.grid)
        marked[repertoire.cell(best)] = 1
        row, column = np.argwhere(stack(marked))[0]
        x, y = column + 0.5, row + 0.5 if marked.ndim > 1 else repertoire.elites.objectives[best]
    for color, width in (("white", 3.5), ("#d62728", 1.8)):  # at a border the ring is whole, too
        axes.plot(x, y, "o", ms=11, mfc="none", mec=color, mew=width, clip_on=False)


def _headline(repertoire: Repertoire) -> str:
    metrics, cells = repertoire.metrics, math.prod(repertoire.grid)
    filled = f"{metrics.elites:,} of {cells:,} cells filled ({metrics.coverage:.1%})"
    first = f"{repertoire.problem.title}: {filled}"
    if not metrics.elites:
        return first
    return (
        f"{first}\nQD score {metrics.qd_score:,.0f}, best objective {short(metrics.best)} "
        f"in cell {format_cell(repertoire.cell(repertoire.best()))}"
    )

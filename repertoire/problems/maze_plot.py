"""A picture of the maze, and of the ways that robots take through it."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from repertoire.plots import save_figure
from repertoire.problems.maze import Maze

_WALL = "#222222"
_START = "#d62728"
_MARGIN = 0.02  # around the maze


def draw_maze(maze: Maze, solutions: np.ndarray, path: Path) -> None:
    """Draw each robot's way in the colour of its objective, with a dot where it ends.

    Args:
        maze: where they go.
        solutions: (n, 138); none draws the empty maze.
        path: of the PNG.

    Raises:
        InvalidValueError: the solutions' shape is wrong or a value is not finite, or the path does not end in
            .png.
        InvalidFileError: the file cannot be written.
    """
    figure = Figure(figsize=(7.6, 6.6), layout="constrained")
    axes = figure.add_subplot()
    _draw_walls(axes, maze)
    if len(solutions):
        _draw_ways(axes, maze, solutions)
    axes.plot(*maze.start, marker="o", ms=8, mfc="white", mec=_START, mew=2, zorder=5)
    start = axes.annotate("start", maze.start, (9, -3), textcoords="offset points", color=_START, zorder=5)
    start.set_path_effects([withStroke(linewidth=3, foreground="white")])  # legible on whatever is below
    noun = "robot" if len(solutions) == 1 else "robots"
    title = f"Maze: the ways of {len(solutions):,} {noun} in {maze.steps} steps"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    save_figure(figure, path)


def _draw_walls(axes: Axes, maze: Maze) -> None:
    axes.add_collection(LineCollection(list(maze.walls), colors=_WALL, linewidths=2.5, zorder=4))
    axes.set(
        xlim=(-_MARGIN, 1 + _MARGIN),
        ylim=(-_MARGIN, 1 + _MARGIN),
        aspect="equal",
        xticks=(0, 0.5, 1),
        yticks=(0, 0.5, 1),
        xlabel=maze.measure_names[0],
        ylabel=maze.measure_names[1],
    )
    axes.spines[:].set_visible(False)


def _draw_ways(axes: Axes, maze: Maze, solutions: np.ndarray) -> None:
    """Ways in thin lines that add up, so that hundreds can be told apart; the best on top."""
    objectives = maze.evaluate(solutions, np.zeros(len(solutions), np.int64)).objectives
    order = np.argsort(objectives)
    ways, objectives = maze.trajectories(solutions[order]), objectives[order]
    opacity = np.clip(50 / len(ways), 0.15, 0.9)
    lines = LineCollection(
        list(ways), array=objectives, cmap="viridis", linewidths=0.8, alpha=opacity, zorder=2
    )
    axes.add_collection(lines)
    x, y = ways[:, -1].T
    ends = axes.scatter(
        x, y, c=objectives, cmap="viridis", s=14, linewidths=0.3, edgecolors="white", zorder=3
    )
    bar = axes.figure.colorbar(ends, ax=axes, fraction=0.05, pad=0.02)
    bar.set_label("objective [100 for turning no wheel]")

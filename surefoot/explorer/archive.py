"""An archive, as the page draws it: where each cell lies, and what the gait in it does."""

import base64
import math
from typing import Any

import matplotlib
import numpy as np

from repertoire.plots import cell_regions, stack
from repertoire.problems.record import ProblemRecord
from repertoire.repertoire import Repertoire

_SHADES = 64
_CORNER_DIGITS = 4
_MOST_RULED = 40  # cells next to each other that lines still tell apart
_THICKNESS = (2, 5, 8)  # of lines, from the smallest blocks on [pixels]


def describe_archive(repertoire: Repertoire) -> dict[str, Any]:
    """What a page needs to draw an archive, to find a cell in it, and to say what its gait does.

    Positions are shares of the map's width and height, the origin at its upper left. The map is that of
    `surefoot show`: a grid has its later measures nested in earlier ones, a CVT archive of two measures has
    regions, and everything else is a profile, a line for each cell.
    """
    problem, elites, grid = repertoire.problem, repertoire.elites, repertoire.grid
    regions = cell_regions(repertoire)
    centroids = repertoire.settings.archive.centroids(problem.measure_ranges)
    if regions is not None and centroids is not None:
        kind, columns, rows = "regions", 1, 1
        low, high = np.array(problem.measure_ranges).T
        x, y = ((centroids[elites.cells] - low) / (high - low)).T
        places = ((regions[cell] - low) / (high - low) for cell in elites.cells)
        corners = [[round(float(c), _CORNER_DIGITS) for x, y in one for c in (x, 1 - y)] for one in places]
    else:
        order = stack(np.arange(math.prod(grid)).reshape(grid))
        rows, columns = order.shape
        kind, corners = "grid" if len(grid) > 1 else "profile", []
        place = np.empty(order.size, np.int64)
        place[order.ravel()] = np.arange(order.size)
        row, column = np.divmod(place[elites.cells], columns)
        x, y = (column + 0.5) / columns, (row + 0.5) / rows
    shades = matplotlib.colormaps["viridis"](np.linspace(0, 1, _SHADES), bytes=True)
    return {
        "kind": kind,
        "columns": columns,
        "rows": rows,
        "rules": _rules(grid) if kind == "grid" else [],
        "axes": _axes(problem, kind),
        "labels": _labels(problem, kind),
        "grid": list(grid),
        "cells": packed(elites.cells, "<u4"),
        "x": packed(x),
        "y": packed(1 - y),
        "corners": corners,
        "objectives": packed(elites.objectives),
        "measures": packed(elites.measures),
        "names": list(problem.measure_names),
        "shares": problem.measure_format.endswith("%"),
        "objective": problem.objective_name or "objective",
        "best": repertoire.best() if len(elites) else -1,
        "filled": f"{len(elites):,} of {math.prod(grid):,} cells have a solution",
        "shades": ["#{:02x}{:02x}{:02x}".format(*color[:3]) for color in shades],
    }


def _rules(grid: tuple[int, ...]) -> list[tuple[int, float, int]]:
    """Lines between blocks of cells: 0 for vertical and 1 for horizontal ones, place as a share, pixels."""
    rules = []
    for axis, sizes in enumerate((grid[0::2], grid[1::2])):
        counts = [int(count) for count in np.cumprod(sizes) if count <= _MOST_RULED]
        for count, thickness in zip(reversed(counts), _THICKNESS, strict=False):
            rules += [(axis, number / count, thickness) for number in range(1, count)]
    return rules


def _axes(problem: ProblemRecord, kind: str) -> str:
    """Which measures the map's directions are, in words."""
    words = [name.replace("_", " ") for name in problem.measure_names]
    meaning = f" Each is the {problem.measure_meaning}." if problem.measure_meaning else ""
    if kind == "profile":
        return f"There is one line for each cell, as high as the objective: {', '.join(words)}.{meaning}"
    right, up = (", and within each block ".join(words[first::2]) for first in (0, 1))
    return f"To the right: {right}. Upwards: {up}.{meaning}"


def _labels(problem: ProblemRecord, kind: str) -> tuple[str, str]:
    """What the map's directions are called at its lower and at its left side."""
    words = [name.replace("_", " ") for name in problem.measure_names]
    if kind == "profile":
        return f"cells of {', '.join(words)}", problem.objective_name or "objective"
    across, up = (", then ".join(words[first::2]) for first in (0, 1))
    return across, up


def packed(values: np.ndarray, kind: str = "<f4") -> str:
    """An array as text: base64 of its numbers in rows, float32 unless another kind is asked for."""
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode("ascii")

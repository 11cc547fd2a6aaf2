"""`draw_profile`: an archive of a single measure, whose cells are too many for squares."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize


def draw_profile(
    axes: Axes,
    objectives: np.ndarray,
    norm: Normalize,
    colors: Colormap,
    *,
    line_width: float,
    margin: float = 0.0,
) -> None:
    """Draw objectives over the cells as upright lines.

    Args:
        axes: to draw on; a cell is 1 wide on it.
        objectives: of the cells, (cells,); nan where one is empty.
        norm: from the lowest to the highest objective that is to have a place.
        colors: of the objectives.
        line_width: [points].
        margin: below the lowest, where lines begin, and above the highest, as a share of what is between.
    """
    low, high = float(norm.vmin or 0), float(norm.vmax or 0)
    room = margin * (high - low)
    cells = np.flatnonzero(np.isfinite(objectives))
    axes.vlines(
        cells + 0.5,
        low - room,
        objectives[cells],
        colors=colors(norm(objectives[cells])),
        linewidth=line_width,
    )
    axes.set(xlim=(0, len(objectives)), ylim=(low - room, max(high + room, low + 1e-9)))

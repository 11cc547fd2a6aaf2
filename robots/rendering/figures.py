"""`PLAIN` and `save_figure`: figures of Matplotlib, which look the same whatever the user's own look like."""

import warnings
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure

from robots.errors import InvalidValueError
from robots.files.atomic import replace_file
from robots.rendering.pictures import check_suffix

# colours of all figures: those of Okabe and Ito, which colour-blind people can tell apart, and greys
BLUE, ORANGE, GREEN, VERMILION = "#0072b2", "#e69f00", "#009e73", "#d55e00"
PURPLE, SKY, BLACK, GREY = "#cc79a7", "#56b4e9", "#000000", "#777777"
COLORS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK, GREY)  # of curves, which also differ in dashes
QUIET = "#555555"  # of notes and guides
EMPTY = "#e4e4e4"  # of cells without a solution, and of grids


_DPI = 150

# decorates what draws: texts are shown as they are, dollars too, and no setting of the user counts
PLAIN = style.context(["default", {"text.parse_math": False}])


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure as a PNG, in one step and the same bytes every time."""
    check_suffix(Path(path))
    # the figure's own area, and whatever text runs out of it, so that none is cut
    drawn = [figure.patch, *figure.get_default_bbox_extra_artists()]
    with replace_file(path) as temporary, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # of a script that the font lacks, which shows boxes
        try:
            area: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": 0, "bbox_extra_artists": drawn}
            figure.savefig(temporary, format="png", dpi=_DPI, metadata={"Software": None}, **area)
        except (ValueError, OverflowError) as error:  # axes cannot be divided as far as numbers go
            raise InvalidValueError(f"{path} cannot be drawn, as for too large values: {error}") from error

"""Measures: what tells gaits apart, by name. Contact shares of feet, and those that `KINDS` lists."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from robots.errors import InvalidValueError, UnknownNameError
from robots.files.texts import parse_number
from robots.words import foot_words

_SHARE = 0.0, 1.0  # lowest and highest share of time that a foot is on the ground
_CELLS = 1296  # of an archive, at most, that nobody gave cells: 6 x 6 x 6 x 6, as many as the Ant's
Ranges = dict[str, tuple[float, float]]


class MeasureKind(NamedTuple):
    """A measure that is no foot's contact share."""

    meaning: str
    unit: str
    # of tallies (n,) and seconds (n,) of episodes: values (n,)
    of: Callable[[np.ndarray, np.ndarray], np.ndarray]


KINDS: Mapping[str, MeasureKind] = {
    "forward_speed": MeasureKind(
        "mean speed along the torso's own heading", "m/s", lambda t, s: t["ahead"] / s
    ),
    "turn_rate": MeasureKind("mean rate of turning, to the left", "rad/s", lambda t, s: t["turned"] / s),
    "x": MeasureKind("where the torso ends, ahead of the start", "m", lambda t, _: t["x"] - t["initial_x"]),
    "y": MeasureKind(
        "where the torso ends, to the left of the start", "m", lambda t, _: t["y"] - t["initial_y"]
    ),
    "height": MeasureKind(
        "mean height of the torso", "m", lambda t, _: t["height_sum"] / np.maximum(t["steps"], 1)
    ),
    "energy": MeasureKind(
        "mean mechanical power of the motors, both signs counted", "W", lambda t, s: t["energy"] / s
    ),
}


def read_measures(given: Any, feet: Any) -> Any:
    """Give every measure of a robot's YAML its range, which a foot may lack; other values stay."""
    if isinstance(given, list | tuple):
        names = [name for name in given if isinstance(name, str)]
        if twice := [name for name in names if names.count(name) > 1]:
            raise InvalidValueError(f"measures names {twice[0]!r} twice")
        given = dict.fromkeys(names) if len(names) == len(given) else given
    if not isinstance(given, Mapping) or not isinstance(feet, Mapping | list | tuple):
        return given
    if not all(isinstance(foot, str) for foot in feet):  # which the description refuses
        return given
    return {name: _range(name, limits, feet) for name, limits in given.items()}


def _range(name: Any, limits: Any, feet: Any) -> Any:
    if name not in feet and name not in KINDS:
        raise UnknownNameError("measure", name, [*feet, *KINDS])
    if limits is None and name in feet:
        return _SHARE
    if limits is None:
        raise InvalidValueError(
            f"the measure {name} needs a range, from its lowest to its highest value [{KINDS[name].unit}], "
            f"such as {name}: [-1, 1]"
        )
    return limits


def parse_measures(text: str) -> dict[str, tuple[float, ...] | None]:
    """Read measures as they are given on a command line, such as `forward_speed=-0.5:1,turn_rate=-1:1`."""
    found: dict[str, tuple[float, ...] | None] = {}
    for part in text.split(","):
        name, given, limits = (piece.strip() for piece in part.partition("="))
        try:
            numbers = tuple(parse_number(piece) for piece in limits.split(":")) if given else None
        except (ValueError, InvalidValueError):
            numbers = ()
        if not name or name in found or (numbers is not None and len(numbers) != 2):
            raise InvalidValueError(
                "measures must be feet or other measures with ranges, such as "
                f"forward_speed=-0.5:1,turn_rate=-1:1, each once, not {text!r}"
            )
        found[name] = numbers
    return found


def measure_label(name: str, feet: Mapping[str, Any]) -> str:
    """A measure's name in words, with its unit."""
    return foot_words(name) if name in feet else f"{name.replace('_', ' ')} [{KINDS[name].unit}]"


def measure_meaning(names: Mapping[str, Any], feet: Mapping[str, Any]) -> str:
    """What all measures are, if all are contact shares; "" if their names say it."""
    return "share of time on the ground" if all(name in feet for name in names) else ""


def measured(
    names: Mapping[str, Any], tallies: np.ndarray, shares: Mapping[str, np.ndarray], control_step: float
) -> np.ndarray:
    """The values of m measures, (n, m) float64.

    They follow from the tallies of n episodes, records of `robots.simulation.state.TALLY`, and from the share
    of control steps in which each foot touched the floor, (n,).
    """
    seconds = np.maximum(tallies["steps"], 1) * control_step
    columns = [shares[name] if name in shares else KINDS[name].of(tallies, seconds) for name in names]
    return np.column_stack(columns)


def even_cells(measures: int) -> tuple[int, ...]:
    """Cells along each measure, as even and as many as possible, 1,296 in all at most."""
    cells, axis = [1] * measures, 0
    while math.prod(cells) // cells[axis] * (cells[axis] + 1) <= _CELLS:
        cells[axis] += 1
        axis = (axis + 1) % measures
    return tuple(cells)

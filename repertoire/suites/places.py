"""Nine places of the measure space, and the best gait at each."""

from dataclasses import dataclass

import numpy as np

from repertoire.repertoire import Repertoire

SIDE = 3  # of the square in which the places are shown
_PLACES = SIDE * SIDE


@dataclass(frozen=True)
class Place:
    """One of the nine places.

    Attributes:
        row: of the elite with the largest objective among those there; None where there is none.
        region: which measures belong to it, one interval each, low and high; of one or two measures.
    """

    row: int | None
    region: tuple[tuple[float, float], ...]


def nine_places(repertoire: Repertoire) -> list[Place]:
    """Divide the space of the first measures into nine parts, and find the best elite in each.

    A single measure is cut into nine equal intervals, from left to right and then from top to bottom. Of two
    or more the first two are cut into three each: the first grows to the right, the second upwards; further
    measures may be anything.

    Args:
        repertoire: whose measures lie within 0 and 1; may be empty.

    Returns:
        The places, row by row from the top.
    """
    elites = repertoire.elites
    if repertoire.robot.measure_dim == 1:
        parts = _PLACES
        numbers = _number(elites.measures[:, 0], parts)
        regions: list[tuple[tuple[float, float], ...]] = [
            (_interval(number, parts),) for number in range(parts)
        ]
    else:
        columns, heights = (_number(elites.measures[:, axis], SIDE) for axis in (0, 1))
        numbers = (SIDE - 1 - heights) * SIDE + columns
        regions = [
            (_interval(number % SIDE, SIDE), _interval(SIDE - 1 - number // SIDE, SIDE))
            for number in range(_PLACES)
        ]
    return [
        Place(_best(elites.objectives, numbers == number), region) for number, region in enumerate(regions)
    ]


def _number(values: np.ndarray, parts: int) -> np.ndarray:
    """Which of so many equal parts of [0, 1] each value is in, (k,)."""
    return np.clip((values * parts).astype(int), 0, parts - 1)


def _interval(number: int, parts: int) -> tuple[float, float]:
    """One of so many equal parts of [0, 1]."""
    return number / parts, (number + 1) / parts


def _best(objectives: np.ndarray, there: np.ndarray) -> int | None:
    """Row of the largest objective among some."""
    rows = np.flatnonzero(there)
    return int(rows[np.argmax(objectives[rows])]) if len(rows) else None

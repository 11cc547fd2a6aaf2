"""`Case`: a damage to recover from, and what is true of every controller then."""

from dataclasses import dataclass

import numpy as np

from adapt.damage import HEALTHY
from adapt.rehearsal.table import Table
from adapt.suite.truth import Oracles


@dataclass(frozen=True, eq=False)
class Case:
    """A damage, and every controller's outcomes in two sets of episodes with seeds of their own.

    Trials show the first set. What is recommended is scored by the second, and so is the best controller of
    all, the oracle, which was chosen by others: neither is flattered by having been chosen for the luck of
    the episodes that it is judged by. Heights are objectives above the minimum objective.

    Attributes:
        damage: its text.
        shown: what trials show, a table of this one condition.
        scores: mean objective of every controller in the second set, (k,).
        oracle_row: row of the controller that does best, see `find_oracle`.
        min_objective: of the repertoire, which counts as nothing.
        intact: height of the oracle of the same robot while nothing was broken.
    """

    damage: str
    shown: Table
    scores: np.ndarray
    oracle_row: int
    min_objective: float
    intact: float

    @property
    def oracle(self) -> float:
        """Height of the best controller of all."""
        return float(self.height(self.oracle_row))

    @property
    def hopeless(self) -> bool:
        """Whether not even the oracle gets above the minimum objective: no ratio is then defined."""
        return self.oracle <= 0

    @property
    def headroom(self) -> float:
        """What the damage leaves of the height of the intact robot's oracle: the repertoire's ceiling."""
        return self.oracle / self.intact

    def height(self, rows: np.ndarray | int) -> np.ndarray:
        """Heights of some controllers; like `rows` in shape."""
        return np.asarray(self.scores[rows] - self.min_objective)

    def ratio(self, rows: np.ndarray | int) -> np.ndarray:
        """Recovery ratio of some controllers: their share of the oracle's height, from 0 to 1."""
        return np.clip(self.height(rows) / self.oracle, 0.0, 1.0)


def make_cases(shown: Table, scores: Table, oracles: Oracles, *, min_objective: float) -> list[Case]:
    """The cases of two tables of the same conditions, of which the healthy one is the first, and no case."""
    intact = float(scores.objectives[0, oracles[HEALTHY]]) - min_objective
    return [
        Case(
            damage=damage,
            shown=shown.take([damage]),
            scores=scores.objectives[row].astype(float),
            oracle_row=oracles[damage],
            min_objective=min_objective,
            intact=intact,
        )
        for row, damage in enumerate(shown.conditions)
        if damage != HEALTHY
    ]

"""`survivals`: what a repertoire still can under each condition of a rehearsal."""

import math
from dataclasses import dataclass

import numpy as np

from adapt.rehearsal.table import Table

GOOD = 0.8  # share of the best gait's objective that makes another a good one


@dataclass(frozen=True)
class Survival:
    """What a repertoire still can under one condition.

    The best of many means over a few episodes flatters: what is left is somewhat less than it says here.

    Attributes:
        condition: text of the damage.
        row: of the controller that does best.
        objective: of that one.
        in_use: objective of the controller that does best when healthy.
        headroom: `objective` as a share of the healthy best; nan if that is not positive.
        kept: `in_use` as such a share.
        good: how many controllers reach the share `GOOD` of `objective`.
        falls: share of all controllers' episodes that ended in a fall.
    """

    condition: str
    row: int
    objective: float
    in_use: float
    headroom: float
    kept: float
    good: int
    falls: float


def survivals(table: Table) -> tuple[Survival, ...]:
    """What a repertoire still can under each condition of its table, in their order."""
    before = int(np.argmax(table.objectives[0]))
    healthy = float(table.objectives[0, before])
    return tuple(_survival(table, number, before, healthy) for number in range(len(table)))


def _survival(table: Table, number: int, before: int, healthy: float) -> Survival:
    """What is left under a condition, of the healthy best in a row, and of all."""
    objectives = table.objectives[number].astype(float)
    row = int(np.argmax(objectives))
    best, in_use = float(objectives[row]), float(objectives[before])
    whole = healthy if healthy > 0 else math.nan
    return Survival(
        condition=table.conditions[number],
        row=row,
        objective=best,
        in_use=in_use,
        headroom=best / whole,
        kept=in_use / whole,
        good=int(np.count_nonzero(objectives >= best - (1 - GOOD) * max(best, 0.0))),
        falls=float(table.falls[number].mean()),
    )

"""`Table`: what every controller of a repertoire did under every damage of a library, and what survives."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from adapt.damage.damage import Damage
from adapt.damage.text import damage_from
from repertoire.storage.formats import Contents
from robots.errors import InvalidValueError, UnknownNameError

GOOD = 0.8  # share of the best controller's objective from which on another one counts as good
_COLUMNS = ("objectives", "noise", "falls", "evidence", "evidence_std")  # and distances, if they are known


@dataclass(frozen=True, eq=False)
class Table:
    """Results of n episodes of each of k controllers under each of d conditions.

    Episode j has the same seed for all controllers and conditions. An episode in which the simulation
    diverged counts as a fall with the minimum objective, and shows 0. Standard deviations are those of single
    episodes, estimated with n - 1 in the denominator, and 0 if n is 1, when there is nothing to estimate them
    from.

    Attributes:
        conditions: texts of the damages, `HEALTHY` first, d different ones.
        objectives: means, (d, k) float32.
        noise: standard deviations of the objective, (d, k) float32.
        falls: shares of the episodes that ended in a fall, (d, k) float32.
        evidence: means of what the episodes show, (d, k, e) float32.
        evidence_std: standard deviations of that, (d, k, e) float32.
        evidence_names: what the e numbers are.
        episodes: n.
        distances: mean progress towards the target [m], (d, k) float32; None if it was not recorded.
        seed: from which the seeds of the episodes derive; None if it is not known.
        randomization: of the models that the episodes ran on, in words.
    """

    conditions: tuple[str, ...]
    objectives: np.ndarray
    noise: np.ndarray
    falls: np.ndarray
    evidence: np.ndarray
    evidence_std: np.ndarray
    evidence_names: tuple[str, ...]
    episodes: int
    distances: np.ndarray | None = None
    seed: int | None = None
    randomization: str = "none"

    def __len__(self) -> int:
        return len(self.conditions)

    @cached_property
    def damages(self) -> tuple[Damage, ...]:
        """What the conditions are, of whichever robot.

        Raises:
            InvalidValueError: a text is none of a damage.
            UnknownNameError: there is no such kind of damage.
        """
        return tuple(map(damage_from, self.conditions))

    @property
    def fingerprint(self) -> str:
        """Checksum of all that it says, by which results that were computed from it are told apart."""
        return Contents(self.columns, {"conditions": json.dumps(self.conditions)}).checksum()

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """What there is of each condition and controller, (d, k, ...), by name."""
        found = {name: getattr(self, name) for name in _COLUMNS}
        return found if self.distances is None else found | {"distances": self.distances}

    def take(self, conditions: Sequence[str]) -> "Table":
        """The table of some conditions, in the order in which they are named.

        Raises:
            UnknownNameError: a condition is not in the table.
        """
        for condition in conditions:
            if condition not in self.conditions:
                raise UnknownNameError("condition of the rehearsal", condition, self.conditions)
        rows = [self.conditions.index(condition) for condition in conditions]
        columns: dict[str, Any] = {name: column[rows] for name, column in self.columns.items()}
        return replace(self, conditions=tuple(conditions), **columns)

    def first(self, count: int) -> "Table":
        """The table of the first so many controllers, such as the elites of a repertoire."""
        columns: dict[str, Any] = {name: column[:, :count] for name, column in self.columns.items()}
        return replace(self, **columns)


def join(tables: Sequence[Table]) -> Table:
    """One table of the conditions of several, all different, of the same controllers.

    Raises:
        InvalidValueError: they differ in controllers or in what counts as evidence.
    """
    first = tables[0]
    for table in tables:
        if table.evidence_names != first.evidence_names or table.noise.shape[1:] != first.noise.shape[1:]:
            raise InvalidValueError("tables to be joined must be of the same controllers and evidence")
    conditions = tuple(text for table in tables for text in table.conditions)
    return replace(first, conditions=conditions, **_joined(tables, axis=0))


def widen(tables: Sequence[Table]) -> Table:
    """One table of the controllers of several, all of the same conditions."""
    return replace(tables[0], **_joined(tables, axis=1))


def _joined(tables: Sequence[Table], *, axis: int) -> dict[str, Any]:
    """The columns of several tables, one after the other; distances only where all know them."""
    several = [table.columns for table in tables]
    known = [name for name in (*_COLUMNS, "distances") if all(name in columns for columns in several)]
    joined = {name: np.concatenate([columns[name] for columns in several], axis=axis) for name in known}
    return {"distances": None, **joined}


def tabulate(
    objectives: np.ndarray,
    fell: np.ndarray,
    evidence: np.ndarray,
    *,
    conditions: tuple[str, ...],
    evidence_names: tuple[str, ...],
    distances: np.ndarray | None = None,
) -> Table:
    """The table of n episodes of each of k controllers under each of d conditions.

    Args:
        objectives: (d, k, n).
        fell: whether each episode ended in a fall, (d, k, n).
        evidence: (d, k, n, e).
        conditions: texts of the d damages.
        evidence_names: what the e numbers are.
        distances: progress towards the target [m], (d, k, n), if it is known.
    """
    return Table(
        conditions=conditions,
        objectives=_mean(objectives),
        noise=_std(objectives),
        falls=_mean(fell),
        evidence=_mean(evidence),
        evidence_std=_std(evidence),
        evidence_names=evidence_names,
        episodes=objectives.shape[2],
        distances=None if distances is None else _mean(distances),
    )


def _mean(values: np.ndarray) -> np.ndarray:
    """Means over episodes, (d, k, n, ...) to (d, k, ...) float32."""
    return values.mean(axis=2, dtype=np.float64).astype(np.float32)


def _std(values: np.ndarray) -> np.ndarray:
    """Standard deviations of single episodes, (d, k, n, ...) to (d, k, ...) float32; 0 of one episode."""
    lost = min(values.shape[2] - 1, 1)  # degrees of freedom that the mean takes
    return values.std(axis=2, ddof=lost, dtype=np.float64).astype(np.float32)


@dataclass(frozen=True)
class Survival:
    """What a repertoire can still do under one condition.

    The best of many means over a few episodes flatters: what is left is somewhat less than these numbers say.

    Attributes:
        condition: text of the damage.
        row: of the controller that does best.
        objective: of that controller.
        incumbent: objective of the controller that does best when nothing is wrong.
        headroom: `objective` as a share of the best healthy objective; nan if that is not positive.
        kept: `incumbent` as such a share.
        good: how many controllers reach the share `GOOD` of `objective`.
        falls: share of all controllers' episodes that ended in a fall.
    """

    condition: str
    row: int
    objective: float
    incumbent: float
    headroom: float
    kept: float
    good: int
    falls: float


def survivals(table: Table) -> tuple[Survival, ...]:
    """What a repertoire can still do under each condition of its table, in their order."""
    incumbent = int(np.argmax(table.objectives[0]))
    healthy = float(table.objectives[0, incumbent])
    whole = healthy if healthy > 0 else math.nan
    found = []
    for condition, row_of_table, falls in zip(table.conditions, table.objectives, table.falls, strict=True):
        objectives = row_of_table.astype(float)
        row = int(np.argmax(objectives))
        best, old = float(objectives[row]), float(objectives[incumbent])
        good = int(np.count_nonzero(objectives >= best - (1 - GOOD) * max(best, 0.0)))
        shares = best / whole, old / whole
        found.append(Survival(condition, row, best, old, *shares, good, float(falls.mean())))
    return tuple(found)

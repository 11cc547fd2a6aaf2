"""`Table`: what every controller of a repertoire did under every damage of a library, and `Expectations`."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from adapt.damage.damage import Damage
from adapt.damage.text import damage_from
from repertoire.storage.formats import Contents
from robots.errors import UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

GOOD = 0.8  # share of the best controller's objective from which on another one counts as good
_COLUMNS = ("objectives", "noise", "falls", "evidence", "evidence_std")  # and distances, if they are known
_TRUST = 2.0  # episodes that the typical variance counts as, in addition to a controller's own
_NEIGHBOURS = 16
_FALLS = 4.0  # the same for the share of falls of similar controllers


@dataclass(frozen=True, eq=False)
class Table:
    """Results of n episodes of each of k controllers under each of d conditions.

    Episode j has the same seed for all controllers and conditions. An episode in which the simulation
    diverged counts as a fall with the minimum objective, and shows 0. Standard deviations are those of single
    episodes, with n - 1 in the denominator, and 0 if n is 1.
    """

    conditions: tuple[str, ...]  # texts of the damages, `HEALTHY` first, d different ones
    objectives: np.ndarray  # means, (d, k) float32
    noise: np.ndarray  # standard deviations of the objective, (d, k) float32
    falls: np.ndarray  # shares of the episodes that ended in a fall, (d, k) float32
    evidence: np.ndarray  # means of what the episodes show, (d, k, e) float32
    evidence_std: np.ndarray  # standard deviations of that, (d, k, e) float32
    evidence_names: tuple[str, ...]  # of the e numbers
    episodes: int  # n
    # mean progress towards the target [m], (d, k) float32; None if it was not recorded
    distances: np.ndarray | None = None
    seed: int | None = None  # from which the seeds of the episodes derive; None if it is not known
    randomization: str = "none"  # of the models that the episodes ran on, in words

    def __len__(self) -> int:
        return len(self.conditions)

    @cached_property
    def damages(self) -> tuple[Damage, ...]:
        """What the conditions are, of whichever robot."""
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
        """The table of some conditions, in the order in which they are named."""
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
    """One table of the conditions of several, all different, of the same controllers."""
    conditions = tuple(text for table in tables for text in table.conditions)
    return replace(tables[0], conditions=conditions, **_joined(tables, axis=0))


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

    Objectives, falls and distances [m] are (d, k, n), the evidence (d, k, n, e).
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
    """(d, k, n, ...) to (d, k, ...) float32."""
    return values.mean(axis=2, dtype=np.float64).astype(np.float32)


def _std(values: np.ndarray) -> np.ndarray:
    """Standard deviations of single episodes, (d, k, n, ...) to (d, k, ...) float32; 0 of one episode."""
    lost = min(values.shape[2] - 1, 1)  # degrees of freedom that the mean takes
    return values.std(axis=2, ddof=lost, dtype=np.float64).astype(np.float32)


def survivals(table: Table) -> "pd.DataFrame":
    """What a repertoire can still do under each condition, a row for each.

    Shares are of the best healthy objective, and nan if that is not positive; `incumbent` is that of the gait
    which is best when healthy. The best of many means over a few episodes flatters: what is left is somewhat
    less.
    """
    import pandas as pd

    objectives = table.objectives.astype(float)
    bests, incumbents = objectives.max(axis=1), objectives[:, objectives[0].argmax()]
    whole = bests[0] if bests[0] > 0 else math.nan
    enough = bests - (1 - GOOD) * np.maximum(bests, 0.0)
    columns = {
        "best gait": bests,
        "of healthy": bests / whole,
        "incumbent": incumbents / whole,
        "good gaits": (objectives >= enough[:, None]).sum(axis=1),
        "falls": table.falls.mean(axis=1),
    }
    return pd.DataFrame(columns, index=list(table.conditions))


@dataclass(frozen=True, eq=False)
class Expectations:
    """What each of n hypotheses expects of a trial of each of k gaits.

    A damage that was rehearsed is such a hypothesis, and so is a fault that was fitted to trials.
    """

    damages: Sequence[Damage]  # n
    objectives: np.ndarray  # means, (n, k)
    noise_variance: np.ndarray  # of the objective from episode to episode, (n, k)
    falls: np.ndarray  # probabilities, (n, k)
    # of the gait in a row, what else a trial shows, and the variance of a trial around that, (n, e) each
    evidence: Callable[[int], tuple[np.ndarray, np.ndarray]]
    episodes: int  # of which an expectation is the mean: trials differ from it by more than from each other


def rehearsed_expectations(table: Table, measures: np.ndarray) -> Expectations:
    """The d conditions of a rehearsal as hypotheses.

    Variances and shares of falls were estimated from only n episodes, so they are shrunk: variances towards
    the median of the table, which counts as two more episodes, and shares of falls towards the mean of the 16
    controllers with the nearest measures, (k, m), which counts as four. Since a rehearsed objective is itself
    a mean of n episodes, a trial differs from it by the variance of one episode times 1 + 1/n.
    """
    freedom = table.episodes - 1  # degrees of freedom of a variance

    def shrunk(deviations: np.ndarray, typical: np.ndarray | float) -> np.ndarray:
        own = np.asarray(deviations, np.float64) ** 2
        return np.asarray((freedom * own + _TRUST * typical) / (freedom + _TRUST))

    d, k, e = table.evidence_std.shape
    scatter = np.median(table.evidence_std.reshape(d * k, e), axis=0).astype(np.float64) ** 2  # (e,)

    def evidence(row: int) -> tuple[np.ndarray, np.ndarray]:
        variance = shrunk(table.evidence_std[:, row], scatter) * (1 + 1 / table.episodes)
        return np.asarray(table.evidence[:, row], np.float64), variance

    return Expectations(
        damages=table.damages,
        objectives=np.asarray(table.objectives, np.float64),
        noise_variance=shrunk(table.noise, float(np.median(table.noise)) ** 2),
        falls=shrunk_falls(table.falls, measures, table.episodes),
        evidence=evidence,
        episodes=table.episodes,
    )


def shrunk_falls(shares: np.ndarray, measures: np.ndarray, episodes: int) -> np.ndarray:
    """Shares of falls, (n, k), in some episodes each, drawn towards those of similar controllers."""
    shares = np.asarray(shares, np.float64)
    return np.asarray((episodes * shares + _FALLS * mean_of_nearest(shares, measures)) / (episodes + _FALLS))


def mean_of_nearest(values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Means of n values, (n, k), over the 16 of the points, (k, m), nearest to each, itself included."""
    count = min(_NEIGHBOURS, len(points))
    _, nearest = cKDTree(points).query(points, k=np.arange(1, count + 1))
    return np.asarray(sum(values[:, nearest[:, i]] for i in range(count)) / count)

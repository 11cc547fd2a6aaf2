"""`Hypotheses`: what may be wrong with the robot, and what each possibility expects of a trial.

What two damages at once are expected to do follows from what each does alone and from the healthy robot: the
functions whose names end in `_of_both` take what is known under one, under the other and when healthy.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.spatial import cKDTree

from adapt.damage import HEALTHY
from adapt.rehearsal.table import Table
from adapt.selectors.selector import Prior

_Both = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
_TRUST = 2.0  # episodes that the typical variance counts as, in addition to a controller's own
_NEIGHBOURS = 16
_LEAST_HEALTHY = 0.05  # normalised objective on the healthy robot below which shares of it mean nothing
_FALLS = 4.0  # the same for the share of falls of similar controllers


@dataclass(frozen=True, eq=False)
class Expectation:
    """What each of h hypotheses expects of a trial of one controller.

    Attributes:
        objective: normalised, (h,).
        variance: of a single episode around what is expected, (h,).
        fall: probability, (h,).
        evidence: (h, e).
        evidence_variance: the same as `variance`, (h, e).
    """

    objective: np.ndarray
    variance: np.ndarray
    fall: np.ndarray
    evidence: np.ndarray
    evidence_variance: np.ndarray


@dataclass(frozen=True, eq=False)
class Traced:
    """What d conditions expect traces of trials to show, in the place of the evidence of a table.

    Attributes:
        shown: features of each condition, (d, e), and the variance of a trial's, (e,), by row of the gait; of
            other gaits there are none.
        spread: standard deviation of each feature over possible faults, (e,).
        fitted: how many of the conditions, the last ones, were fitted to the trials.
    """

    shown: Mapping[int, tuple[np.ndarray, np.ndarray]]
    spread: np.ndarray
    fitted: int


class Hypotheses:
    """The conditions of a rehearsal and, if asked for, the pairs of its single damages.

    Variances and shares of falls were estimated from only n episodes, so they are shrunk: variances towards
    the median of the table, which counts as two more episodes, and shares of falls towards the mean of the 16
    nearest controllers, which counts as four. Since a rehearsed objective is itself a mean of n episodes, a
    trial differs from it by the variance of one episode times 1 + 1/n.

    Args:
        table: the rehearsal of d conditions.
        measures: of the k controllers, over which falls are smooth, (k, m).
        floor: objective that is normalised to 0.
        unit: height above the floor that is normalised to 1.
        pairs: whether pairs of damages are hypotheses too, which needs the healthy condition.
        traced: what traces are expected to show, if there are any.

    Attributes:
        names: texts of the damages, (h,); those that were rehearsed come first.
        rehearsed: d.
        fitted: how many of these, the last ones, were fitted to the trials.
        channels: e.
        spread: standard deviation of each number of the evidence over the table, (e,).
    """

    def __init__(
        self,
        table: Table,
        measures: np.ndarray,
        *,
        floor: float,
        unit: float,
        pairs: bool,
        traced: Traced | None = None,
    ) -> None:
        self._table = table
        self._traced = traced
        self.fitted = traced.fitted if traced else 0
        self._unit = unit
        self._objectives = (np.asarray(table.objectives, np.float64) - floor) / unit  # (d, k)
        n = table.episodes
        falls = np.asarray(table.falls, np.float64)
        self._falls = (n * falls + _FALLS * mean_of_nearest(falls, measures)) / (n + _FALLS)  # (d, k)
        self._noise = float(np.median(table.noise)) ** 2
        self._evidence_noise = np.median(table.evidence_std, axis=(0, 1)).astype(np.float64) ** 2  # (e,)
        self.spread = traced.spread if traced else table.evidence.std(axis=(0, 1), dtype=np.float64)
        self.channels = len(self.spread)
        known = HEALTHY in table.conditions
        self._healthy = table.conditions.index(HEALTHY) if known else 0
        self._pairs = pair_up(table.conditions if pairs and known else ())
        together = (f"{table.conditions[a]}+{table.conditions[b]}" for a, b in self._pairs)
        self.names = (*table.conditions, *together)
        self.rehearsed = len(table.conditions)

    def __len__(self) -> int:
        return len(self.names)

    def objectives(self, which: np.ndarray) -> np.ndarray:
        """Normalised objectives that some hypotheses, by index, expect of all controllers, (n, k)."""
        return self._some(self._objectives, which, objective_of_both)

    def falls(self, which: np.ndarray) -> np.ndarray:
        """Probabilities of a fall that some hypotheses, by index, expect of all controllers, (n, k)."""
        return self._some(self._falls, which, fall_of_both)

    def noise(self, row: int) -> float:
        """Variance of an episode's normalised objective, typical of a controller whatever is wrong."""
        variances = self._shrunk(self._table.noise[:, row], self._noise)
        return float(np.median(variances)) / self._unit**2

    def at(self, row: int) -> Expectation:
        """What all hypotheses expect of a controller."""
        table, more = self._table, 1 + 1 / self._table.episodes
        noise = self._shrunk(table.noise[:, row], self._noise)
        evidence, evidence_noise = self._evidence(row)
        return Expectation(
            self._all(self._objectives[:, row], objective_of_both),
            self._all(noise * more / self._unit**2, variance_of_both),
            self._all(self._falls[:, row], fall_of_both),
            self._all(evidence, evidence_of_both),
            self._all(evidence_noise, variance_of_both),
        )

    def _evidence(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Evidence that each condition expects of a trial of a controller, and its variance, (d, e) each."""
        table = self._table
        if self._traced is None:
            noise = self._shrunk(table.evidence_std[:, row], self._evidence_noise)
            return np.asarray(table.evidence[:, row], np.float64), noise * (1 + 1 / table.episodes)
        nothing = np.zeros((self.rehearsed, self.channels)), np.ones(self.channels)
        shown, variance = self._traced.shown.get(row, nothing)
        return shown, np.broadcast_to(variance, shown.shape)

    def _shrunk(self, deviations: np.ndarray, typical: np.ndarray | float) -> np.ndarray:
        """Variances drawn towards a typical one; a rehearsal of n episodes has n - 1 degrees of freedom."""
        freedom = self._table.episodes - 1
        return np.asarray(
            (freedom * np.asarray(deviations, np.float64) ** 2 + _TRUST * typical) / (freedom + _TRUST)
        )

    def _all(self, values: np.ndarray, both: _Both) -> np.ndarray:
        """Values of the conditions, (d, ...), and after them those of the pairs, (h, ...)."""
        if not len(self._pairs):
            return values
        a, b = self._pairs.T
        return np.concatenate([values, both(values[a], values[b], values[self._healthy])])

    def _some(self, values: np.ndarray, which: np.ndarray, both: _Both) -> np.ndarray:
        """Values, (d, k), of some hypotheses, (n, k)."""
        pair = which >= self.rehearsed
        if not pair.any():
            return values[which]
        some = np.empty((len(which), values.shape[1]))
        some[~pair] = values[which[~pair]]
        a, b = self._pairs[which[pair] - self.rehearsed].T
        some[pair] = both(values[a], values[b], values[self._healthy])
        return some


@lru_cache(maxsize=2)
def hypotheses_of(
    table: Table, prior: Prior, *, unit: float, pairs: bool, traced: Traced | None
) -> Hypotheses:
    """See `Hypotheses`, which many recoveries in a row may share: they do not change."""
    floor = prior.min_objective
    return Hypotheses(table, prior.measures, floor=floor, unit=unit, pairs=pairs, traced=traced)


def pair_up(conditions: Sequence[str]) -> np.ndarray:
    """Indices, (p, 2), of single damages at different parts that were not rehearsed together."""
    together = {frozenset(text.split("+")) for text in conditions if "+" in text}
    single = [i for i, text in enumerate(conditions) if text != HEALTHY and "+" not in text]
    pairs = [
        (i, j)
        for i, j in combinations(single, 2)
        if conditions[i].partition(":")[0] != conditions[j].partition(":")[0]
        and frozenset((conditions[i], conditions[j])) not in together
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def objective_of_both(a: np.ndarray, b: np.ndarray, healthy: np.ndarray) -> np.ndarray:
    """Normalised objective: the product of the shares that each leaves, and at most what either leaves."""
    least = np.minimum(a, b)
    return np.where(least > 0, np.minimum(least, a * b / np.maximum(healthy, _LEAST_HEALTHY)), least)


def fall_of_both(a: np.ndarray, b: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Probability of a fall, if each makes the robot fall independently of the other."""
    return 1 - (1 - a) * (1 - b)


def evidence_of_both(a: np.ndarray, b: np.ndarray, healthy: np.ndarray) -> np.ndarray:
    """Evidence: each changes it by as much as alone."""
    return a + b - healthy


def variance_of_both(a: np.ndarray, b: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Variance of an episode: the larger."""
    return np.maximum(a, b)


def mean_of_nearest(values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Means of n values, (n, k), over the 16 of the points, (k, m), nearest to each, itself included."""
    count = min(_NEIGHBOURS, len(points))
    _, nearest = cKDTree(points).query(points, k=np.arange(1, count + 1))
    return np.asarray(sum(values[:, nearest[:, i]] for i in range(count)) / count)

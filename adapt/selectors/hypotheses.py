"""`Hypotheses`: what may be wrong with the robot: expectations of any origin, and pairs of single damages.

Each `*_of_both` function takes the values under damage A, under damage B and for the healthy robot.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TypeVar

import numpy as np

from adapt.damage import HEALTHY
from adapt.damage.damage import Damage
from adapt.rehearsal.table import Expectations, Table, rehearsed_expectations
from adapt.selectors.selector import Prior

_Values = TypeVar("_Values", float, np.ndarray)
_Both = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
_LEAST_HEALTHY = 0.05  # normalised objective on the healthy robot below which shares of it mean nothing


@dataclass(frozen=True, eq=False)
class Expected:
    """What each of h hypotheses expects of a trial of one controller; objectives are normalised.

    Variances are those of a single episode around what is expected; `noise_variance` is that of the
    objective from episode to episode, typical of the controller whatever is wrong.
    """

    objective: np.ndarray  # (h,)
    variance: np.ndarray  # (h,)
    fall: np.ndarray  # probability, (h,)
    evidence: np.ndarray  # (h, e)
    evidence_variance: np.ndarray  # (h, e)
    noise_variance: float


class Hypotheses:
    """All that may be wrong: expectations of several origins and, if asked for, pairs of the first ones.

    Args:
        several: expectations of the same gaits, those that were rehearsed first.
        floor: objective that is normalised to 0; `unit`, above it, to 1.
        spread: standard deviation of each number of the evidence over possible damages, (e,).
        pairs: whether pairs of single damages that were rehearsed are hypotheses too, if the healthy
            condition was.

    Attributes:
        single: damages of the expectations, n of them, of which the first `rehearsed` were rehearsed.
        names: texts of the damages, (h,); those of the expectations come first, then the pairs.
    """

    def __init__(
        self, *several: Expectations, floor: float, unit: float, spread: np.ndarray, pairs: bool
    ) -> None:
        self._several, self.floor, self.unit, self.spread = several, floor, unit, spread
        self.single = [damage for some in several for damage in some.damages]
        self.rehearsed = len(several[0].damages)
        self._objectives = self.normalised(np.concatenate([some.objectives for some in several]))  # (n, k)
        self._falls = np.concatenate([some.falls for some in several])  # (n, k)
        texts = [str(damage) for damage in self.single]
        known = HEALTHY in texts
        self._healthy = texts.index(HEALTHY) if known else 0
        self._pairs = pair_up(several[0].damages if pairs and known else ())
        self.names = (*texts, *(f"{texts[a]}+{texts[b]}" for a, b in self._pairs))

    def __len__(self) -> int:
        return len(self.names)

    def normalised(self, objectives: _Values) -> _Values:
        """Objectives above the floor, in units."""
        return (objectives - self.floor) / self.unit

    def faults(self, index: int) -> frozenset[tuple[str, str]]:
        """Parts and kinds of what is wrong under a hypothesis."""
        n = len(self.single)
        both = (index,) if index < n else self._pairs[index - n]
        return frozenset((part.target, part.kind) for i in both for part in self.single[i].singles)

    def objectives(self, which: np.ndarray) -> np.ndarray:
        """Normalised objectives of all controllers under some hypotheses, by index, (n, k)."""
        return self._some(self._objectives, which, objective_of_both)

    def falls(self, which: np.ndarray) -> np.ndarray:
        """Probabilities of a fall of all controllers under some hypotheses, by index, (n, k)."""
        return self._some(self._falls, which, fall_of_both)

    def at(self, row: int) -> Expected:
        """What all hypotheses expect of a controller."""
        noises = [some.noise_variance[:, row] for some in self._several]
        variance = np.concatenate(
            [(1 + 1 / some.episodes) * noise for some, noise in zip(self._several, noises, strict=True)]
        )
        evidence, scatter = zip(*(some.evidence(row) for some in self._several), strict=True)
        return Expected(
            self._all(self._objectives[:, row], objective_of_both),
            self._all(variance / self.unit**2, variance_of_both),
            self._all(self._falls[:, row], fall_of_both),
            self._all(np.concatenate(evidence), lambda a, b, healthy: a + b - healthy),
            self._all(np.concatenate(scatter), variance_of_both),
            float(np.median(np.concatenate(noises))) / self.unit**2,
        )

    def _all(self, values: np.ndarray, both: _Both) -> np.ndarray:
        """Values of the expectations, (n, ...), and after them those of the pairs, (h, ...)."""
        if not len(self._pairs):
            return values
        a, b = self._pairs.T
        return np.concatenate([values, both(values[a], values[b], values[self._healthy])])

    def _some(self, values: np.ndarray, which: np.ndarray, both: _Both) -> np.ndarray:
        """Values, (n, k), of some hypotheses, (m, k)."""
        n = len(self.single)
        pair = which >= n
        if not pair.any():
            return values[which]
        some = np.empty((len(which), values.shape[1]))
        some[~pair] = values[which[~pair]]
        a, b = self._pairs[which[pair] - n].T
        some[pair] = both(values[a], values[b], values[self._healthy])
        return some


@lru_cache(maxsize=2)
def rehearsed_hypotheses(table: Table, prior: Prior, *, pairs: bool) -> Hypotheses:
    """The hypotheses of a rehearsal, which many recoveries in a row may share."""
    expectations = rehearsed_expectations(table, prior.measures)
    floor, unit = prior.min_objective, height(table, prior)
    spread = table.evidence.std(axis=(0, 1), dtype=np.float64)
    return Hypotheses(expectations, floor=floor, unit=unit, spread=spread, pairs=pairs)


def height(table: Table, prior: Prior) -> float:
    """Height of the largest rehearsed objective above the minimum objective; 1 where there is none."""
    found = float(np.max(table.objectives)) - prior.min_objective
    return found if found > 0 else 1.0


def pair_up(damages: Sequence[Damage]) -> np.ndarray:
    """Indices, (p, 2), of single damages at different parts that were not rehearsed together."""
    together = {frozenset(damage.singles) for damage in damages if len(damage.singles) > 1}
    single = [(i, damage.singles[0]) for i, damage in enumerate(damages) if len(damage.singles) == 1]
    pairs = [
        (i, j)
        for (i, one), (j, other) in combinations(single, 2)
        if one.target != other.target and frozenset((one, other)) not in together
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def objective_of_both(a: np.ndarray, b: np.ndarray, healthy: np.ndarray) -> np.ndarray:
    """Normalised objective: the product of the shares that each leaves, and at most what either leaves."""
    least = np.minimum(a, b)
    return np.where(least > 0, np.minimum(least, a * b / np.maximum(healthy, _LEAST_HEALTHY)), least)


def fall_of_both(a: np.ndarray, b: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Probability of a fall, if each makes the robot fall independently of the other."""
    return 1 - (1 - a) * (1 - b)


def variance_of_both(a: np.ndarray, b: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Variance of an episode: the larger."""
    return np.maximum(a, b)

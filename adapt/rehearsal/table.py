"""`Table`: what every controller of a repertoire did under every damage of a library."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from adapt.rehearsal.samples import Samples
from robots.errors import UnknownNameError


@dataclass(frozen=True, eq=False)
class Table:
    """Results of n episodes of each of k controllers under each of d conditions.

    Episode j has the same seed for all controllers and conditions. An episode in which the simulation
    diverged counts as a fall with the minimum objective, and shows 0. Standard deviations are those of single
    episodes, estimated with n - 1 in the denominator, and 0 if n is 1: there is then nothing to estimate them
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
    """

    conditions: tuple[str, ...]
    objectives: np.ndarray
    noise: np.ndarray
    falls: np.ndarray
    evidence: np.ndarray
    evidence_std: np.ndarray
    evidence_names: tuple[str, ...]
    episodes: int

    def __len__(self) -> int:
        return len(self.conditions)

    def take(self, conditions: Sequence[str]) -> "Table":
        """The table of some conditions, in the order in which they are named.

        Raises:
            UnknownNameError: a condition is not in the table.
        """
        for condition in conditions:
            if condition not in self.conditions:
                raise UnknownNameError("condition of the rehearsal", condition, self.conditions)
        rows = [self.conditions.index(condition) for condition in conditions]
        return replace(
            self,
            conditions=tuple(conditions),
            objectives=self.objectives[rows],
            noise=self.noise[rows],
            falls=self.falls[rows],
            evidence=self.evidence[rows],
            evidence_std=self.evidence_std[rows],
        )


def tabulate(
    samples: Samples, *, conditions: tuple[str, ...], evidence_names: tuple[str, ...], episodes: int
) -> Table:
    """The table of d k n episodes: those under the first condition first, of them the first controller's.

    Args:
        samples: the episodes.
        conditions: texts of the d damages.
        evidence_names: what the e numbers are.
        episodes: n.
    """
    objectives, fell, evidence = (
        column.reshape(len(conditions), -1, episodes, *column.shape[1:]) for column in vars(samples).values()
    )
    return Table(
        conditions=conditions,
        objectives=_mean(objectives),
        noise=_std(objectives),
        falls=_mean(fell),
        evidence=_mean(evidence),
        evidence_std=_std(evidence),
        evidence_names=evidence_names,
        episodes=episodes,
    )


def _mean(values: np.ndarray) -> np.ndarray:
    """Means over episodes, (d, k, n, ...) to (d, k, ...) float32."""
    return values.mean(axis=2, dtype=np.float64).astype(np.float32)


def _std(values: np.ndarray) -> np.ndarray:
    """Standard deviations of single episodes, (d, k, n, ...) to (d, k, ...) float32; 0 of one episode."""
    lost = min(values.shape[2] - 1, 1)  # degrees of freedom that the mean takes
    return values.std(axis=2, ddof=lost, dtype=np.float64).astype(np.float32)

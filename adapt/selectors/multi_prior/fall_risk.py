"""`FallRisk`: how probable it is that the robot falls with each controller."""

from collections.abc import Mapping

import numpy as np

from adapt.gaussian_process import matern_52
from adapt.records import Outcome
from adapt.selectors.multi_prior.hypotheses import Hypotheses
from adapt.selectors.multi_prior.likelihood import log_fall
from adapt.selectors.multi_prior.settings import Caution

_NEARBY = 0.4  # length scale over which falls are evidence for other gaits, in units of the measures
_DOUBT = 0.1  # share of falls that happen by chance, whatever was rehearsed


class FallRisk:
    """Learns from falls, independently of the posterior over what is wrong.

    A wrong diagnosis predicts falls worse than anything else. So the rehearsed conditions are also weighed by
    falls alone: whatever the damage, a robot that falls easily resembles the rehearsed ones that did, and a
    gait that fell under many damages is fragile. The error of a condition is the same in all trials of one
    gait, which therefore count as one trial with their mean. Falls in trials of similar gaits are added.

    Args:
        hypotheses: of which pairs are not used.
        measures: features over which falls are evidence for other gaits, (k, m).
        caution: weights of these parts.
    """

    def __init__(self, hypotheses: Hypotheses, measures: np.ndarray, caution: Caution) -> None:
        self._single = hypotheses.falls(np.arange(len(hypotheses.single)))  # (n, k)
        self._falls: dict[int, list[bool]] = {}  # of each trial, by row
        self._logs: dict[int, np.ndarray] = {}  # log likelihoods of these, (n,)
        self._measures = measures
        self._caution = caution
        self._fallen = np.zeros(len(measures))  # falls near each controller, each weighted by how near
        self._near = np.zeros(len(measures))  # trials, the same

    def learn(self, row: int, outcome: Outcome) -> None:
        """Take in a trial."""
        falls = self._falls.setdefault(row, [])
        falls.append(outcome.fell)
        self._logs[row] = log_fall(float(np.mean(falls)), self._single[:, row], doubt=_DOUBT)
        distances = np.linalg.norm(self._measures - self._measures[row], axis=1)
        near = matern_52(distances, length_scale=_NEARBY)
        self._near += near
        self._fallen += outcome.fell * near

    def of(self, believed: np.ndarray, shown: Mapping[int, float]) -> np.ndarray:
        """Probability of a fall of every controller, (k,).

        Args:
            believed: the same according to the posterior, (k,).
            shown: the same by row, before any trial, of controllers that ran on models of what is wrong.
        """
        logs = sum(self._logs.values(), np.zeros(len(self._single)))
        weights = np.exp(logs - logs.max())
        by_falls = (weights / weights.sum()) @ self._single
        share, memory = self._caution.by_falls, self._caution.memory
        expected = (1 - share) * believed + share * by_falls
        expected[list(shown)] = list(shown.values())
        return np.asarray((memory * expected + self._fallen) / (memory + self._near))

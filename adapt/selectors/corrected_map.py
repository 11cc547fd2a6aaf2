"""`CorrectedMap`: what selectors share that believe a map of objectives and correct it by their trials."""

from abc import abstractmethod
from typing import TypeVar

import numpy as np

from adapt.records import Outcome
from adapt.selectors.gaussian_process import GaussianProcess
from adapt.selectors.selector import Prior, Selector

_Objective = TypeVar("_Objective", float, np.ndarray)


class CorrectedMap(Selector):
    """Believes a map, plus a Gaussian process over the measures that was told how far the trials were off.

    The belief is μ(x) = P(x) + k(x)ᵀ (K + σ² I)⁻¹ (f - P), so that a trial also speaks for gaits that use the
    feet alike.

    Units. Objectives are normalised to

        y = (f - min_objective) / (max prior - min_objective)

    which is 1 for the repertoire's best on the intact robot and 0 for the worst objective that counts; where
    no controller exceeds the minimum, only the minimum is subtracted. Neither an offset nor a change of unit
    of the objective then changes what is chosen.

    Args:
        prior: what the repertoire says; it gives the units.
        believed: P, objectives before the first trial, (k,).
        trials: how many trials there may be.
        length_scale: ρ of the Matérn 5/2 kernel, in units of the measures; its variance is 1.
        noise: variance of a trial's objective, normalised.
        max_falls: how many trials may end in a fall.

    Raises:
        InvalidValueError: `trials` or `max_falls` is less than 1, or the length scale or the noise is not
            positive.
    """

    def __init__(
        self,
        prior: Prior,
        believed: np.ndarray,
        *,
        trials: int,
        length_scale: float,
        noise: float,
        max_falls: int | None,
    ) -> None:
        super().__init__(prior, trials=trials, max_falls=max_falls)
        height = float(np.max(prior.objectives)) - prior.min_objective
        self._unit = height if height > 0 else 1.0
        self._map = self._normalised(np.asarray(believed, np.float64))  # (k,)
        self._error = GaussianProcess(prior.measures, length_scale=length_scale, noise=noise)

    @property
    def predicted(self) -> np.ndarray:
        """See `Selector.predicted`."""
        return self.prior.min_objective + self._unit * self._belief

    @property
    def uncertainty(self) -> np.ndarray:
        """Standard deviation of `predicted`, (k,), in units of the objective."""
        return self._unit * np.sqrt(self._error.variance)

    def recommendation(self) -> int:
        """Row with the highest belief of those that were tried."""
        tried = list(self._told)
        return tried[int(np.argmax(self._belief[tried]))]

    def diagnosis(self) -> list[tuple[str, float]]:
        """Nothing: it does not ask what is wrong."""
        return []

    def _learn(self, row: int, outcome: Outcome) -> None:
        self._error.observe(row, self._normalised(outcome.objective) - self._map[row])

    @property
    def _belief(self) -> np.ndarray:
        """μ, normalised, (k,)."""
        return self._map + self._error.mean

    def _normalised(self, objective: _Objective) -> _Objective:
        """y, see the class."""
        return (objective - self.prior.min_objective) / self._unit

    @abstractmethod
    def _choose(self, untried: np.ndarray) -> int:
        """See `Selector`."""

    @abstractmethod
    def _satisfied(self) -> str | None:
        """See `Selector`."""

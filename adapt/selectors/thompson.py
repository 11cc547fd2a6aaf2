"""`Thompson`: tries what is best in a random draw from the belief."""

import numpy as np

from adapt.selectors.catalogue import register
from adapt.selectors.map_bo import CorrectedMap, MapBOSettings
from adapt.selectors.selector import Context

_WAVES = 256


@register("thompson", "tries the best in a random draw from the posterior of map-bo-tuned")
class Thompson(CorrectedMap):
    """Thompson sampling: the next trial is the best in one sample of the posterior whose mean is `MapBO`'s.

    A joint sample at k points would take O(k³) time. A sample of the prior process is therefore a sum of n
    random waves, √(2/n) Σ w_i cos(ω_iᵀ x + b_i), with standard normal w and ω from the kernel's spectrum
    (Rahimi & Recht 2007), which for Matérn 5/2 is a multivariate t of 5 degrees of freedom over ρ; and it is
    turned into one of the posterior by adding what the trials say of its error (Wilson et al. 2020, eq. 13;
    Matheron's rule):

        sample(x) = s(x) + k(x)ᵀ (K + σ² I)⁻¹ (y - s - ε),  ε ~ N(0, σ² I)

    Args:
        context: what is known.
        settings: of the posterior; exploration and enough are not used.
    """

    def __init__(self, context: Context, *, settings: MapBOSettings | None = None) -> None:
        super().__init__(context, context.prior.objectives, settings)
        self._rng = np.random.default_rng(context.seed)
        self._features = self._waves()
        self._proposal: tuple[int, int] | None = None  # for how many trials told, and the row

    def sample(self) -> np.ndarray:
        """A sample of the belief in every controller's objective, (k,), in units of the objective."""
        s = self._features @ self._rng.standard_normal(_WAVES)
        y = np.array([self._normalised(objective) for objective in self.objectives]) - self._map[self.rows]
        noise = np.sqrt(self.settings.noise) * self._rng.standard_normal(len(self.rows))
        sample = self._map + s + self._error.mean_given(y - s[self.rows] - noise)
        return np.asarray(self.prior.min_objective + self._unit * sample)

    def _choose(self, untried: np.ndarray) -> int:
        told = len(self.rows)
        if self._proposal is None or self._proposal[0] != told:  # the same until the next trial is told
            self._proposal = told, int(np.argmax(np.where(untried, self.sample(), -np.inf)))
        return self._proposal[1]

    def _waves(self) -> np.ndarray:
        """The waves at every controller, (k, n)."""
        measures = np.asarray(self.prior.measures, np.float64)
        directions = self._rng.standard_normal((measures.shape[1], _WAVES))
        frequencies = directions * np.sqrt(5 / self._rng.chisquare(5, _WAVES)) / self.settings.length_scale
        phases = self._rng.uniform(0, 2 * np.pi, _WAVES)
        return np.sqrt(2 / _WAVES) * np.cos(measures @ frequencies + phases)

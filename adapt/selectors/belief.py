"""`Belief`: what a mixture says of every controller."""

from dataclasses import dataclass

import numpy as np

from adapt.selectors.expected_improvement import add_expected_improvement
from adapt.selectors.mixture import Mixture


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed of k controllers; objectives are normalised.

    Attributes:
        mean: expected objective, (k,).
        fall: probability of a fall, (k,).
        gain: expected improvement over the best that was tried, (k,).
        best: the mean of that one, and at least 0: not to walk at all is always possible.
    """

    mean: np.ndarray
    fall: np.ndarray
    gain: np.ndarray
    best: float


def believe(mixture: Mixture, tried: list[int]) -> Belief:
    """What a mixture says after trials of some rows."""
    components = mixture.components()
    involved = np.unique(np.concatenate([part.hypotheses for part in components]))
    expected, falls = mixture.hypotheses.objectives(involved), mixture.hypotheses.falls(involved)
    k = expected.shape[1]
    mean, gain, share = np.zeros(k), np.zeros(k), np.zeros(len(involved))
    means = []
    for part in components:
        places = np.searchsorted(involved, part.hypotheses)
        means.append(expected[places] + mixture.corrections(part))
        mean += part.weights @ means[-1]
        share[places] += part.weights
    best = max(0.0, float(mean[tried].max())) if tried else 0.0
    for part, under in zip(components, means, strict=True):
        add_expected_improvement(under, mixture.deviations(part), part.weights, best, gain)
    return Belief(mean, share @ falls, gain, best)

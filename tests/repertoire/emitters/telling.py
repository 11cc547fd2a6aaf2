"""Outcomes for tests of emitters that learn from improvements alone."""

import numpy as np

from repertoire.emitters.emitter import Outcomes


def improved(improvements: object) -> Outcomes:
    """Outcomes of which only the improvements matter."""
    improvements = np.asarray(improvements)
    nothing = np.zeros(improvements.shape)
    return Outcomes(nothing, nothing[..., None], nothing > 0, improvements, nothing > 0)

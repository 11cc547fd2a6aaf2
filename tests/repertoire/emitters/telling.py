"""Evaluations for tests of emitters that learn from improvements alone."""

import numpy as np

from robots.evaluations import Evaluations


def improved(improvements: object) -> Evaluations:
    """Evaluations of which only the improvements matter."""
    improvements = np.asarray(improvements)
    nothing = np.zeros(improvements.shape)
    return Evaluations(
        nothing, nothing[..., None], nothing > 0, nothing, improvements=improvements, opened=nothing > 0
    )

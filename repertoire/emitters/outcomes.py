"""`Outcomes`: what became of the solutions that an emitter asked for."""

from typing import NamedTuple

import numpy as np

from robots.simulation.episodes import ObservationMoments


class Outcomes(NamedTuple):
    """What became of the n solutions of an emitter's last `ask`, in their order.

    A named tuple, as a search makes several a batch and a data class takes thrice the time.

    Attributes:
        objectives: (n,), larger is better; NaN where the evaluation failed.
        measures: (n, m); NaN where the evaluation failed.
        failed: (n,) bool, evaluations without a result.
        improvements: (n,), what `archive.add` returned; -inf where failed or not offered to the archives.
        opened: (n,) bool, whether the solution was accepted into a cell that was empty before it.
        gradients: (n, 1 + m, d) float64, of the objective and each measure with respect to the d parameters;
            None unless an emitter requested them.
        moments: of all observations that the emitters of the search requested; None if there are none.
    """

    objectives: np.ndarray
    measures: np.ndarray
    failed: np.ndarray
    improvements: np.ndarray
    opened: np.ndarray
    gradients: np.ndarray | None = None
    moments: ObservationMoments | None = None

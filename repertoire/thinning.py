"""`keep_best`: fewer gaits, since every one of them has to be rehearsed."""

from dataclasses import replace

import numpy as np

from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError


def keep_best(repertoire: Repertoire, count: int) -> Repertoire:
    """Leave only the elites with the highest objectives; of equals the first stay.

    Args:
        repertoire: corrected, for single episodes flatter the best most.
        count: how many to keep, at least 1; all if there are not more.

    Raises:
        InvalidValueError: it was not corrected, or nothing is to be kept.
    """
    if repertoire.spread is None:
        raise InvalidValueError("only of a corrected repertoire is it known which gaits are the best")
    if count < 1:
        raise InvalidValueError(f"at least one gait must be kept, not {count}")
    best = np.sort(np.argsort(-repertoire.elites.objectives, kind="stable")[:count])
    kept = repertoire.elites.take(best)
    thresholds = repertoire.thresholds.copy()
    thresholds[np.setdiff1d(repertoire.elites.cells, kept.cells)] = -np.inf  # as where none ever was
    return replace(repertoire, elites=kept, thresholds=thresholds, spread=repertoire.spread.take(best))

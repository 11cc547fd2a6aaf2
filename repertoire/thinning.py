"""`keep_best`: fewer gaits, since every one of them has to be rehearsed."""

from dataclasses import replace

import numpy as np

from repertoire.repertoire import Repertoire


def keep_best(repertoire: Repertoire, count: int) -> Repertoire:
    """Leave only the elites with the highest objectives; of equals the first stay.

    Args:
        repertoire: it may be corrected.
        count: how many to keep, at least 0; all if there are not more.

    Returns:
        The rest. Cells that became empty have the threshold of cells that never held an elite.
    """
    best = np.sort(np.argsort(-repertoire.elites.objectives, kind="stable")[:count])
    kept = repertoire.elites.take(best)
    thresholds = repertoire.thresholds.copy()
    thresholds[np.setdiff1d(repertoire.elites.cells, kept.cells)] = -np.inf
    spread = repertoire.spread and repertoire.spread.take(best)
    return replace(repertoire, elites=kept, thresholds=thresholds, spread=spread)

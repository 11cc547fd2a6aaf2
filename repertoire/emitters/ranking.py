"""How emitters rank the solutions of a batch: best first, of equals the one asked first, failures last."""

from collections.abc import Callable

import numpy as np

from repertoire.emitters.outcomes import Outcomes

Ranking = Callable[[Outcomes], np.ndarray]


def by_improvement(outcomes: Outcomes) -> np.ndarray:
    """Return the indices (n,) by falling improvement, as in CMA-MAE (Fontaine & Nikolaidis 2023)."""
    return np.argsort(-outcomes.improvements, kind="stable")


def by_discovery(outcomes: Outcomes) -> np.ndarray:
    """Return the indices (n,) in the three stages of CMA-ME (Fontaine et al. 2020), by improvement in each.

    What opened a cell comes first, then what improved on an elite, then the rest.
    """
    stages = np.where(outcomes.opened, 2, outcomes.improvements > 0)
    return np.lexsort((-outcomes.improvements, -stages))


def accepted(outcomes: Outcomes) -> np.ndarray:
    """Return which solutions opened a cell or exceeded its threshold, (n,) bool."""
    return outcomes.opened | (outcomes.improvements > 0)

"""Pairs: what two damages at once are expected to do, from what each does alone.

Each function takes what is known under one damage, under the other and on the healthy robot, of any shape.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from adapt.damage import HEALTHY

_LEAST = 0.05  # normalised objective on the healthy robot below which it is no base for shares


def pair_up(conditions: Sequence[str]) -> np.ndarray:
    """Pairs of the single damages that are at different places and were not rehearsed together.

    Args:
        conditions: texts of damages.

    Returns:
        Indices of the two, (p, 2).
    """
    together = {frozenset(text.split("+")) for text in conditions if "+" in text}
    single = [i for i, text in enumerate(conditions) if text != HEALTHY and "+" not in text]
    pairs = [
        (i, j)
        for i, j in combinations(single, 2)
        if _place(conditions[i]) != _place(conditions[j])
        and frozenset((conditions[i], conditions[j])) not in together
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def objective_of_both(a: np.ndarray, b: np.ndarray, healthy: np.ndarray) -> np.ndarray:
    """Normalised objective: the product of the shares that each leaves, and at most what either leaves."""
    least = np.minimum(a, b)
    return np.where(least > 0, np.minimum(least, a * b / np.maximum(healthy, _LEAST)), least)


def fall_of_both(a: np.ndarray, b: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Probability of a fall, if each makes the robot fall independently of the other."""
    return 1 - (1 - a) * (1 - b)


def evidence_of_both(a: np.ndarray, b: np.ndarray, healthy: np.ndarray) -> np.ndarray:
    """Evidence: each changes it by as much as alone."""
    return a + b - healthy


def variance_of_both(a: np.ndarray, b: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Variance of an episode: the larger."""
    return np.maximum(a, b)


def _place(text: str) -> str:
    """Where a damage is."""
    return text.partition(":")[0]

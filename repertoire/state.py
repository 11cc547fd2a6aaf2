"""States: flat dictionaries of arrays, in whose names "/" parts groups."""

from collections.abc import Mapping

import numpy as np


def select(state: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The part of a state whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}

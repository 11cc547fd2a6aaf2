"""Seeds of episodes: each derives from a run's seed, a family and an index, so that nothing else matters."""

import numpy as np


def derive_seeds(seed: int, family: int, first: int, count: int) -> np.ndarray:
    """Seeds of consecutive episodes, (count,) int64.

    Args:
        seed: of the run.
        family: tells apart what one run uses episodes for.
        first: index within the family of the first episode.
        count: number of episodes.
    """
    sequences = (np.random.SeedSequence(seed, spawn_key=(family, first + i)) for i in range(count))
    return np.array([sequence.generate_state(1)[0] for sequence in sequences], np.int64)

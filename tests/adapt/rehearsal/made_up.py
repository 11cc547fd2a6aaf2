"""A table of numbers made up."""

import numpy as np

from adapt.rehearsal.table import Table


def made_up_table(d: int = 3, k: int = 5, names: tuple[str, ...] = ("a", "b"), episodes: int = 4) -> Table:
    rng = np.random.default_rng(0)
    shown = (d, k, len(names))
    return Table(
        conditions=("healthy", *(f"leg_{i}:lost" for i in range(1, d))),
        objectives=rng.normal(1, 1, (d, k)).astype(np.float32),
        noise=rng.exponential(0.05, (d, k)).astype(np.float32),
        falls=(rng.integers(0, episodes + 1, (d, k)) / episodes).astype(np.float32),
        evidence=rng.normal(0, 1, shown).astype(np.float32),
        evidence_std=rng.exponential(0.1, shown).astype(np.float32),
        evidence_names=names,
        episodes=episodes,
    )

"""`Specialists`: gaits that were refined for damages, outside the archive's competition."""

from dataclasses import dataclass

import numpy as np

from repertoire.archives.archive import Elites


@dataclass(frozen=True, eq=False)
class Specialists:
    """s gaits that are kept for what they do on a damaged robot, and where they come from.

    A cell may have several of them, and an elite too that does better on the intact robot.

    Attributes:
        gaits: with their objectives and measures on the intact robot.
        origins: cells of the elites that they descend from, (s,) int64.
        episodes: that their refinement took, (s,) int64; 0 of the mirror image of another gait.
        damages: for each the texts of the damages that it was refined or mirrored for: one, or those that
            were believed.
    """

    gaits: Elites
    origins: np.ndarray
    episodes: np.ndarray
    damages: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.gaits)


def joined(first: Elites, second: Elites) -> Elites:
    """Gaits followed by further ones."""
    return Elites(
        *(np.concatenate(pair) for pair in zip(vars(first).values(), vars(second).values(), strict=True))
    )

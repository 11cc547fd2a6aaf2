"""An episode that blows up."""

import numpy as np
import pytest

from robots.simulation import closed_loop


def sabotage(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Let the episode of a seed start with a speed that is not a number."""
    place_joints = closed_loop.place_joints

    def broken(row, task, robot, chosen) -> None:
        place_joints(row, task, robot, chosen)
        if chosen == seed:
            row[task.qvel[0] + 3] = np.nan

    monkeypatch.setattr(closed_loop, "place_joints", broken)

"""An episode that blows up."""

import numpy as np
import pytest

from robots.simulation.stepper import Stepper


def sabotage(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Let the episode of a seed start with a speed that is not a number."""
    place = Stepper._place

    def blown_up(stepper: Stepper, chosen: int) -> None:
        place(stepper, chosen)
        if chosen == seed:
            stepper.data.qvel[3] = np.nan

    monkeypatch.setattr(Stepper, "_place", blown_up)

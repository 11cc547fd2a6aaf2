"""`MissionSettings`: how a robot on a mission thinks, and how often it may fall."""

from dataclasses import dataclass

from robots.arrays import whole_number


@dataclass(frozen=True, kw_only=True)
class MissionSettings:
    """How a robot on a mission thinks, and how often it may fall.

    Attributes:
        seed: from which every random number derives.
        selector: finds out what is wrong; one that thinks, or `rehearsed`. `self-model` by default.
        episodes: that the selector simulates after each trial, while the mission's clock runs.
        refinement: episodes of 5 s of a search for a better gait while the robot walks; 0 for none.
        cores: that it thinks with, each as fast as one that the included robots were measured on.
        max_falls: how often the robot may fall; then it is damped, and the mission is over.

    Raises:
        InvalidValueError: a number is no whole one, or too small.
    """

    seed: int = 1
    selector: str | None = None
    episodes: int = 400
    refinement: int = 800
    cores: int = 2
    max_falls: int = 3

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least))


_LEAST = {"seed": 0, "episodes": 1, "refinement": 0, "cores": 1, "max_falls": 1}
DEFAULTS = MissionSettings()

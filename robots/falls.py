"""Falls: what it means for every robot, in simulation and behind a link, that it is upright or has fallen.

A robot is upright while its torso leans by less than `max_tilt` of its description, or 1.25 rad where that
gives none; while it is above `min_height`, or half of the height in which episodes begin; and while all else
holds that its description asks of a robot that is alive, such as what must not touch the floor. It has fallen
as soon as it is not upright, or, if its description lets it get up again, once it has not been upright for a
second on end.

What training is about is another matter: its episodes end as the description says, and an Ant on its back is
alive. Everywhere else episodes are those of `Robot.until_it_falls`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robots.attitude import uprightness
from robots.robot import Robot

_TILT = 1.25  # [rad]
_HEIGHT = 0.5  # share of the height in which episodes begin
_LYING = 1.0  # [s] after which a robot that may get up again has fallen
_RESTS = 0.6  # [rad] by which a robot that came to rest leans less if it is on its feet


class Limits(NamedTuple):
    """Where a robot is not upright any more."""

    tilt: float  # angle between the torso's z axis and the vertical [rad]
    share: float  # of the height in which episodes begin; 0 where the description has a height
    patience: int  # successive control steps that it may be not upright without having fallen


def limits_of(robot: Robot) -> Limits:
    """Those of a robot, which hold in addition to its description's `alive`."""
    alive = robot.description.alive
    return Limits(
        tilt=alive.max_tilt or _TILT,
        share=_HEIGHT if alive.min_height is None else 0.0,
        patience=0 if alive.ends_episode else round(_LYING / robot.control_step),
    )


def has_fallen(robot: Robot, quaternion: Sequence[float] | np.ndarray) -> bool:
    """Whether a robot of which nothing but the orientation w, x, y, z of its torso is known has fallen."""
    return not uprightness(quaternion) > math.cos(limits_of(robot).tilt)  # so that NaN counts as a fall


def rests_on_feet(quaternion: Sequence[float] | np.ndarray) -> bool:
    """Whether a robot that came to rest leans by less than 0.6 rad: less than one that is walking may."""
    return uprightness(quaternion) > math.cos(_RESTS)

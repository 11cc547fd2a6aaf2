"""What the orientation of a torso tells: how far it leans, whether it is on its feet, and where it heads."""

from collections.abc import Sequence

import numpy as np

_LEANS = float(np.cos(0.6))  # of the angle [rad] from which a robot that came to rest is not on its feet


def uprightness(quaternion: Sequence[float] | np.ndarray) -> float:
    """Cosine of the angle by which a torso with the orientation w, x, y, z leans."""
    w, x, y, z = quaternion
    return float(1 - 2 * (x * x + y * y) / (w * w + x * x + y * y + z * z))


def is_on_feet(quaternion: Sequence[float] | np.ndarray) -> bool:
    """Whether a robot that came to rest with the orientation w, x, y, z leans by less than 0.6 rad."""
    return uprightness(quaternion) > _LEANS


def yaw_of(quaternion: Sequence[float] | np.ndarray) -> float:
    """Heading of a torso with the orientation w, x, y, z of length 1, to the left of x [rad]."""
    w, x, y, z = quaternion
    return float(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))

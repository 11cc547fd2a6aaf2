"""What the orientation of a torso tells: how far it leans, and where it heads."""

from collections.abc import Sequence

import numpy as np


def uprightness(quaternion: Sequence[float] | np.ndarray) -> float:
    """Cosine of the angle by which a torso with the orientation w, x, y, z leans."""
    w, x, y, z = quaternion
    return float(1 - 2 * (x * x + y * y) / (w * w + x * x + y * y + z * z))


def yaw_of(quaternion: Sequence[float] | np.ndarray) -> float:
    """Heading of a torso with the orientation w, x, y, z of length 1, to the left of x [rad]."""
    w, x, y, z = quaternion
    return float(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def turned_by(before: Sequence[float] | np.ndarray, after: Sequence[float] | np.ndarray) -> float:
    """Angle between the orientations w, x, y, z of length 1 [rad]."""
    return float(2 * np.arccos(min(1.0, abs(np.dot(before, after)))))


def turned_about_z(quaternion: Sequence[float] | np.ndarray, angle: float) -> np.ndarray:
    """The orientation w, x, y, z of a torso that was turned to the left by an angle [rad], (4,)."""
    from scipy.spatial.transform import Rotation  # here, as it takes long to import

    turn = Rotation.from_euler("z", angle)
    return np.asarray((turn * Rotation.from_quat(quaternion, scalar_first=True)).as_quat(scalar_first=True))

"""Which actuators a controller can drive: `check_actuators`."""

import mujoco
import numpy as np

from robots.errors import InvalidRobotError

_JOINT = int(mujoco.mjtTrn.mjTRN_JOINT)
_TRANSMISSIONS = {
    int(mujoco.mjtTrn.mjTRN_JOINTINPARENT): "a joint in its parent's frame",
    int(mujoco.mjtTrn.mjTRN_SLIDERCRANK): "a slider-crank",
    int(mujoco.mjtTrn.mjTRN_TENDON): "a tendon",
    int(mujoco.mjtTrn.mjTRN_SITE): "a site",
    int(mujoco.mjtTrn.mjTRN_BODY): "a body",
}
# how controls become forces: at once, or behind a filter; muscles and integrators have a memory of their own
_DYNAMICS = [
    int(kind)
    for kind in (mujoco.mjtDyn.mjDYN_NONE, mujoco.mjtDyn.mjDYN_FILTER, mujoco.mjtDyn.mjDYN_FILTEREXACT)
]
_BEYOND = 1.1  # times its joint's range are far outside it
_GAINS = [int(mujoco.mjtGain.mjGAIN_FIXED)]
_BIASES = [int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)]


def check_actuators(model: mujoco.MjModel, joints: tuple[str, ...], origin: str) -> None:
    """Refuse joints that are not driven by one motor or servo each, whose control has a range.

    Args:
        model: of the whole robot.
        joints: names of the actuated joints.
        origin: what to call the robot in errors.

    Raises:
        InvalidRobotError: an actuator is missing, of another kind, or without a range.
    """
    for name in joints:
        count = len(_motors_of(model, name))
        if count != 1:
            raise InvalidRobotError(
                f"{origin}: one actuator must drive the joint {name!r}, not {count}{_others(model)}"
            )
        _check_kind(model, motor_of(model, name), f"{origin}: the actuator of the joint {name!r}")
    lacking = [name for name in joints if not _has_range(model, motor_of(model, name))]
    if lacking:
        raise InvalidRobotError(
            f"{origin}: the actuators of these joints need a ctrlrange in the MJCF, from the lowest to the "
            f'highest torque or position to command, such as ctrlrange="-1 1": {", ".join(lacking)}'
        )


def motor_of(model: mujoco.MjModel, joint: str) -> int:
    """The actuator that drives a joint of a whole robot."""
    return int(_motors_of(model, joint)[0])


def goes_beyond(model: mujoco.MjModel, joint: str) -> bool:
    """Whether a joint's servo can be told positions far outside the joint's range."""
    actuator = motor_of(model, joint)
    if not model.actuator_biasprm[actuator, 1]:
        return False
    told = np.ptp(model.actuator_ctrlrange[actuator] / model.actuator_gear[actuator, 0])
    return bool(told > _BEYOND * np.ptp(model.joint(joint).range))


def _motors_of(model: mujoco.MjModel, joint: str) -> np.ndarray:
    """The actuators that drive a joint."""
    drives = (model.actuator_trntype == _JOINT) & (model.actuator_trnid[:, 0] == model.joint(joint).id)
    return np.flatnonzero(drives)


def _check_kind(model: mujoco.MjModel, actuator: int, what: str) -> None:
    """Refuse an actuator that is neither a motor nor a servo."""
    for kinds, known in (
        (model.actuator_dyntype, _DYNAMICS),
        (model.actuator_gaintype, _GAINS),
        (model.actuator_biastype, _BIASES),
    ):
        if kinds[actuator] not in known:
            raise InvalidRobotError(
                f"{what} must be a motor, or a position or velocity servo, not a muscle or another actuator "
                "with dynamics of its own"
            )


def _has_range(model: mujoco.MjModel, actuator: int) -> bool:
    """Whether the control of an actuator has a range."""
    low, high = model.actuator_ctrlrange[actuator]
    return bool(model.actuator_ctrllimited[actuator] and low < high)


def _others(model: mujoco.MjModel) -> str:
    """What is driven by actuators that drive no joint."""
    kinds = {int(kind) for kind in model.actuator_trntype} & _TRANSMISSIONS.keys()
    names = ", ".join(_TRANSMISSIONS[kind] for kind in sorted(kinds))
    return f"; there are actuators that drive {names}, which is not supported" if names else ""

"""`Motors`: what drives the joints of a robot, and the law by which controls become torques.

An actuator is a motor, which is told torques, or a servo, which is told positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from robots.mjcf.compiling import compiled_so_far

ABSENT = -1  # index of what a damaged robot has lost, as MuJoCo has it
TO_JOINT = mujoco.mjtTrn.mjTRN_JOINT
_TRANSMISSIONS = {
    int(mujoco.mjtTrn.mjTRN_JOINTINPARENT): "a joint in its parent's frame",
    int(mujoco.mjtTrn.mjTRN_SLIDERCRANK): "a slider-crank",
    int(mujoco.mjtTrn.mjTRN_TENDON): "a tendon",
    int(mujoco.mjtTrn.mjTRN_SITE): "a site",
    int(mujoco.mjtTrn.mjTRN_BODY): "a body",
}
# how controls become forces: at once, or behind a filter; muscles and integrators have a memory of their own
_DYNAMICS = (mujoco.mjtDyn.mjDYN_NONE, mujoco.mjtDyn.mjDYN_FILTER, mujoco.mjtDyn.mjDYN_FILTEREXACT)
_BIASES = (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE)


def motor_torque(motor: Any, control: Any, position: Any, velocity: Any) -> Any:
    """The torque or force of an actuator about or along its joint [N m or N], of numbers or of arrays.

    The motor has the attributes of `Motors`; in kernels it is a record.
    """
    force = motor.gain * control + motor.bias
    force = force + motor.gear * (motor.bias_length * position + motor.bias_velocity * velocity)
    return motor.gear * np.minimum(np.maximum(force, motor.min_force), motor.max_force)


@dataclass(frozen=True)
class Motors:
    """The actuators of j joints, (j,) each; 0 of one that is gone."""

    low: np.ndarray  # least control
    high: np.ndarray  # greatest control
    gear: np.ndarray  # torque per force, and length per position
    gain: np.ndarray  # force per control
    bias: np.ndarray  # constant force
    bias_length: np.ndarray  # force per length
    bias_velocity: np.ndarray  # force per velocity
    min_force: np.ndarray  # -inf without a limit of the actuator's or the joint's
    max_force: np.ndarray  # inf without one

    @classmethod
    def of(cls, model: mujoco.MjModel, joints: Sequence[str]) -> "Motors":
        """Read the actuators of joints off a compiled model."""
        motors = np.array([motor_of(model, joint) for joint in joints])
        limited = model.actuator_forcelimited.astype(np.bool_)
        columns = (
            *model.actuator_ctrlrange.T,
            model.actuator_gear[:, 0],
            model.actuator_gainprm[:, 0],
            *model.actuator_biasprm[:, :3].T,
            np.where(limited, model.actuator_forcerange[:, 0], -np.inf),
            np.where(limited, model.actuator_forcerange[:, 1], np.inf),
        )
        found = cls(*(np.append(column, 0.0)[motors] for column in columns))  # the last one's where ABSENT
        least, most = _forces_of_joints(model, joints, found.gear)
        least, most = np.maximum(found.min_force, least), np.minimum(found.max_force, most)
        return replace(found, min_force=least, max_force=most)

    @property
    def servos(self) -> np.ndarray:
        """Whether each is told positions, not torques, (j,) bool."""
        return self.bias_length != 0

    @property
    def stiffness(self) -> np.ndarray:
        """Torque per error of a servo's position [N·m/rad or N/m], (j,); 0 of motors."""
        return -self.bias_length * self.gear**2 + 0.0

    @property
    def damping(self) -> np.ndarray:
        """Torque per speed [N·m·s/rad or N·s/m], (j,), besides that of the joint itself."""
        return -self.bias_velocity * self.gear**2 + 0.0

    @property
    def greatest(self) -> np.ndarray:
        """Greatest torque or force of each about or along its joint [N m or N], (j,); inf without limits.

        Of a servo without a greatest force it is that at an error as large as the range of its targets, which
        are speeds where it is told these.
        """
        force = np.maximum(abs(self.min_force), abs(self.max_force))
        told_error = self.servos | (self.damping != 0)
        return np.asarray(_limit(self.gear, self.gain, self.low, self.high, force, told_error))

    def torques(self, actions: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """What they give at actions from -1 to 1 and positions, of joints at rest [N m or N], (..., j)."""
        controls = (self.low + self.high) / 2 + (self.high - self.low) / 2 * actions
        return np.asarray(motor_torque(self, controls, positions, 0.0))

    def targets(self, actions: np.ndarray | float) -> np.ndarray:
        """Where actions send servos, to a torque of 0 at rest [rad or m], (..., j); 0 of motors."""
        stiffness = self.bias_length * self.gear
        share = np.divide(-1, stiffness, out=np.zeros_like(stiffness), where=self.servos)
        middle = share * (self.gain * (self.high + self.low) / 2 + self.bias)
        return middle + share * self.gain * (self.high - self.low) / 2 * actions

    @property
    def reach(self) -> np.ndarray:
        """What actions of -1 and 1 command: positions of servos, torques of motors [rad or N m], (j, 2)."""
        torques = self.gear * (self.gain * np.stack([self.low, self.high]) + self.bias)
        targets = self.targets(np.array([[-1.0], [1.0]]))
        return np.where(self.servos, targets, torques).T

    def actions(self, positions: np.ndarray) -> np.ndarray:
        """Actions from -1 to 1 that send servos nearest to positions [rad or m], (j,); 0 of motors."""
        middle = self.targets(0.0)
        reach = self.targets(1.0) - middle
        actions = np.divide(positions - middle, reach, out=np.zeros_like(middle), where=reach != 0)
        return np.clip(actions, -1, 1).astype(np.float32)


def _forces_of_joints(
    model: mujoco.MjModel, joints: Sequence[str], gear: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest forces of actuators by the limits of their joints, (j,) each; infinite without."""
    least, most = np.full(len(joints), -np.inf), np.full(len(joints), np.inf)
    for j, name in enumerate(joints):
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if number != ABSENT and model.jnt_actfrclimited[number] and gear[j]:
            least[j], most[j] = sorted(model.jnt_actfrcrange[number] / gear[j])
    return least, most


def motor_of(model: mujoco.MjModel, joint: str) -> int:
    """The actuator that drives a joint, or ABSENT."""
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
    motors = (model.actuator_trntype == int(TO_JOINT)) & (model.actuator_trnid[:, 0] == number)
    return int(np.argmax(motors)) if motors.any() else ABSENT


def lags(model: mujoco.MjModel, joints: Sequence[str]) -> np.ndarray:
    """Time constants with which commands reach the actuators of joints [s], (j,); 0 for at once."""
    filtered = model.actuator_dyntype != int(mujoco.mjtDyn.mjDYN_NONE)
    times = np.append(np.where(filtered, model.actuator_dynprm[:, 0], 0.0), 0.0)  # the last where ABSENT
    return np.asarray(times[[motor_of(model, joint) for joint in joints]])


def followed(model: mujoco.MjModel, controls: np.ndarray, activations: np.ndarray) -> np.ndarray:
    """What the forces of the u actuators follow, (u,): controls, or what comes out of their filters."""
    filtered = model.actuator_actadr
    return np.where(filtered == ABSENT, controls, np.append(activations, 0)[filtered])


def torque_limit(motor: mujoco.MjsActuator, joint: mujoco.MjsJoint | None = None) -> float:
    """Greatest torque or force of an actuator and its joint about or along the joint; inf without limits."""
    low, high = motor.ctrlrange if np.any(motor.ctrlrange) else (-np.inf, np.inf)
    force = float(np.abs(motor.forcerange).max()) or np.inf
    limit = float(_limit(motor.gear[0], motor.gainprm[0], low, high, force, is_servo(motor)))
    if joint is None or joint.actfrclimited == mujoco.mjtLimited.mjLIMITED_FALSE:
        return limit
    return min(limit, float(np.abs(joint.actfrcrange).max()) or np.inf)


def _limit(gear: Any, gain: Any, low: Any, high: Any, force: Any, servo: Any) -> Any:
    """Greatest torque of actuators with a range of controls and a greatest force."""
    error = abs(gain) * (high - low)
    told = abs(gain) * np.maximum(abs(low), abs(high))
    return abs(gear) * np.where(servo, np.where(np.isfinite(force), force, error), np.minimum(told, force))


def settle_gains(spec: mujoco.MjSpec) -> None:
    """Work out the gains of servos that are given as damping ratios: masses that change later must not."""
    servos = [motor for motor in spec.actuators if motor.biasprm[2] > 0]  # a gain itself is negative
    if servos:
        model = compiled_so_far(spec)
        for motor in servos:
            motor.biasprm = model.actuator_biasprm[motor.id]


def transmissions(model: mujoco.MjModel) -> str:
    """A remark on actuators that drive something else than joints; empty where there are none."""
    kinds = {int(kind) for kind in model.actuator_trntype} & _TRANSMISSIONS.keys()
    names = ", ".join(_TRANSMISSIONS[kind] for kind in sorted(kinds))
    return f"; there are actuators that drive {names}, which is not supported" if names else ""


def is_plain(actuator: mujoco.MjsActuator) -> bool:
    """Whether an actuator is a motor or a servo, not a muscle or another one with dynamics of its own."""
    fixed = actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
    return fixed and actuator.dyntype in _DYNAMICS and actuator.biastype in _BIASES


def is_servo(actuator: mujoco.MjsActuator) -> bool:
    """Whether an actuator pulls its joint towards the position that it is told."""
    return (
        actuator.trntype == TO_JOINT
        and actuator.biastype == mujoco.mjtBias.mjBIAS_AFFINE
        and actuator.biasprm[1] != 0
        and actuator.gainprm[0] != 0
    )

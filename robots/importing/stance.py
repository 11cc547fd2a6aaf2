"""`try_stance` finds out how a robot stands in the pose in which its episodes start."""

from dataclasses import dataclass

import mujoco
import numpy as np

from robots.model import motor_of, put_joints
from robots.rendering.pictures import floor_gap, standing_on_floor
from robots.robot import Robot

_SECONDS = 2.0  # for which the pose is held
_NEAR = 0.02  # share of the torso's height by which the lowest sole may start above or inside the floor
_STILL = 0.15  # share of the torso's height by which a robot that stands may sink or drift
_UPRIGHT = np.cos(0.3)  # of the angle [rad] by which its torso may tilt


@dataclass(frozen=True)
class Stance:
    """How a robot stands that was put on the floor, and whose servos hold the pose.

    Attributes:
        gap: of the lowest sole from the floor before the robot was put there [m], negative inside it.
        fell: whether it tipped over, sank or drifted away; never where motors cannot hold a pose.
        height: of the torso in the end, or where it was put if it fell [m].
        positions: of every joint then, by name.
    """

    gap: float
    fell: bool
    height: float
    positions: dict[str, np.ndarray]

    @property
    def fits(self) -> bool:
        """Whether episodes may start in the pose as it is."""
        return not self.fell and abs(self.gap) < _NEAR * self.height


def try_stance(robot: Robot) -> Stance:
    """Put a robot on the floor and, if all its actuators are servos, let them hold its pose for 2 s."""
    model, name = robot.physics, robot.description.torso
    data, gap = mujoco.MjData(model), floor_gap(robot, first_data(robot))
    data.qpos[:] = standing_on_floor(robot).qpos
    mujoco.mj_forward(model, data)
    torso, placed = data.body(name), data.qpos.copy()
    position, axes = torso.xpos.copy(), torso.xmat.reshape(3, 3).copy()
    motors = [motor_of(model, joint) for joint in robot.description.joints]
    stiffness, gain = -model.actuator_biasprm[motors, 1], model.actuator_gainprm[motors, 0]
    if stiffness.all():
        data.ctrl[motors] = stiffness * data.actuator_length[motors] / gain
        mujoco.mj_step(model, data, round(_SECONDS / model.opt.timestep))
    moved, upright = np.linalg.norm(torso.xpos - position), axes[2] @ torso.xmat.reshape(3, 3)[2]
    fell = not (moved < _STILL * position[2] and upright > _UPRIGHT)  # so that NaN counts as a fall
    if fell:
        data.qpos[:] = placed
        mujoco.mj_forward(model, data)
    positions = {model.joint(joint).name: data.joint(joint).qpos.copy() for joint in range(model.njnt)}
    return Stance(gap, bool(fell), float(torso.xpos[2]), positions)


def first_data(robot: Robot) -> mujoco.MjData:
    """The state in which episodes start, of the model to look at."""
    data = mujoco.MjData(robot.model)
    data.qpos[[robot.model.joint(joint).qposadr[0] for joint in robot.description.joints]] = 0
    put_joints(robot.model, data.qpos, robot.start)
    mujoco.mj_forward(robot.model, data)
    return data

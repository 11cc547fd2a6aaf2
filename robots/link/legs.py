"""`LegOdometry`: where a robot is by its encoders, IMU and contacts alone, since feet on the floor stay."""

import mujoco
import numpy as np

from robots.link.messages import State
from robots.robot import Robot
from robots.stance import start_positions


class LegOdometry:
    """Adds up how far the torso moved from the feet that touch the floor.

    The median over feet counts, so that one that drags or slips hardly matters. Feet that roll or slip
    together are not noticed.
    """

    def __init__(self, robot: Robot) -> None:
        self._model = robot.physics
        self.data = mujoco.MjData(self._model)  # the robot in the last state, with its torso at the origin
        self.data.qpos[:] = start_positions(robot)
        self.place = np.zeros(
            3
        )  # of the torso since the first state, along the axes of the IMU's attitude [m]
        self.root = int(self._model.jnt_qposadr[robot.root_joint])  # of the torso's free joint in `data.qpos`
        self._joints = [int(self._model.joint(name).qposadr[0]) for name in robot.description.joints]
        self._soles = [
            [self._model.geom(geom).id for geom in geoms] for geoms in robot.description.feet.values()
        ]
        self._before: tuple[np.ndarray, np.ndarray] | None = None

    def take(self, state: State) -> None:
        """Take in a state, newer than the last."""
        positions = self.data.qpos
        positions[self.root : self.root + 3] = 0
        positions[self.root + 3 : self.root + 7] = state.imu_state.quaternion
        positions[self._joints] = [motor.q for motor in state.motor_state]
        mujoco.mj_kinematics(self._model, self.data)
        feet, down = self._feet(), np.array(state.foot_force) > 0
        if self._before is not None and (both := down & self._before[1]).any():
            self.place -= np.median((feet - self._before[0])[both], axis=0)
        self._before = feet, down

    @property
    def height(self) -> float:
        """Of the torso above the lowest foot [m]."""
        return -float(self._feet()[:, 2].min())

    def _feet(self) -> np.ndarray:
        """Lowest point of each foot, (f, 3)."""
        return np.array(
            [min((self._end(geom) for geom in soles), key=lambda p: float(p[2])) for soles in self._soles]
        )

    def _end(self, geom: int) -> np.ndarray:
        """The lower end of a capsule; the middle of any other geom."""
        along = self.data.geom_xmat[geom].reshape(3, 3)[:, 2]
        capsule = self._model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE
        reach = self._model.geom_size[geom, 1] if capsule else 0.0
        return np.asarray(self.data.geom_xpos[geom] - np.sign(along[2]) * reach * along)

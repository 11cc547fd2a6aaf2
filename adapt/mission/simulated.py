"""`SimulatedWorld`: one robot in one simulation that is never reset, whose parts break while it walks."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from adapt.mission.changes import PlannedChange
from adapt.mission.world import ASSISTANCE, BackgroundSearch, Stretch, Until, World, go_on
from robots.attitude import turned_about_z, yaw_of
from robots.errors import InvalidValueError
from robots.falls import rests_on_feet
from robots.mjcf.compiling import HEARD
from robots.motors import Motors
from robots.pose import Pose
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.episodes import Episodes
from robots.simulation.stepper import Stepper, take_over
from robots.simulation.trace import TraceColumns
from robots.stance import ramped, standing_action, start_positions
from robots.task.terrain import field_of

_FAR = 100.0  # [m] from the floor, at most, that a robot that lies may be


class SimulatedWorld(World):
    """The robot of a mission, and the floor that it walks on.

    The state is never reset. While a gait is driven, the frame in which it is expressed lies where the gait
    began, so that a stretch looks to controllers and selectors as an episode does: nothing physical depends
    on where on a flat floor a robot is. Gravity of a floor that rises turns along.

    Args:
        robot: whole.
        changes: what happens to it, by time.
        seed: of the first pose and of the noise of sensors.
        on_change: called with each change when it happens.
        on_step: called with this world after each control step.
    """

    def __init__(
        self,
        robot: Robot,
        changes: Sequence[PlannedChange],
        *,
        seed: int,
        on_change: Callable[[PlannedChange], None] = lambda _: None,
        on_step: Callable[[World], None] = lambda _: None,
    ) -> None:
        super().__init__(robot)
        robot = robot.until_it_falls()
        self._whole, self._seed = robot, seed
        self._changes = [(change, change.damage.apply(robot)) for change in changes]
        later = ((broken, f", without {change.text}") for change, broken in self._changes)
        for each, what in ((robot, ""), *later):
            if field_of(each.physics, each.description.floor):
                raise InvalidValueError(f"a mission needs level ground or a slope{what}")
        self._on_change, self._on_step = on_change, on_step
        self._frame, self._stretches, self.steps = Pose(), 0, 0
        self._enter(robot)
        self._stepper.reset(self._next_seed())

    @property
    def clock(self) -> float:  # type: ignore[override]
        """Time since the beginning [s]."""
        return self.steps * self._whole.control_step

    @property
    def pose(self) -> Pose:  # type: ignore[override]
        """Where the robot is in the world."""
        x, y = self._root[:2]
        return self._frame @ Pose(float(x), float(y), yaw_of(self._root[3:]))

    @property
    def upright(self) -> bool:  # type: ignore[override]
        """Whether the robot has not fallen, and rests on its feet; see `robots.falls`."""
        return not self._stepper.tally.terminated and rests_on_feet(self._root[3:])

    def drive(
        self,
        row: int,
        parameters: np.ndarray,
        steps: int,
        *,
        towards: float = 0.0,
        abrupt: bool = False,
        until: Until = go_on,
    ) -> Stretch:
        self._apply_changes()
        start = self.pose
        self._express(Pose(start.x, start.y, start.yaw + towards))
        blends = self.driving is not None and self._stepper.controller.blends
        going = (self.driving == row or blends) and not abrupt
        told = self._begin(going=going)
        self.driving, begun = row, self._stepper.tally.steps
        trace = np.zeros((steps, TraceColumns.of(self._whole).end), np.float32)
        parameters, made = self._stepper.controller.checked_parameters(parameters), 0
        while made < steps:
            stepper = self._stepper
            action = stepper.action(parameters)
            stepper.step(action if going or abrupt else self._ramped(told, action, made))
            stepper.read(trace[made])
            made += 1
            self._pass()
            if self._stepper.tally.terminated or until(trace, made):
                break
        fell = bool(self._stepper.tally.terminated)
        tally, contacts = np.array(self._stepper.state.tally), self._stepper.state.contacts[None].copy()
        tally["steps"] -= begun
        tally["lateral"], tally["heading"] = tally["y"], tally["yaw"]  # which only whole episodes note
        episodes = Episodes.from_tallies(self._whole, tally, contacts)
        return Stretch(row, start, self.pose, trace[:made].copy(), episodes, fell)

    def stand(self, steps: int) -> None:
        self._apply_changes()
        told, self.driving = self._begin(going=False), None
        for step in range(steps):
            self._stepper.step(self._ramped(told, standing_action(self._stepper.robot), step))
            self._pass()

    def _begin(self, *, going: bool) -> np.ndarray:
        """Begin a stretch, in which a gait may go on; returns what the joints were told last, (a,)."""
        told = self._stepper.state.told.copy()
        self._stepper.carry_on(self._next_seed(), going=going)
        return told

    def _ramped(self, told: np.ndarray, action: np.ndarray, step: int) -> np.ndarray:
        """An action on the way from what servos were told last, so that they do not jerk the robot over."""
        return ramped(told, action, (step + 1) * self._whole.control_step) if self.holds_pose else action

    def set_upright(self, within: float) -> bool:
        """See `World.set_upright`; it takes 20 s, in which the robot is damped and nothing else moves."""
        self.driving, robot, data = None, self._stepper.robot, self._stepper.data
        for _ in range(round(min(ASSISTANCE, within) / self._whole.control_step)):
            self.steps += 1
            self._apply_changes()
        if within < ASSISTANCE:
            return False
        start = start_positions(robot)
        if self._stepper.tally.diverged:
            data.qpos[:] = start
            data.warning.number[:] = HEARD  # or else every further step is a fall
        level = start[self._root_qpos + 3 : self._root_qpos + 7]
        self._root[3:] = turned_about_z(level, yaw_of(self._root[3:]) - yaw_of(level))
        data.qvel[:] = 0
        mujoco.mj_forward(robot.physics, data)
        self._root[2] -= _clearance(robot, data)
        mujoco.mj_forward(robot.physics, data)
        self._stepper.state.told[:] = _holding_action(robot, data)
        return True

    def think(self, seconds: float, row: int | None, parameters: np.ndarray) -> bool:
        end, step, fell = self.clock + seconds, self.robot.control_step, False
        if row is not None:
            fell = self.drive(row, parameters, max(1, round(seconds / step))).fell
        rest = round(max(0.0, end - self.clock) / step)
        if rest or row is None:
            self.stand(rest)
        return fell

    def search(self, work: Callable[[], Any], seconds: float) -> BackgroundSearch:
        end = self.clock + seconds
        return BackgroundSearch(lambda: self.clock >= end, work)

    def close(self) -> None:
        """There is nothing to let go of."""

    def posed_data(self) -> mujoco.MjData:
        """The robot as it is now in the world, as data of its `model`."""
        physics = self._stepper.data
        kept, frame = (physics.qpos.copy(), physics.qvel.copy()), self._frame
        self._express(Pose())
        data = self._stepper.posed_data()
        physics.qpos[:], physics.qvel[:] = kept  # to the last bit: looking at a robot does not move it
        self._frame = frame
        self._turn_gravity()
        return data

    @property
    def robot(self) -> Robot:  # type: ignore[override]
        """The robot as it is now."""
        return self._stepper.robot

    @property
    def touching(self) -> np.ndarray:
        return np.asarray(self._stepper.state.touching)

    @property
    def _root(self) -> np.ndarray:
        """Positions of the torso's free joint, (7,), live."""
        return np.asarray(self._stepper.data.qpos[self._root_qpos : self._root_qpos + 7])

    def _next_seed(self) -> int:
        self._stretches += 1
        return int(derive_seeds(self._seed, SeedFamily.MISSION, self._stretches, 1)[0])

    def _pass(self) -> None:
        """A control step has passed."""
        self.steps += 1
        self._on_step(self)
        self._apply_changes()

    def _apply_changes(self) -> None:
        while self._changes and self._changes[0][0].time <= self.clock + 1e-9:
            change, broken = self._changes.pop(0)
            self._exchange(broken)
            self.damage = str(change.damage)
            self._on_change(change)

    def _enter(self, robot: Robot) -> None:
        """Simulate a robot from now on, with a model of its own, whose gravity turns with the frame."""
        own = replace(robot, physics=copy.copy(robot.physics))
        self._gravity = own.physics.opt.gravity.copy()
        self._stepper = Stepper(own)
        joint = own.root_joint
        self._root_qpos = int(own.physics.jnt_qposadr[joint])
        self._root_qvel = int(own.physics.jnt_dofadr[joint])

    def _exchange(self, robot: Robot) -> None:
        """Go on with another model of the robot: joints are where they were, new ones at their start."""
        old = self._stepper
        self._enter(robot)
        take_over(self._stepper, old)
        self._turn_gravity()

    def _express(self, frame: Pose) -> None:
        """Express the state in another frame."""
        place, turn = self.pose.seen_from(frame), self._frame.yaw - frame.yaw
        root, velocity = self._root, self._stepper.data.qvel[self._root_qvel : self._root_qvel + 3]
        root[:2] = place.x, place.y
        root[3:] = turned_about_z(root[3:], turn)
        velocity[:] = Rotation.from_euler("z", turn).apply(velocity)
        self._frame = frame
        self._turn_gravity()

    def _turn_gravity(self) -> None:
        about_z = Rotation.from_euler("z", -self._frame.yaw)
        self._stepper.robot.physics.opt.gravity[:] = about_z.apply(self._gravity)


def _clearance(robot: Robot, data: mujoco.MjData) -> float:
    """Distance of the lowest of a robot's shapes that can touch the floor from it [m], negative inside it."""
    model, floor = robot.physics, data.geom(robot.description.floor).id
    touch = (model.geom_contype & model.geom_conaffinity[floor]) | (
        model.geom_conaffinity & model.geom_contype[floor]
    )
    shapes = np.flatnonzero((touch != 0) & (model.geom_bodyid != model.geom_bodyid[floor]))
    return min(mujoco.mj_geomDistance(model, data, floor, int(shape), _FAR, None) for shape in shapes)


def _holding_action(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """The action that has servos hold the joints where they are, (a,); 0 of motors and of what is gone."""
    known = {robot.physics.joint(number).name for number in range(robot.physics.njnt)}
    joints = robot.description.joints
    places = [float(data.joint(j).qpos[0]) if j in known else robot.start_of(j) for j in joints]
    return Motors.of(robot.physics, joints).actions(np.array(places))

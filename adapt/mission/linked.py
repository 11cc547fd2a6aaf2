"""`LinkedWorld`: the robot of a mission behind a link, which goes on while the mission thinks."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import mujoco
import numpy as np

from adapt.mission.world import BackgroundSearch, Stretch, Until, World, go_on
from robots.attitude import turned_about_z
from robots.falls import has_fallen, rests_on_feet
from robots.link.driving import DAMPED, HOLD, RISE, Motion, angles, stands
from robots.link.keeper import Driver
from robots.link.link import LinkError
from robots.link.observer import LegOdometry
from robots.pose import Pose, wrapped_angle
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.observing import TARGET_X
from robots.simulation.state import MIDWAY
from robots.simulation.trace import SENSORS, TraceColumns

_SETTLED = 0.5  # [s] that a robot must be upright to count as put on its feet
_LONGER = 1.0  # [s] that a gait may go on after its stretch, while the next one is planned
_PATIENCE = 60.0  # [s] for somebody to put it there


class LinkedWorld(World):
    """A robot behind a link.

    What the attributes say is as of the last call: between two calls the robot goes on with what it did last,
    its gait or its pose. The clock is the robot's, and begins with the first call. Without odometry its place
    is that of `LegOdometry`, and a diagnosis does not rely on it.

    Args:
        robot: whole.
        driver: keeps it going.
        on_step: called after each control step of a call of which a state came.
        say: told what somebody near the robot has to do.

    Attributes:
        seen: what the robot told last.
        words: how regularly the robot told its states, once it is closed.
    """

    words = ""

    def __init__(
        self,
        robot: Robot,
        driver: Driver,
        *,
        on_step: Callable[["LinkedWorld"], None] = lambda _: None,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        super().__init__(robot)
        self.robot, self._driver = robot, driver
        self._on_step, self._say = on_step, say
        self._step = robot.control_step
        self.seen = driver.latest()
        driver.rest()
        known = self.seen.state.odometry is not None
        self.sensors = tuple(name for name in SENSORS if known or name != "odometry")
        self._searching: threading.Thread | None = None  # the latest
        self._begun: tuple[float, Pose] | None = None  # the robot's clock and place when the mission began
        self._frame = Pose()
        self._show()

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
        """See `World.drive`; a gait that is on its way goes on in its cycle."""
        self._stand_up()
        self._attend()
        start = self.pose
        self._frame = self._origin @ start._replace(yaw=start.yaw + towards)
        self.driving = row
        parameters, seconds = np.asarray(parameters, np.float32), steps * self._step + _LONGER
        self._driver.begin(Motion(row, parameters, self._frame, abrupt, seconds=seconds))
        trace, fell = self._follow(steps, until)
        self._driver.rest()
        return Stretch(row, start, self.pose, trace, _episodes(self.robot, trace, fell), fell)

    def _follow(self, steps: int, until: Until) -> tuple[np.ndarray, bool]:
        """Drive on until the robot falls or rests; returns the trace, and whether it fell.

        In the trace the next state stands for lost ones.
        """
        trace = np.zeros((steps, TraceColumns.of(self.robot).end), np.float32)
        begun, made, rested = self.seen.state.time, 0, True
        while made < steps:
            self._advance()
            now = min(steps, max(made + 1, round((self.seen.state.time - begun) / self._step)))
            trace[made:now] = self._reading()
            if has_fallen(self.robot, self.seen.state.imu_state.quaternion):
                self.driving = None
                return trace[:now], True
            if self.seen.rests and not rested:
                self.driving = None
                return trace[:now], False
            rested = self.seen.rests
            while made < now:
                made += 1
                if until(trace, made):
                    return trace[:made], False
        return trace, False

    def stand(self, steps: int) -> None:
        self._attend()
        self.driving = None
        self._driver.begin(Motion(seconds=steps * self._step + HOLD))
        end = self.seen.state.time + (steps - 0.5) * self._step
        while self.seen.state.time < end:
            self._advance()
        self._driver.rest()

    def set_upright(self, within: float) -> bool:
        """See `World.set_upright`; somebody has to do it."""
        self._attend()
        self.driving = None
        begun = since = self.seen.state.time
        damped = False
        self._driver.begin(Motion())
        while self.seen.state.time < since + _SETTLED:
            if not (self._up or damped):
                self._say("The robot lies in damping: set it upright.")
                self._driver.begin(DAMPED)
                damped = True
            self._advance()
            since = since if self._up else self.seen.state.time
            if self.seen.state.time > begun + within and not self._up:
                return False
            if self.seen.state.time > begun + _PATIENCE:
                raise LinkError(f"the robot lies, and nobody set it upright in {_PATIENCE:g} s: it is damped")
        self._stand_up()
        return True

    def _stand_up(self) -> None:
        """Have servos hold a robot that is damped, once they have taken it to its first pose."""
        self.seen = self._driver.latest()
        if self.holds_pose and self.seen.rests:
            self._driver.begin(Motion())
            lies, end = not stands(self.robot, self.seen.state), self.seen.state.time + RISE + _SETTLED
            while lies and self.seen.state.time < end:
                self._advance()
        self._driver.rest()

    def think(self, seconds: float, row: int | None, parameters: np.ndarray) -> bool:
        self._attend()
        self._driver.rest()
        return row is not None and has_fallen(self.robot, self.seen.state.imu_state.quaternion)

    def search(self, work: Callable[[], Any], seconds: float) -> BackgroundSearch:
        """See `World.search`; one search follows the other, so that the first has all cores."""
        found: Future[Any] = Future()
        before = self._searching

        def run() -> None:
            if before is not None:
                before.join()
            if self._searching is not threading.current_thread():
                return  # it was given up: `Searches` begins another one only then
            try:
                found.set_result(work())
            except Exception as error:  # told where the result is asked for, if it ever is
                found.set_exception(error)

        self._searching = threading.Thread(target=run, daemon=True)
        self._searching.start()
        return BackgroundSearch(found.done, found.result)

    def close(self) -> None:
        """See `World.close`; the robot is damped."""
        self.words = self._driver.close()

    def posed_data(self) -> mujoco.MjData:
        legs, data = LegOdometry(self.robot), mujoco.MjData(self.robot.model)
        legs.take(self.seen.state)
        data.qpos[:] = legs.data.qpos
        place = self.seen.state.odometry
        root = data.qpos[legs.root : legs.root + 7]
        root[:3] = *self.pose[:2], place.position[2] if place else legs.height
        root[3:] = turned_about_z(root[3:], -self._origin.yaw)
        return data

    @property
    def touching(self) -> np.ndarray:
        return np.array(self.seen.state.foot_force) > 0

    def _attend(self) -> None:
        """Hear again what the robot tells, and show what became of it."""
        self.seen = self._driver.latest()
        self.driving = None if self.seen.rests else self.driving
        self._begun = self._begun or (self.seen.state.time, self.seen.place)
        self._show()

    def _advance(self) -> None:
        """Wait for the next state, and show what it tells."""
        before = self.seen.state.time
        while self.seen.state.time <= before:
            self.seen = self._driver.next()
        self._show()
        if self._begun is not None:
            self._on_step(self)

    def _show(self) -> None:
        begun = self._begun[0] if self._begun else self.seen.state.time
        self.clock, self.upright = self.seen.state.time - begun, self._up
        self.steps = round(self.clock / self._step)
        self.pose = self.seen.place.seen_from(self._origin)

    def _reading(self) -> np.ndarray:
        """What the sensors read, as a row of a trace, (c,)."""
        motors = self.seen.state.motor_state
        q = np.array([motor.q for motor in motors])
        shares = (q - self.robot.joint_middles) / self.robot.joint_half_ranges
        roll, pitch, _ = angles(self.seen.state)
        place = self.seen.place.seen_from(self._frame)
        return np.concatenate([
            self.seen.told, shares, [motor.tau_est for motor in motors], [roll, pitch, place.yaw],
            self.seen.state.imu_state.gyroscope, self.touching, place[:2],
        ])  # fmt: skip

    @property
    def _origin(self) -> Pose:
        return self._begun[1] if self._begun else self.seen.place

    @property
    def _up(self) -> bool:
        return rests_on_feet(self.seen.state.imu_state.quaternion)


def _episodes(robot: Robot, trace: np.ndarray, fell: bool) -> Episodes:
    """A stretch as the only one of some episodes, by what its sensors read; some measures need more."""
    at, rows = TraceColumns.of(robot), trace.astype(np.float64)
    places = np.vstack([np.zeros(2), rows[:, at.position : at.position + 2]])
    progress = TARGET_X - np.hypot(TARGET_X - places[:, 0], places[:, 1])
    yaw = np.unwrap(rows[:, at.attitude + 2])
    turned = robot.joint_half_ranges * rows[:, at.angle : at.torque]
    moved = np.diff(turned, axis=0, prepend=turned[:1])
    midway = min(len(rows), round(MIDWAY * robot.description.episode_steps))
    return Episodes(
        objectives=progress[-1:],
        measures=np.full((1, robot.measure_dim), np.nan),
        diverged=np.zeros(1, np.bool_),
        steps=np.array([len(rows)]),
        distances=progress[-1:],
        energies=np.array([abs(moved * rows[:, at.torque : at.attitude]).sum()]),
        fell=np.array([fell]),
        midway=progress[[midway]],
        lateral=places[-1:, 1],
        heading=np.array([wrapped_angle(float(yaw[-1]))]),
        contacts=rows[:, at.contact : at.position].mean(axis=0, keepdims=True),
    )

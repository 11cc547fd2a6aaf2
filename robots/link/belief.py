"""`Belief`: which states of a robot are believed, by the one before and by the clock of this computer."""

from __future__ import annotations

import numpy as np

from robots.attitude import turned_by
from robots.errors import InvalidValueError
from robots.link.interface import Interface
from robots.link.messages import State

_AHEAD = 0.5  # [s] that the robot's clock may gain on this computer's, and ...
_DRIFT = 0.02  # of the time since the first state
_EARLY = 0.75  # control steps between two states, at the least, or a gait would be played too fast
_FASTEST = 10.0  # [m/s] that odometry may tell of a robot
_WHIRL = 50.0  # [rad/s] that its attitude may tell while it is driven
_SLACK = 0.5  # [m or rad] by which they may exceed that on the whole
_WITHIN = 0.1  # [s] for which these speeds count, however long no state came
_FROZEN = 0.2  # [s] of other and other commands, in which what sensors tell must change


class Belief:
    """Checks states in the order in which they come.

    Args:
        face: of the robot that tells them.

    Attributes:
        last: the newest state that was believed, None before the first.
    """

    def __init__(self, face: Interface) -> None:
        self.last: State | None = None
        self._counts = len(face.motors), len(face.robot.description.feet)
        self._least = _EARLY * face.robot.control_step
        self._most_still = round(_FROZEN / face.robot.control_step)
        self._begun: tuple[float, float] | None = None  # by the robot's clock, and by this computer's [s]
        self._excess = {"odometry": 0.0, "IMU": 0.0}  # beyond what these speeds allow
        self._still = {"joints": 0, "IMU": 0}  # new commands since they told anything new
        self._commanded: object = None

    def take(self, state: State, now: float, sent: int, commanded: object) -> None:
        """Believe a state, which is then the last.

        Args:
            state: that came.
            now: when, by this computer's clock [s].
            sent: number of the last command.
            commanded: what it said; None where the robot is damped.

        Raises:
            InvalidValueError: it is not believed, for the reason that the error says.
        """
        if (counts := (len(state.motor_state), len(state.foot_force))) != self._counts:
            raise InvalidValueError(f"it has {counts[0]} motors and {counts[1]} feet")
        if state.answered > sent:
            raise InvalidValueError(f"it answers the command {state.answered}, and {sent} were sent")
        theirs, ours = self._begun = self._begun or (state.time, now)
        if (ahead := state.time - theirs - (1 + _DRIFT) * (now - ours)) > _AHEAD:
            raise InvalidValueError(f"its clock is {ahead:.4g} s ahead")
        if self.last is not None:
            self._check_order(state, self.last)
            self._check_jumps(state, self.last)
            self._check_frozen(state, self.last, commanded)
        self.last = state

    def _check_order(self, state: State, last: State) -> None:
        if state.seq <= last.seq:
            raise InvalidValueError(f"its number is {state.seq}, after {last.seq}")
        if state.time <= last.time:
            raise InvalidValueError(f"its clock says {state.time:.2f} s, after {last.time:.2f} s")
        if state.time - last.time < self._least:
            raise InvalidValueError("it tells more than a state in a control step")
        if (state.odometry is None) != (last.odometry is None):
            raise InvalidValueError(f"its odometry has {'ended' if last.odometry else 'begun'} midway")

    def _check_jumps(self, state: State, last: State) -> None:
        passed = min(state.time - last.time, _WITHIN)
        if state.odometry and last.odometry:
            way = float(np.linalg.norm(np.subtract(state.odometry.position, last.odometry.position)))
            self._check_speed("odometry", way, _FASTEST * passed, "m")
        if state.mode == last.mode == "driven":  # else somebody may set it upright
            angle = turned_by(last.imu_state.quaternion, state.imu_state.quaternion)
            self._check_speed("IMU", angle, _WHIRL * passed, "rad")

    def _check_speed(self, what: str, way: float, allowed: float, unit: str) -> None:
        excess = max(0.0, self._excess[what] + way - allowed)
        if excess > _SLACK:
            raise InvalidValueError(f"its {what} jumped by {way:.2f} {unit}")
        self._excess[what] = excess

    def _check_frozen(self, state: State, last: State, commanded: object) -> None:
        """Sensors that tell the same bit for bit, while motors are told one thing after another."""
        other, self._commanded = commanded not in (None, self._commanded), commanded
        same = {"joints": state.motor_state == last.motor_state, "IMU": state.imu_state == last.imu_state}
        for part, still in same.items():
            self._still[part] = (self._still[part] + other) * still
            if self._still[part] > self._most_still:
                raise InvalidValueError(f"sensors of its {part} are frozen")

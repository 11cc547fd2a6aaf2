"""What a robot and the computer that drives it tell each other, as JSON; all that arrives is checked.

Names of fields are those of Unitree's LowState and LowCmd, so that a bridge has little to do.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import numpy as np
from pydantic import Field, ValidationError, model_validator

from robots.errors import InvalidValueError, shown
from robots.files.records import Finite, Record
from robots.files.texts import LARGEST
from robots.link.interface import Interface

PROTOCOL = 1
TAKEN = "another computer drives this robot"  # a refusal that passes
MOST_BYTES = 65_536  # of a message
_STIFFER = 2.0  # times a robot's own gains that a command may ask for
_BEYOND = 1e-6  # [rad or m] that a target may lie beyond its range, by rounding
Mode = Literal["ready", "driven", "damping"]
_Three = tuple[Finite, Finite, Finite]
_Number = Annotated[int, Field(ge=0, lt=2**53, strict=True)]
_Gain = Annotated[float, Field(ge=0, le=LARGEST, strict=True)]
_MostMotors = Field(max_length=1000)


class MotorState(Record):
    """What a motor reports: position [rad], speed [rad/s], torque [N·m], temperature [°C] or None."""

    q: Finite
    dq: Finite
    tau_est: Finite
    temperature: Finite | None = None


class ImuState(Record):
    """What an IMU reports: attitude w, x, y, z; rates [rad/s]; acceleration less that of free fall [m/s²]."""

    quaternion: tuple[Finite, Finite, Finite, Finite]
    gyroscope: _Three
    accelerometer: _Three

    @model_validator(mode="after")
    def _is_rotation(self) -> ImuState:
        if not 0.9 < float(np.linalg.norm(self.quaternion)) < 1.1:
            raise ValueError(f"a quaternion must have length 1, not {list(self.quaternion)}")
        return self


class Odometry(Record):
    """Where the torso is [m], and its velocity [m/s], along the axes of the world; few robots know it."""

    position: _Three
    velocity: _Three


class State(Record):
    """What the robot is like after a control step."""

    seq: _Number  # number of the message; each is greater than the last
    time: Annotated[float, Field(ge=0, le=1e9, strict=True)]  # of the robot's clock [s]
    mode: Mode  # see `robots.link.server`; motors have stiffness only if `driven`
    answered: _Number  # number of the last command that counts, 0 if none
    # of each joint, in the order of the handshake
    motor_state: Annotated[tuple[MotorState, ...], _MostMotors]
    imu_state: ImuState  # of the torso
    # of each foot [N], in the order of the handshake; above 0 on the floor
    foot_force: Annotated[tuple[Finite, ...], _MostMotors]
    odometry: Odometry | None = None  # None where the robot does not know


class MotorCommand(Record):
    """A motor gives tau + kp (q - its position) + kd (dq - its speed); in mode 0 only the damping -kd dq."""

    mode: Literal[0, 1]
    q: Finite
    dq: Finite
    kp: _Gain
    kd: _Gain
    tau: Finite


class CommandMessage(Record):
    """What each motor is to do until the next command."""

    session: Annotated[str, Field(max_length=64)]  # that the handshake gave
    seq: _Number  # number of the message; each is greater than the last
    motor_cmd: Annotated[tuple[MotorCommand, ...], _MostMotors]  # of each joint


class Hello(Record):
    """What the computer asks, and the robot answers: who it is."""

    protocol: _Number  # version of these messages
    robot: Annotated[str, Field(max_length=1000)] = ""  # name
    joints: Annotated[tuple[str, ...], _MostMotors] = ()  # in the order of states and commands
    feet: Annotated[tuple[str, ...], _MostMotors] = ()  # in the order of `State.foot_force`
    control_step: Annotated[float, Field(ge=0, le=10, strict=True)] = 0.0  # between two states [s]
    model: Annotated[str, Field(max_length=64)] = ""  # hash of the robot's model, see `Interface.model_hash`
    target_rate: _Gain = 0.0  # that its YAML declares [rad/s or m/s], 0 if none
    session: Annotated[str, Field(max_length=64)] = ""  # for the commands that follow; "" with `refusal`
    refusal: Annotated[str, Field(max_length=1000)] = ""  # why the robot takes no commands, "" if it does

    @classmethod
    def of(cls, face: Interface, **more: str) -> Hello:
        """That of a robot."""
        return cls(
            protocol=PROTOCOL,
            robot=face.robot.name,
            joints=face.robot.description.joints,
            feet=tuple(face.robot.description.feet),
            control_step=face.robot.control_step,
            model=face.model_hash,
            target_rate=face.rate if np.isfinite(face.rate) else 0.0,
            **more,
        )

    def unlike(self, gait: Hello) -> str:
        """Why this robot is not that of a gait, "" if it is."""
        names = ("protocol", "joints", "feet", "control_step", "model")
        differ = [name.replace("_", " ") for name in names if getattr(self, name) != getattr(gait, name)]
        if not differ:
            return ""
        return f"is another one, {self.robot!r}, than the gait's, {gait.robot!r}: they differ in {differ[0]}"


M = TypeVar("M", bound=Record)


def decode(kind: type[M], message: bytes, *more: bytes) -> M:
    """Read a message of one part."""
    if more:
        raise InvalidValueError(f"a message must have one part, not {1 + len(more)}")
    if len(message) > MOST_BYTES:
        raise InvalidValueError(f"a message must have at most {MOST_BYTES} bytes, not {len(message)}")
    try:
        return kind.model_validate_json(message)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidValueError(
            f"not the expected message: {shown(where) if where else 'JSON'}: {first['msg']}"
        ) from error


def encode(message: Record) -> bytes:
    """Write a message."""
    return message.model_dump_json().encode()


def check_commands(face: Interface, commands: tuple[MotorCommand, ...]) -> None:
    """Refuse commands whose targets, gains or torques are not what the motors of a robot may be told."""
    if len(commands) != len(face.motors):
        raise InvalidValueError(f"a command must be for {len(face.motors)} motors, not {len(commands)}")
    columns = [(c.mode * c.q, c.kp, c.kd, c.kd * abs(c.dq) + abs(c.tau)) for c in commands]
    q, kp, kd, tau = np.array(columns).T * [command.mode for command in commands]
    low, high, _ = face.allowed
    most = np.maximum(face.limit, abs(face.torque_offset) + abs(face.torque_scale)) + _BEYOND
    wrong = {
        "a position outside the joint's range": (kp > 0) & ((q < low - _BEYOND) | (q > high + _BEYOND)),
        "more stiffness than twice its own": kp > _STIFFER * face.kp,
        "more damping than twice its own": kd > _STIFFER * damping(face),
        "more torque than it gives": tau > most,
    }
    for what, where in wrong.items():
        if where.any():
            raise InvalidValueError(
                f"a command tells {face.robot.description.joints[int(np.argmax(where))]} {what}"
            )


def motor_commands(
    face: Interface, action: np.ndarray, last: np.ndarray | None = None
) -> tuple[MotorCommand, ...]:
    """What an action from -1 to 1 tells the motors of a robot, with the gains that it was trained with.

    Targets are kept to what is allowed after the `last` ones, (j,).
    """
    action = np.clip(np.asarray(action, np.float64), -1, 1)
    q, tau = face.kept(face.targets(action), last), face.torque_offset + face.torque_scale * action
    rows = zip(q.tolist(), face.kp.tolist(), face.kd.tolist(), tau.tolist(), strict=True)
    return tuple(MotorCommand(mode=1, q=q, dq=0.0, kp=kp, kd=kd, tau=tau) for q, kp, kd, tau in rows)


def damping_commands(face: Interface) -> tuple[MotorCommand, ...]:
    """Commands with which a robot sinks down slowly: no stiffness, and the gains of `damping`."""
    return tuple(MotorCommand(mode=0, q=0.0, dq=0.0, kp=0.0, kd=kd, tau=0.0) for kd in damping(face).tolist())


def damping(face: Interface) -> np.ndarray:
    """Gains in damping [N·m·s/rad], (j,): its own, but a fiftieth of the greatest torque at least."""
    return np.maximum(face.kd, np.where(np.isinf(face.limit), 0.0, face.limit / 50))

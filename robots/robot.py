"""`Robot`: an MJCF and its YAML, validated and ready to be simulated, and how robots are found and read."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import cloudpickle
import mujoco
import numpy as np
from yaml import safe_dump

from robots.catalogue import known_robots, packaged_file
from robots.controllers.controller import Controller, ControllerDescription, Plant
from robots.controllers.network import MOST_BYTES
from robots.description import CONTROLLERS, Description, parse_description
from robots.errors import InvalidRobotError, InvalidValueError, UnknownNameError, naming, one_line
from robots.files.atomic import explain_errors
from robots.files.records import validate
from robots.files.texts import parse_yaml, read_bytes, read_text
from robots.looks import dress
from robots.mjcf.compiling import read_spec
from robots.mjcf.reading import read_self_contained
from robots.mjcf.urdf import read_urdf
from robots.model import adjust, compile_models, compile_physics, compile_robot, strip
from robots.task.measures import even_cells
from robots.task.observations import Channel, Entry, Sensed, channels, entries

_YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class Faults:
    """Faults of a robot's signals; readings of sensors have the names and units of `Robot.channels`."""

    delay: int = 0  #: control steps by which every action comes late; until the first has come they are 0
    #: further ones by which the actions of single joints do
    late: Mapping[str, float] = field(default_factory=dict)
    #: share of the control steps in which a joint's action is lost: its motor goes on as it was told before
    dropped: Mapping[str, float] = field(default_factory=dict)
    stuck: Mapping[str, float] = field(default_factory=dict)  #: value that a reading always has
    biased: Mapping[str, float] = field(default_factory=dict)  #: what is added to a reading
    #: share of the control steps in which a reading stays as it was
    missing: Mapping[str, float] = field(default_factory=dict)
    #: standard deviation of what is added to a reading every control step
    noisy: Mapping[str, float] = field(default_factory=dict)
    rounded: Mapping[str, float] = field(default_factory=dict)  #: step of which a reading is a multiple
    #: angle [rad] that the controller sees, with no speed, of a joint that the model lacks; of others 0
    fixed: Mapping[str, float] = field(default_factory=dict)
    #: backlash of a joint's gear to either side, in units of its motor's control (of a servo [rad])
    play: Mapping[str, float] = field(default_factory=dict)
    #: joints whose motor gets the action of another joint, and which joint that is
    swapped: Mapping[str, str] = field(default_factory=dict)

    def __add__(self, other: "Faults") -> "Faults":
        """Both: delays add up, and where both name a reading or joint the second counts."""
        both = {
            name: {**values, **getattr(other, name)} for name, values in vars(self).items() if name != "delay"
        }
        return Faults(delay=self.delay + other.delay, **both)


NO_FAULTS = Faults()
Edit = Callable[[mujoco.MjSpec], None]
Patch = Callable[[mujoco.MjModel], None]


@dataclass(frozen=True)
class Modification:
    """A change to a robot's model."""

    label: str  #: what to call it
    edit: Edit | None = None  #: of a spec, in place; may remove joints, motors and geoms of the description
    faults: Faults = NO_FAULTS  #: what the change does to the robot's signals, which no model can express
    #: of the compiled model, in place, after all edits; must do without what they removed
    patch: Patch | None = None

    def __reduce__(self) -> tuple[Callable, tuple[type["Modification"], bytes]]:
        # most edits are functions within functions, which Python's own pickle refuses
        return _unpickled, (type(self), cloudpickle.dumps(vars(self)))


def _unpickled(kind: type[Modification], fields: bytes) -> Modification:
    return kind(**cloudpickle.loads(fields))


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot: its description, its texts and its compiled model.

    A damaged robot keeps its description: joints, motors and feet that it lost are still listed there,
    and absent from the model. That is why a controller keeps its inputs and outputs.
    """

    description: Description  #: the validated YAML
    xml: str  #: the MJCF, before damage
    yaml: str
    model: mujoco.MjModel  #: to look at, read-only
    #: to simulate: without what is only there to be looked at, and with a contact sensor for every sole;
    #: positions and velocities mean the same in both
    physics: mujoco.MjModel
    joint_ranges: np.ndarray  #: lowest and highest position of each actuated joint when whole [rad], (j, 2)
    #: position of joints at the start of an episode, where the description gives one
    start: Mapping[str, np.ndarray]
    #: what actions of -1 and 1 command: positions of servos, torques of motors [rad or N m], (j, 2)
    targets: np.ndarray
    #: what else its description names, such as a policy, by the names there
    files: Mapping[str, bytes] = field(default_factory=dict)
    modifications: tuple[Modification, ...] = ()  #: what was done to the robot since it was whole, in order
    #: keys of the YAML that were given other values, see `with_task`
    task: Mapping[str, Any] = field(default_factory=dict)
    ends_at_fall: bool = False  #: whether episodes end once it has fallen, see `robots.falls`, in any case

    def __repr__(self) -> str:
        changes = "".join(f", {change.label}" for change in self.modifications)
        return f"<Robot {self.name}: {self.description.title}{changes}>"

    def __getstate__(self) -> dict[str, Any]:
        # specs of MuJoCo and sessions of onnxruntime cannot be pickled; both are made again where needed
        made_again = ("nominal_spec", "controller")
        return {name: value for name, value in vars(self).items() if name not in made_again}

    @property
    def name(self) -> str:
        """The robot's identifier."""
        return self.description.name

    @property
    def kept_xml(self) -> str:
        """The MJCF as files hold it: "" of a model that is part of another package."""
        return "" if self.description.package else self.xml

    @property
    def root_joint(self) -> int:
        """Number of the torso's first joint, which moves the whole robot."""
        return int(self.physics.body(self.description.torso).jntadr[0])

    @property
    def moves_freely(self) -> bool:
        """Whether the torso moves freely in space, not in the x-z plane."""
        return bool(self.physics.jnt_type[self.root_joint] == mujoco.mjtJoint.mjJNT_FREE)

    @property
    def joint_middles(self) -> np.ndarray:
        """Middle of each actuated joint's range [rad], (j,)."""
        return self.joint_ranges.mean(axis=1)

    @property
    def joint_half_ranges(self) -> np.ndarray:
        """Half of the width of each actuated joint's range [rad], (j,)."""
        return np.diff(self.joint_ranges)[:, 0] / 2

    @property
    def control_step(self) -> float:
        """Duration of a control step [s]."""
        return self.model.opt.timestep * self.description.substeps

    @property
    def action_dim(self) -> int:
        """Number of actions: one per actuated joint."""
        return len(self.description.joints)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """What its sensors read, in order."""
        return channels(self._sensed)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The numbers that its controller sees, in order, with units."""
        return entries(self._sensed)

    @property
    def observation_dim(self) -> int:
        """Number of observations; of the paper's 8 of the torso, 2 per joint, 1 per foot."""
        return len(self.entries)

    @property
    def _sensed(self) -> Sensed:
        description, joints = self.description, []
        for name, (low, high) in zip(description.joints, self.joint_ranges.tolist(), strict=True):
            number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name)
            slides = number >= 0 and self.model.jnt_type[number] == mujoco.mjtJoint.mjJNT_SLIDE
            joints.append((name, "m" if slides else "rad", (low, high), self.start_of(name)))
        return Sensed(description.observations, tuple(description.feet), tuple(joints), self.control_step)

    @property
    def measure_dim(self) -> int:
        """Number of measures."""
        return len(self.description.measures)

    @property
    def measure_ranges(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest value of each measure."""
        return tuple(self.description.measures.values())

    @cached_property
    def controller(self) -> Controller:
        """The controller that its description asks for."""
        description = self.description
        return description.controller.build(
            Plant(
                self.entries,
                description.joints,
                description.leg_joints,
                self.control_step,
                self.targets,
                self.files,
            )
        )

    @cached_property
    def faults(self) -> Faults:
        """All faults of its signals, which its model cannot express."""
        return sum((modification.faults for modification in self.modifications), NO_FAULTS)

    def start_of(self, joint: str) -> float:
        """Position of an actuated joint at the start of an episode [rad or m]."""
        return float(self.start[joint][0]) if joint in self.start else 0.0

    def modified(self, label: str, edit: Edit | None = None, faults: Faults = NO_FAULTS) -> "Robot":
        """The robot after one more `Modification`."""
        return self.with_modifications(Modification(label, edit, faults))

    def with_modifications(self, *more: Modification, unseen: bool = False) -> "Robot":
        """The robot after further changes to its model, which is compiled at most once.

        Where nobody looks at it (`unseen`), `model` is `physics`, and what is only there to be looked at is
        missing before the changes, which saves more than half of the time.
        """
        if not more:
            return self
        every = (*self.modifications, *more)
        model, physics = self.model, self.physics
        if any(change.edit for change in more):
            origin = f"{self.name} with {', '.join(change.label for change in every)}"
            spec = self.nominal_spec.copy() if unseen else self.spec()
            if not unseen:
                dress(spec, self.description)
            for edit in filter(None, (change.edit for change in every)):
                edit(spec)
            if unseen:
                model = physics = compile_physics(spec, self.description, origin)
            else:
                model, physics = compile_models(spec, self.description, origin)
            more = every
        if patches := [change.patch for change in more if change.patch]:
            physics = copy.copy(physics)
            model = physics if unseen else copy.copy(model)
            for patch in patches:
                for changed in (physics,) if unseen else (physics, model):
                    patch(changed)
        return replace(self, model=model, physics=physics, modifications=every)

    def as_written(self) -> "Robot":
        """The robot whose MJCF holds its modifications, in 6 digits, so that a file can hold it."""
        if not self.modifications:
            return self
        origin = f"{self.name} with {', '.join(change.label for change in self.modifications)}"
        spec = self.spec()
        for change in self.modifications:
            if change.edit is None or change.patch or change.faults != NO_FAULTS:
                raise InvalidValueError(
                    f"no file can hold this robot: no MJCF can express {change.label!r} of the {origin}"
                )
            change.edit(spec)
        content: Any = parse_yaml(self.yaml)
        done = {"package", "keyframe", "ranges", "servos"}
        done |= {"terrain"} if self.description.terrain.own.angle else set()
        start = {name: part.tolist() for name, part in self.start.items()}
        content = {key: value for key, value in content.items() if key not in done} | {"start": start}
        try:
            spec.compile()
            text = safe_dump(content, sort_keys=False)
            written = robot_from_text(spec.to_xml(), text, origin=origin, files=self.files)
        except (ValueError, InvalidRobotError) as error:
            raise InvalidValueError(f"no file can hold this robot: {one_line(error)}") from error
        update = {key: getattr(written.description, key) for key in ("start", *done)}
        description = self.description.model_copy(update=update)
        return replace(written, description=description, task=self.task, ends_at_fall=self.ends_at_fall)

    def with_episode_steps(self, steps: int | None) -> "Robot":
        """The robot with another limit on its episodes [control steps], or None; it shares the model."""
        if steps is None:
            return self
        return replace(self, description=self.description.model_copy(update={"episode_steps": steps}))

    def until_it_falls(self) -> "Robot":
        """The robot whose episodes end once it has fallen, see `ends_at_fall`; it shares the model."""
        return replace(self, ends_at_fall=True)

    def with_command(self, speed: float, turn: float) -> "Robot":
        """The robot in whose episodes this is the command [m/s, rad/s]; it shares the model."""
        command = self.description.command
        if command is None:
            raise InvalidValueError(
                f"{self.name} is told no speed and no turn: its YAML has no command, so its gaits follow none"
            )
        narrowed = command.narrowed(speed, turn)
        return replace(self, description=self.description.model_copy(update={"command": narrowed}))

    def with_task(self, **changes: Any) -> "Robot":
        """The robot with other `measures` (and even cells) or another `reward`, as in the YAML."""
        if not changes:
            return self
        task = {**self.task, **changes}
        cells = {"archive": even_cells(len(task["measures"]) or 1)} if "measures" in task else {}
        yaml: Any = parse_yaml(self.yaml)
        found = validate(Description, {**yaml, **task, **cells})
        update = {name: getattr(found, name) for name in (*task, *cells)}
        return replace(self, description=self.description.model_copy(update=update), task=task)

    def with_controller(self, controller: ControllerDescription | str) -> "Robot":
        """The robot driven by other controllers, of a description or of a shape such as `mlp-28-16-8`."""
        if isinstance(controller, str):
            if controller == self.controller.shape:
                return self
            sizes = {"observation_dim": self.observation_dim, "action_dim": self.action_dim}
            fitting = filter(None, (kind.from_shape(controller, **sizes) for kind in CONTROLLERS.values()))
            found = next(fitting, None)
            if found is None:
                raise InvalidValueError(
                    f"its controllers are {controller!r}, but those of its robot, {self.name}, are "
                    f"{self.controller.shape!r}"
                )
            controller = found
        try:
            controller.check_parts(self.description.joints, self.description.leg_joints)
        except ValueError as error:
            raise InvalidValueError(str(error)) from error
        return replace(self, description=self.description.model_copy(update={"controller": controller}))

    @cached_property
    def nominal_spec(self) -> mujoco.MjSpec:
        """`spec` without what is only there to be looked at; to be read, or copied."""
        spec = self.spec()
        strip(spec, self.description)
        return spec

    def spec(self) -> mujoco.MjSpec:
        """A fresh editable copy of the whole robot's model, without modifications."""
        spec = read_spec(self.xml)
        adjust(spec, self.description)
        for key in list(spec.keys):  # they would not fit a robot that loses joints
            spec.delete(key)
        return spec


@cache
def load_robot(name: str) -> Robot:
    """Load a robot that comes with the package, or is in the zoo."""
    known = known_robots()
    if name not in known:
        raise UnknownNameError("robot", name, known)
    return read_robot(known[name])


def find_robot(text: str | Path) -> Robot:
    """Find a robot by the name of an included one or one of the zoo, or by the path of a YAML."""
    text, path = str(text), Path(text)
    if text in known_robots():  # even if a file or folder has this name
        return load_robot(text)
    if path.suffix.lower() in _YAML:
        return read_robot(path)
    if path.suffix.lower() == ".xml":
        raise InvalidRobotError(
            f"{text} is an MJCF, but a robot is named by the YAML that describes it: "
            f"`surefoot robots --draft {text}` writes a first one"
        )
    with explain_errors(f"{text} cannot be read"):
        is_place = len(path.parts) > 1 or path.is_dir()
    if is_place:
        found = sorted(str(other) for kind in _YAML for other in path.glob(f"*{kind}"))
        raise InvalidRobotError(
            f"{text} is not the YAML of a robot; YAML files in this folder: {', '.join(found) or 'none'}"
        )
    return load_robot(text)


def read_description(path: Path) -> tuple[Description, str]:
    """Read a YAML without its model; returns its text, too."""
    text = read_text(path)
    return parse_description(text, origin=str(path)), text


def read_robot(path: Path) -> Robot:
    """Read a robot from its YAML, and the MJCF in the same folder with all that this refers to."""
    description, text = read_description(path)
    xml = _packaged(description, str(path)) or read_self_contained(path.parent / description.model)
    files = {name: read_bytes(path.parent / name, MOST_BYTES) for name in description.controller.files}
    return _built(description, xml, text, files, str(path))


def robot_from_text(xml: str, yaml: str, *, origin: str, files: Mapping[str, bytes] | None = None) -> Robot:
    """Build a robot from the texts of its MJCF and YAML and its other files, as a repertoire holds them."""
    description = parse_description(yaml, origin=f"{origin} (robot YAML)")
    return _built(description, _packaged(description, origin) or xml, yaml, files or {}, origin)


def _packaged(description: Description, origin: str) -> str:
    """The MJCF of a robot whose model, an MJCF or URDF, is part of another package; "" of others."""
    if description.package is None:
        return ""
    with naming(origin, InvalidRobotError, InvalidRobotError):
        model = packaged_file(description.package.name, description.model)
        return read_urdf(model)[0] if model.suffix == ".urdf" else read_self_contained(model)


def _built(description: Description, xml: str, yaml: str, files: Mapping[str, bytes], origin: str) -> Robot:
    robot = Robot(description, xml, yaml, *compile_robot(xml, description, origin), files)
    with naming(origin, InvalidRobotError):
        _ = robot.controller
    return robot

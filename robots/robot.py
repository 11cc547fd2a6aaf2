"""`Robot`: a validated twin of MJCF and YAML, ready to be simulated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import mujoco
import numpy as np

from robots.actuation import check_actuators
from robots.catalogue import MODELS, robot_names
from robots.description import ControllerShape, Description, parse_description, read_text
from robots.elements import check_elements
from robots.errors import InvalidRobotError, UnknownNameError
from robots.faults import NO_FAULTS, Faults
from robots.importing.mjcf import read_self_contained
from robots.pose import keyframe_positions
from robots.ranges import narrow

# what the controller sees of the torso; directions are those of its own heading
_TORSO = (
    "height above the start",
    "sine of the bearing of the target",
    "cosine of the bearing of the target",
    "forward speed",
    "sideward speed",
    "upward speed",
    "roll",
    "pitch",
)


@dataclass(frozen=True)
class Modification:
    """A change to a robot's model.

    Attributes:
        label: what to call it.
        edit: makes it, in place; it may remove joints, motors and geoms that the description lists.
        faults: what the change does that no model can express.
    """

    label: str
    edit: Callable[[mujoco.MjSpec], None]
    faults: Faults = NO_FAULTS


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot: its description, its texts and its compiled model.

    A damaged robot keeps its description: joints, motors and feet that it lost are still listed there,
    and absent from the model. That is why a controller keeps its inputs and outputs.

    Attributes:
        description: the validated YAML.
        xml: the MJCF as text, before damage.
        yaml: the YAML as text.
        model: the compiled model, to look at; treat it as read-only.
        physics: the same without what is only there to be looked at, and with a contact sensor for every
            sole: what is simulated, some percent faster. Positions and velocities mean the same in both.
        joint_ranges: lowest and highest position of each actuated joint of the whole robot [rad], (j, 2).
        start: position of each joint at the start of an episode, as far as the description names a keyframe.
        modifications: what was done to the robot since it was whole, in order.
    """

    description: Description
    xml: str
    yaml: str
    model: mujoco.MjModel
    physics: mujoco.MjModel
    joint_ranges: np.ndarray
    start: Mapping[str, np.ndarray]
    modifications: tuple[Modification, ...] = ()

    @property
    def name(self) -> str:
        """The robot's identifier."""
        return self.description.name

    @property
    def control_step(self) -> float:
        """Duration of a control step [s]."""
        return self.model.opt.timestep * self.description.substeps

    @property
    def action_dim(self) -> int:
        """Number of actions: one per actuated joint."""
        return len(self.description.joints)

    @property
    def observation_dim(self) -> int:
        """Number of observations: 8 of the torso, 2 per joint, 1 per foot."""
        return len(_TORSO) + 2 * len(self.description.joints) + len(self.description.feet)

    @property
    def measure_dim(self) -> int:
        """Number of measures."""
        return len(self.description.measures)

    @property
    def measure_ranges(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest value of each measure, a share of time."""
        return ((0.0, 1.0),) * self.measure_dim

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What the controller sees, in order; of joints and feet `NAME position`, `speed` and `contact`."""
        joints = (f"{joint} {what}" for joint in self.description.joints for what in ("position", "speed"))
        return (*_TORSO, *joints, *(f"{foot} contact" for foot in self.description.feet))

    @property
    def faults(self) -> Faults:
        """What is wrong with it that its model cannot express."""
        return sum((modification.faults for modification in self.modifications), NO_FAULTS)

    def modified(
        self, label: str, edit: Callable[[mujoco.MjSpec], None], faults: Faults = NO_FAULTS
    ) -> "Robot":
        """The robot after one more change to its model.

        Args:
            label: what to call the change.
            edit: see `Modification`.
            faults: see `Modification`.

        Raises:
            InvalidRobotError: the changed model does not compile.
        """
        modifications = (*self.modifications, Modification(label, edit, faults))
        spec = self.spec()
        for modification in modifications:
            modification.edit(spec)
        origin = f"{self.name} with {', '.join(modification.label for modification in modifications)}"
        model, physics = _compile(spec, self.description, origin)
        return replace(self, model=model, physics=physics, modifications=modifications)

    def with_episode_steps(self, steps: int) -> "Robot":
        """The robot with another limit on its episodes [control steps]; it shares the model."""
        return replace(self, description=self.description.model_copy(update={"episode_steps": steps}))

    def with_controller(self, shape: ControllerShape) -> "Robot":
        """The robot driven by other controllers; it shares the model."""
        return replace(self, description=self.description.model_copy(update={"controller": shape}))

    def spec(self) -> mujoco.MjSpec:
        """A fresh editable copy of the whole robot's model, without modifications."""
        spec = mujoco.MjSpec.from_string(self.xml)
        narrow(spec, self.description.ranges)
        for key in list(spec.keys):  # they would not fit a robot that loses joints
            spec.delete(key)
        return spec


@cache
def load_robot(name: str) -> Robot:
    """Load a robot that comes with the package.

    Raises:
        UnknownNameError: there is no robot of that name.
    """
    if name not in robot_names():
        raise UnknownNameError("robot", name, robot_names())
    return read_robot(MODELS / name / f"{name}.yaml")


def read_robot(path: Path) -> Robot:
    """Read a robot from its YAML and the MJCF that it names beside it, with all that this refers to.

    Raises:
        InvalidRobotError: a file cannot be read, or they do not describe a robot.
    """
    text = read_text(path)
    description = parse_description(text, origin=str(path))
    return _build(description, read_self_contained(path.parent / description.model), text, origin=str(path))


def robot_from_text(xml: str, yaml: str, *, origin: str) -> Robot:
    """Build a robot from the texts of its MJCF and YAML, as a repertoire holds them.

    Raises:
        InvalidRobotError: the texts do not describe a robot.
    """
    return _build(parse_description(yaml, origin=f"{origin} (robot YAML)"), xml, yaml, origin=origin)


def _build(description: Description, xml: str, yaml: str, *, origin: str) -> Robot:
    """Compile and check a whole robot."""
    try:
        spec = mujoco.MjSpec.from_string(xml)
    except ValueError as error:
        raise InvalidRobotError(f"{origin}: the MJCF cannot be read: {_one_line(error)}") from error
    check_elements(spec, description, origin)
    narrow(spec, description.ranges)
    model, physics = _compile(spec, description, origin)
    check_actuators(model, description.joints, origin)
    ranges, start = _joint_ranges(model, description, origin), keyframe_positions(model, description.keyframe)
    return Robot(description, xml, yaml, model, physics, ranges, start)


def _joint_ranges(model: mujoco.MjModel, description: Description, origin: str) -> np.ndarray:
    """Ranges of the actuated joints, (j, 2); refuses joints that have none."""
    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    joints = [model.joint(name) for name in description.joints]
    for joint in joints:
        if model.jnt_type[joint.id] not in kinds:
            raise InvalidRobotError(f"{origin}: the joint {joint.name!r} must be a hinge or a slide")
    free = [
        joint.name
        for joint in joints
        if not model.jnt_limited[joint.id] or not joint.range[0] < joint.range[1]
    ]
    if free:
        raise InvalidRobotError(
            f"{origin}: each actuated joint needs a limited range, in the MJCF or in the YAML, such as "
            f"ranges: {{{free[0]}: [-0.8, 0.8]}}; without one: {', '.join(free)}"
        )
    return np.array([joint.range for joint in joints])


def _compile(
    spec: mujoco.MjSpec, description: Description, origin: str
) -> tuple[mujoco.MjModel, mujoco.MjModel]:
    """Compile the model to look at and the model to simulate."""
    try:
        model = spec.compile()
        _strip(spec, description)
        for foot, soles in description.feet.items():
            for number, sole in enumerate(soles):
                if spec.geom(sole) is not None:
                    _add_contact_sensor(spec, contact_sensor(foot, number), sole, description.floor)
        return model, spec.compile()
    except ValueError as error:
        raise InvalidRobotError(f"{origin}: the MJCF does not compile: {_one_line(error)}") from error


def _strip(spec: mujoco.MjSpec, description: Description) -> None:
    """Delete geoms without mass and contact, which MuJoCo would place in every step, and their meshes."""
    kept = {description.floor, *(sole for soles in description.feet.values() for sole in soles)}
    for geom in list(spec.geoms):
        weightless = geom.density == 0 and not geom.mass > 0  # a mass that is not given is NaN
        if weightless and not geom.contype and not geom.conaffinity and geom.name not in kept:
            spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)


def contact_sensor(foot: str, number: int) -> str:
    """Name of the sensor that tells whether a foot's sole touches the floor."""
    return f"surefoot_{foot}_{number}_contact"


def _add_contact_sensor(spec: mujoco.MjSpec, name: str, sole: str, floor: str) -> None:
    """Add a sensor that reads the number of contacts between a sole and the floor."""
    found = 1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND)
    spec.add_sensor(
        name=name,
        type=mujoco.mjtSensor.mjSENS_CONTACT,
        objtype=mujoco.mjtObj.mjOBJ_GEOM,
        objname=sole,
        reftype=mujoco.mjtObj.mjOBJ_GEOM,
        refname=floor,
        intprm=[found, 0, 1],
    )


def _one_line(error: Exception) -> str:
    """An error's message without line breaks."""
    return " ".join(str(error).split())

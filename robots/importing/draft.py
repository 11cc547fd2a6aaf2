"""`draft_robot` writes a first YAML for an MJCF."""

import re
from collections.abc import Iterable
from pathlib import Path

import mujoco
import numpy as np
import yaml

from robots.errors import InvalidRobotError, InvalidValueError
from robots.files import file_exists, write_text
from robots.importing.anatomy import Parts, find_floor, find_parts
from robots.importing.mjcf import read_self_contained
from robots.model import goes_beyond, keyframe_positions, standing_data

_CONTROL_STEP = 0.02  # [s] approximately
_CELLS = 1296  # of the archive at most: 6 x 6 x 6 x 6, as many as the Ant's
_MEASURES = 10  # at most, so that each is divided into two cells or more
_WIDE = 2 * np.pi  # [rad] a joint with a wider range gets a narrower one
_SWING = 0.8  # [rad] which goes so far to either side of its first position
_STEPS = 1000  # control steps of an episode
_KEYFRAME = "keyframe: {}  # episodes start in this pose of the MJCF"
_RANGES = """
# Ranges [rad] of joints, and of the positions that their servos accept. In the MJCF these joints have no
# range, can turn by more than 360 degrees, or have servos that accept positions far beyond it. (?)
ranges:"""
_TEMPLATE = """\
# A first description of {model}, made from the MJCF alone. What is marked (?) is a guess: look at it, change
# it where it is wrong, and try the robot with: surefoot robots --check {file}
# Units are in [brackets].
name: {name}
title: {title}
model: {model}

torso: {torso}  # the body that moves freely
floor: {floor}  # the geom that is the ground
{keyframe}
# Actuated joints in the order of observations and actions. Leave out those that shall not be moved. (?)
joints:
{joints}
{ranges}
# The soles of each foot, which touch the ground: the geoms that are lowest when the robot stands. (?)
feet:
{feet}

# The joints of each leg, from the torso outwards, and its foot. Damage is named after legs and joints.
legs:
{legs}

# The measures: the share of time that each of these feet is on the ground; 2 to 6 feet work well.
measures: {measures}

substeps: {substeps}  # physics steps of {timestep:g} s per control step, {control_step:g} s
episode_steps: {episode_steps}  # control steps of an episode at most, {seconds:g} s (?)
reset_joint_noise: 0.05  # [rad] joint angles start uniformly distributed within ± this around {start}
alive:
  min_height: {min_height:g}  # [m] of the torso: half of its height when the robot stands (?)
  max_tilt: 1.2  # [rad] between the torso and the vertical (?)

# Reward per control step, the same as the Ant's. (?)
reward:
  alive: 1.0  # added while alive, subtracted when not
  progress: 1.0  # per m/s along x
  electricity: -2.0  # per mean |action * 0.1 * joint velocity [rad/s]|
  torque: -0.1  # per mean action²
  joint_at_limit: -0.1  # per joint beyond 99% of its range

controller: {{kind: mlp, hidden: [128, 128]}}

archive: {archive}  # cells along each measure

# The lowest threshold and the offset of the QD score: about the lowest objective that a search finds.
min_objective:
  value: -250.0
  source: 'a guess; measure it with: python -m benchmarks.min_objective {file}'
"""


def draft_robot(path: Path, *, overwrite: bool = False) -> Path:
    """Write a first YAML into the folder of an MJCF.

    Args:
        path: of the MJCF.
        overwrite: whether to replace a YAML of the same name.

    Returns:
        The YAML's path, named after the model.

    Raises:
        InvalidRobotError: the MJCF cannot be read, or there is no robot in it.
        InvalidValueError: the YAML exists already, and shall not be replaced.
        InvalidFileError: the YAML cannot be written.
    """
    model = mujoco.MjModel.from_xml_string(read_self_contained(path))
    floor = find_floor(model)
    if floor is None:
        raise InvalidRobotError(_no_floor(path))
    name = _identifier(_title(model) or path.stem)
    out = path.with_name(f"{name}.yaml")
    if file_exists(out) and not overwrite:
        raise InvalidValueError(f"{out} exists already: use --overwrite to replace it")
    parts = find_parts(model, floor, origin=str(path))
    text = _TEMPLATE.format(
        file=out,
        name=name,
        title=_flow(_title(model) or name),
        model=_flow(path.name),
        floor=_flow(model.geom(floor).name),
        **_parts(model, parts),
        **_sizes(model, parts),
    )
    write_text(out, text)
    return out


def _parts(model: mujoco.MjModel, parts: Parts) -> dict[str, str]:
    """The parts of the draft that name elements of the robot."""
    joints = [joint for leg in parts.legs for joint in leg.joints] + list(parts.others)
    keyframe, legs = parts.keyframe, parts.legs
    ranges = [
        f"  {_flow(joint)}: {_flow([round(float(angle), 3) for angle in limits])}"
        for joint, limits in _narrower(model, keyframe, joints)
    ]
    return {
        "torso": _flow(parts.torso),
        "keyframe": "" if keyframe is None else _KEYFRAME.format(_flow(keyframe)),
        "start": "0" if keyframe is None else "the keyframe's",
        "joints": "\n".join(f"  - {_flow(joint)}" for joint in joints),
        "ranges": "\n".join([_RANGES, *ranges, ""]) if ranges else "",
        "feet": "\n".join(f"  {_flow(leg.name)}: {_flow(leg.soles)}" for leg in legs),
        "legs": "\n".join(
            f"  {_flow(leg.name)}: {{joints: {_flow(leg.joints)}, foot: {_flow(leg.name)}}}" for leg in legs
        ),
        "measures": _flow(leg.name for leg in legs[:_MEASURES]),
    }


def _sizes(model: mujoco.MjModel, parts: Parts) -> dict[str, object]:
    """The numbers in the draft."""
    timestep = float(model.opt.timestep)
    substeps = max(1, round(_CONTROL_STEP / timestep))
    measures = min(len(parts.legs), _MEASURES)
    cells = int(_CELLS ** (1 / measures) + 1e-9)
    return {
        "substeps": substeps,
        "timestep": timestep,
        "control_step": substeps * timestep,
        "seconds": _STEPS * substeps * timestep,
        "episode_steps": _STEPS,
        "min_height": round(parts.height / 2, 3),
        "archive": _flow([cells] * measures),
    }


def _narrower(
    model: mujoco.MjModel, keyframe: str | None, joints: list[str]
) -> list[tuple[str, tuple[float, float]]]:
    """Ranges for hinges that have none, a very wide one, or a servo that goes far beyond it."""
    data = standing_data(model, keyframe_positions(model, keyframe))
    ranges: list[tuple[str, tuple[float, float]]] = []
    for name in joints:
        joint, angle = model.joint(name), data.joint(name).qpos[0]
        if model.jnt_type[joint.id] != int(mujoco.mjtJoint.mjJNT_HINGE):
            continue
        if not model.jnt_limited[joint.id] or np.ptp(joint.range) > _WIDE:
            ranges.append((name, (angle - _SWING, angle + _SWING)))
        elif goes_beyond(model, name):
            ranges.append((name, tuple(joint.range)))
    return ranges


def _no_floor(path: Path) -> str:
    """What to do about an MJCF without a floor; often another file includes it and adds one."""
    include = re.compile(rf"<\s*include[^>]*[\"'/]{re.escape(path.name)}[\"']")
    texts = {other.name: other.read_text(errors="replace") for other in sorted(path.parent.glob("*.xml"))}
    scenes = [name for name, text in texts.items() if include.search(text)]
    if scenes:
        return f"{path}: there is no floor; a file that includes it may add one: draft {' or '.join(scenes)}"
    return f'{path}: there is no floor: add to its worldbody <geom name="floor" type="plane" size="0 0 1"/>'


def _title(model: mujoco.MjModel) -> str:
    """The model's name as its MJCF has it; MuJoCo calls those that have none `MuJoCo Model`."""
    name = model.names.split(b"\0", 1)[0].decode(errors="replace")
    return "" if name == "MuJoCo Model" else re.sub(r"[\s_]+scene$", "", name)


def _identifier(title: str) -> str:
    """A name as a YAML asks for: lower-case letters, digits and underscores."""
    name = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")
    return name if name[:1].isalpha() else f"robot_{name}".rstrip("_")


def _flow(value: str | Iterable[object]) -> str:
    """A word or a list as YAML in one line."""
    plain = value if isinstance(value, str) else list(value)
    return yaml.safe_dump(plain, default_flow_style=True, width=10**6).removesuffix("\n...\n").strip()

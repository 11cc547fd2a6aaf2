"""`draft_robot` writes a first YAML for an MJCF that has none."""

import re
from collections.abc import Iterable
from pathlib import Path

import mujoco
import numpy as np
import yaml

from robots.actuation import goes_beyond
from robots.errors import InvalidRobotError, InvalidValueError
from robots.files import file_exists, write_text
from robots.importing.anatomy import Anatomy, find_floor, study
from robots.importing.self_contained import read_self_contained
from robots.importing.template import KEYFRAME, RANGES, TEMPLATE
from robots.pose import keyframe_positions, standing_data

_CONTROL_STEP = 0.02  # [s] about
_CELLS = 1296  # of the archive, at most: 6 x 6 x 6 x 6, as many as the Ant's
_MEASURES = 10  # at most, each of them in two cells or more
_WIDE = 2 * np.pi  # [rad] a joint that can turn further gets a narrower range
_SWING = 0.8  # [rad] of such a joint to either side of its first pose
_STEPS = 1000  # of an episode


def draft_robot(path: Path, *, overwrite: bool = False) -> Path:
    """Write a first YAML beside an MJCF.

    Args:
        path: of the MJCF.
        overwrite: whether to replace a YAML of the same name.

    Returns:
        The YAML's path, named after the model.

    Raises:
        InvalidRobotError: the MJCF cannot be read, or there is no robot in it.
        InvalidValueError: the YAML is there already.
        InvalidFileError: the YAML cannot be written.
    """
    model = mujoco.MjModel.from_xml_string(read_self_contained(path))
    floor = find_floor(model)
    if floor is None:
        raise InvalidRobotError(_no_floor(path))
    name = _identifier(_title(model) or path.stem)
    out = path.with_name(f"{name}.yaml")
    if file_exists(out) and not overwrite:
        raise InvalidValueError(f"{out} is there already: use --overwrite to replace it")
    anatomy = study(model, floor, origin=str(path))
    text = TEMPLATE.format(
        file=out,
        name=name,
        title=_flow(_title(model) or name),
        model=_flow(path.name),
        floor=_flow(model.geom(floor).name),
        **_parts(model, anatomy),
        **_sizes(model, anatomy),
    )
    write_text(out, text)
    return out


def _parts(model: mujoco.MjModel, anatomy: Anatomy) -> dict[str, str]:
    """What the draft says of a robot's parts."""
    joints = [joint for leg in anatomy.legs for joint in leg.joints] + list(anatomy.others)
    keyframe, legs = anatomy.keyframe, anatomy.legs
    ranges = [
        f"  {_flow(joint)}: {_flow([round(float(angle), 3) for angle in limits])}"
        for joint, limits in _narrower(model, keyframe, joints)
    ]
    return {
        "torso": _flow(anatomy.torso),
        "keyframe": "" if keyframe is None else KEYFRAME.format(_flow(keyframe)),
        "start": "0" if keyframe is None else "the keyframe's",
        "joints": "\n".join(f"  - {_flow(joint)}" for joint in joints),
        "ranges": "\n".join([RANGES, *ranges, ""]) if ranges else "",
        "feet": "\n".join(f"  {_flow(leg.name)}: {_flow(leg.soles)}" for leg in legs),
        "legs": "\n".join(
            f"  {_flow(leg.name)}: {{joints: {_flow(leg.joints)}, foot: {_flow(leg.name)}}}" for leg in legs
        ),
        "measures": _flow(leg.name for leg in legs[:_MEASURES]),
    }


def _sizes(model: mujoco.MjModel, anatomy: Anatomy) -> dict[str, object]:
    """What the draft says in numbers."""
    timestep = float(model.opt.timestep)
    substeps = max(1, round(_CONTROL_STEP / timestep))
    measures = min(len(anatomy.legs), _MEASURES)
    cells = int(_CELLS ** (1 / measures) + 1e-9)
    return {
        "substeps": substeps,
        "timestep": timestep,
        "control_step": substeps * timestep,
        "seconds": _STEPS * substeps * timestep,
        "episode_steps": _STEPS,
        "min_height": round(anatomy.height / 2, 3),
        "archive": _flow([cells] * measures),
    }


def _narrower(
    model: mujoco.MjModel, keyframe: str | None, joints: list[str]
) -> list[tuple[str, tuple[float, float]]]:
    """Ranges about their first pose for hinges that have none, or that can turn more than once around."""
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
    """What to do about an MJCF without a floor; often there is a scene beside it that includes the robot."""
    include = re.compile(rf"<\s*include[^>]*[\"'/]{re.escape(path.name)}[\"']")
    texts = {other.name: other.read_text(errors="replace") for other in sorted(path.parent.glob("*.xml"))}
    scenes = [name for name, text in texts.items() if include.search(text)]
    if scenes:
        return f"{path}: there is no floor; there may be one in what includes it: draft {' or '.join(scenes)}"
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

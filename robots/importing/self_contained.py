"""An MJCF with all that it includes and refers to, as one text that needs no other file."""

import re
from pathlib import Path

import mujoco

from robots.description import read_text
from robots.errors import InvalidRobotError
from robots.importing.colours import paint
from robots.importing.meshes import inline_height_fields, inline_meshes, lighten
from robots.importing.naming import has_nameless, name_all
from robots.importing.references import find_reference

_MOST = 50_000_000  # characters of a robot's text
_COMMENT = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)
# what MuJoCo says of an MJCF that it cannot read, and what that means
_MEANINGS = (
    (r"XML parse error.*Line number=(\d+).*", r"it is not XML, see line \1"),
    (r"XML Error: File ('.*?') already included.*", r"it includes \1 twice, or in a circle"),
    (r".*Error opening file ('.*?').*", r"it refers to \1, which cannot be opened"),
)


def read_self_contained(path: Path) -> str:
    """Read an MJCF; nothing that it refers to is needed any more, and all its elements have names.

    An MJCF that is so already is taken as it is. Another one is read with its includes; meshes and height
    fields become part of the text, and textures that are files become colours.

    Raises:
        InvalidRobotError: the file or one that it refers to cannot be read, or it is not an MJCF.
    """
    if not path.is_file():
        beside = ", ".join(sorted(other.name for other in path.parent.glob("*.xml"))) or "none"
        raise InvalidRobotError(
            f"cannot read {path}: there is no such file; MJCF files in its folder: {beside}"
        )
    text = read_text(path)
    if _COMMENT.sub("", text).lstrip().startswith("<robot"):
        raise InvalidRobotError(f"{path} is a URDF, but only MJCF can be read")
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        if find_reference(text) is None and not has_nameless(spec):
            return text
        text = _gathered(spec)
    except ValueError as error:
        raise InvalidRobotError(f"{path}: the MJCF cannot be read: {_meaning(str(error))}") from error
    _check(text, path)
    return text


def _gathered(spec: mujoco.MjSpec) -> str:
    """The text of a spec that takes nothing from files."""
    name_all(spec)
    model = spec.copy().compile()  # a spec that was compiled keeps what it read from files
    lighten(spec)
    for skin in list(spec.skins):  # a skin is only seen, and the geoms below it are seen without
        spec.delete(skin)
    paint(spec, model)
    name_all(spec)  # the painted parts
    inline_meshes(spec, model)
    inline_height_fields(spec, model)
    spec.compile()
    return spec.to_xml()


def _meaning(message: str) -> str:
    """What is wrong with an MJCF, from what MuJoCo says of it."""
    message = " ".join(message.split())
    for pattern, meaning in _MEANINGS:
        message = re.sub(pattern, meaning, message)
    return message


def _check(text: str, path: Path) -> None:
    """Refuse a text that needs files after all, or is too long for a repertoire."""
    reference = find_reference(text)
    if reference is not None:
        raise InvalidRobotError(
            f"{path}: the MJCF refers to a file in a way that is not supported: {reference}"
        )
    if len(text) > _MOST:
        raise InvalidRobotError(
            f"{path}: its meshes take {len(text) / 1e6:.0f} MB; at most {_MOST / 1e6:.0f} MB are possible: "
            "give it simpler shapes for what touches the ground"
        )

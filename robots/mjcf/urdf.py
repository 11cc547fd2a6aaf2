"""`convert_urdf` writes the MJCF of a URDF: as MuJoCo reads it, with a floor, motors and a free torso."""

import hashlib
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element

import mujoco
import numpy as np

from robots.errors import InvalidRobotError, InvalidValueError
from robots.files.atomic import file_exists, write_text
from robots.files.texts import MOST, parse_number, read_bytes, read_text
from robots.mjcf.compiling import compile_spec, new_data, read_spec
from robots.mjcf.reading import gathered
from robots.mjcf.screening import meaning, screen

_READ = (".stl", ".obj", ".msh")  # meshes that MuJoCo reads
_PACKAGE = "package://"
_MOST_BYTES = 250_000_000  # of a mesh
_FREE = {"name": "surefoot_free", "type": "floating"}
_COMPILER = {"strippath": "false", "fusestatic": "false", "discardvisual": "false"}
_MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_MOVING = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


def convert_urdf(
    path: Path, *, packages: Mapping[str, Path] | None = None, overwrite: bool = False
) -> tuple[Path, list[str]]:
    """Write the MJCF of a URDF next to it, with its meshes inside; returns it, and what was changed.

    Args:
        path: of the URDF.
        packages: folders by the names after `package://`. By default a folder of that name in which, or in a
            folder above which, the URDF is.
        overwrite: whether to replace the MJCF if it is there.

    Raises:
        InvalidRobotError: MuJoCo cannot read the URDF, or a mesh is missing.
        InvalidValueError: the MJCF exists already.
    """
    target = path.with_suffix(".xml")
    if file_exists(target) and not overwrite:
        raise InvalidValueError(f"{target} exists already: use --overwrite to replace it")
    written, remarks = read_urdf(path, packages)
    write_text(target, written)
    return target, remarks


def read_urdf(path: Path, packages: Mapping[str, Path] | None = None) -> tuple[str, list[str]]:
    """The MJCF of a URDF, and what was changed, see `convert_urdf`.

    Its first link moves freely above a floor, and each joint with a limit of effort has a motor of that
    torque or force. Visual meshes of kinds that MuJoCo does not read are left out, and moments of inertia
    that no body can have are set to their mean.
    """
    tree, remarks = _parsed(path), list[str]()
    files = _take_meshes(tree, path, packages or {}, remarks)
    _free_the_torso(tree, path)
    efforts = _efforts(tree, path)
    if mended := _mend_inertias(tree, path):
        remarks.append(
            "Moments of inertia that no body can have (about its main axes each is positive, and at most the "
            f"sum of the other two) are set to their mean: {', '.join(mended)}."
        )
    massless = [link.get("name", "") for link in tree.findall("link[@name]") if link.find("inertial") is None]
    text = ElementTree.tostring(tree, "unicode")
    screen(text, str(path), files)
    try:
        spec = read_spec(text, files)
        spec.modelname = tree.get("name") or path.stem
        for name in massless:  # MuJoCo would give it the density of water
            for geom in spec.body(name).geoms:
                geom.density = 0
        _complete(spec, efforts)
        written = gathered(spec, drawn=True)
        written = written if len(written) <= MOST else gathered(spec, drawn=False)
    except ValueError as error:
        raise InvalidRobotError(f"{path}: MuJoCo cannot read the URDF: {meaning(str(error))}") from error
    screen(written, str(path))
    return written, remarks


def _parsed(path: Path) -> Element:
    text = read_text(path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InvalidRobotError(f"{path}: the URDF declares a type of document")
    try:
        tree = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InvalidRobotError(f"{path}: the URDF is not XML, see line {error.position[0]}") from error
    if tree.tag != "robot":
        raise InvalidRobotError(f"{path} is no URDF: its first element is {tree.tag!r}, not 'robot'")
    if any("xacro" in element.tag for element in tree.iter()):
        raise InvalidRobotError(f"{path} has elements of xacro: expand them first (xacro FILE > robot.urdf)")
    return tree


def _take_meshes(
    tree: Element, path: Path, packages: Mapping[str, Path], remarks: list[str]
) -> dict[str, bytes]:
    """Have the URDF refer to its meshes by hashes of their content; returns these by the hashes."""
    files: dict[str, bytes] = {}
    left_out: dict[str, None] = {}
    for link in tree.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            mesh = shape.find("geometry/mesh")
            if mesh is None:
                continue
            name = mesh.get("filename", "")
            found = _find(name, path, packages)
            if found.suffix.lower() not in _READ and shape.tag == "visual":
                link.remove(shape)
                left_out[found.name] = None
            elif found.suffix.lower() not in _READ:
                raise InvalidRobotError(
                    f"{path}: {name!r} cannot be read: MuJoCo reads meshes in {', '.join(_READ)} alone"
                )
            else:
                content = read_bytes(found, _MOST_BYTES)
                kept = hashlib.sha256(content).hexdigest()[:32] + found.suffix.lower()
                files[kept] = content
                mesh.set("filename", kept)
    if left_out:
        names = ", ".join(left_out)
        remarks.append(f"Visual meshes are left out, as MuJoCo reads {', '.join(_READ)} alone: {names}.")
    return files


def _find(name: str, path: Path, packages: Mapping[str, Path]) -> Path:
    """The file of a mesh."""
    if name.startswith(_PACKAGE):
        package, *parts = PurePosixPath(name.removeprefix(_PACKAGE)).parts or ("",)
        around = (folder for folder in path.resolve().parents if folder.name == package)
        folder = packages.get(package) or next(around, None)
        if folder is None:
            raise InvalidRobotError(
                f"{path} refers to {name!r}: say where that package is, with --package {package}=FOLDER"
            )
        place = folder
    else:  # names go up from the folder urdf to that of meshes next to it
        folder, place, parts = path.resolve().parent.parent, path.parent, [name.removeprefix("file://")]
    found = place.joinpath(*parts)
    if not found.resolve().is_relative_to(folder.resolve()):
        raise InvalidRobotError(
            f"{path} refers to {name!r}, which is outside {folder}: copy the file into it"
        )
    if not file_exists(found):
        raise InvalidRobotError(f"{path} refers to {name!r}: there is no file {found}")
    return found


def _free_the_torso(tree: Element, path: Path) -> None:
    """Let the first link move freely; MuJoCo would fix it to the world."""
    links = [link.get("name", "") for link in tree.findall("link")]
    moved = {child.get("link") for joint in tree.findall("joint") for child in joint.findall("child")}
    roots = [name for name in links if name not in moved]
    if len(roots) != 1:
        names = ", ".join(map(repr, roots)) or "none"
        raise InvalidRobotError(f"{path}: one link of a URDF is moved by no joint, not {len(roots)}: {names}")
    if "world" not in links:
        ElementTree.SubElement(tree, "link", name="world")
        joint = ElementTree.SubElement(tree, "joint", _FREE)
        ElementTree.SubElement(joint, "parent", link="world")
        ElementTree.SubElement(joint, "child", link=roots[0])
    for extension in tree.findall("mujoco"):
        tree.remove(extension)
    ElementTree.SubElement(ElementTree.SubElement(tree, "mujoco"), "compiler", _COMPILER)


def _efforts(tree: Element, path: Path) -> dict[str, float]:
    """Limits of effort by the names of joints [N·m or N]."""
    limits = {
        joint.get("name", ""): limit.get("effort", "0")
        for joint in tree.iter("joint")
        if (limit := joint.find("limit")) is not None
    }
    try:
        return {name: parse_number(effort) for name, effort in limits.items()}
    except ValueError as error:
        raise InvalidRobotError(f"{path}: a limit of effort must be a number: {error}") from error


def _mend_inertias(tree: Element, path: Path) -> list[str]:
    """Set moments of inertia that no body can have to their mean, as MuJoCo does; returns names of links."""
    names = []
    for link in tree.findall("link"):
        inertia = link.find("inertial/inertia")
        if inertia is None:
            continue
        try:
            xx, yy, zz, xy, xz, yz = (parse_number(inertia.get(name, "0")) for name in _MOMENTS)
        except ValueError as error:
            raise InvalidRobotError(f"{path}: a moment of inertia must be a number: {error}") from error
        least, middle, largest = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        mean = (xx + yy + zz) / 3
        if mean > 0 and (least <= 0 or largest > least + middle):
            for name, value in zip(_MOMENTS, [mean] * 3 + [0] * 3, strict=True):
                inertia.set(name, f"{value:.9g}")
            names.append(link.get("name", ""))
    return names


def _complete(spec: mujoco.MjSpec, efforts: Mapping[str, float]) -> None:
    """Put the robot on a floor, with its lowest point, and add motors."""
    model = compile_spec(spec)
    data = new_data(model)
    mujoco.mj_kinematics(model, data)
    down = data.geom_xmat.reshape(-1, 3, 3)[:, 2]  # what each axis of a geom has of the vertical
    middles = data.geom_xpos[:, 2] + np.einsum("ga,ga->g", down, model.geom_aabb[:, :3])
    lowest = (middles - np.einsum("ga,ga->g", abs(down), model.geom_aabb[:, 3:])).min(initial=0.0)
    for body in spec.worldbody.bodies:
        body.pos[2] -= lowest
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    for joint in spec.joints:
        effort = efforts.get(joint.name, 0.0)
        if joint.type in _MOVING and effort > 0:
            spec.add_actuator(
                name=joint.name,
                target=joint.name,
                trntype=mujoco.mjtTrn.mjTRN_JOINT,
                ctrlrange=[-effort, effort],
                ctrllimited=True,
            )

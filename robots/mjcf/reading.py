"""`read_self_contained` reads an MJCF with all that it includes and refers to, as one text.

The files are read here, so that MuJoCo need not open any: includes are replaced by what they hold, and names
of meshes and height fields by hashes of their content. Both then become part of the text. Skins and textures
in files are left out, and so are meshes that are only there to be looked at where they would make every
repertoire too large.
"""

import hashlib
import math
import os
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element

import mujoco
import numpy as np

from robots.errors import InvalidRobotError
from robots.files.atomic import explain_errors, file_exists
from robots.files.texts import MOST, read_bytes, read_text
from robots.mjcf.compiling import check_options, read_spec
from robots.mjcf.screening import meaning, screen

_MOST_BYTES = 250_000_000  # of all files
_MOST_PARTS = 400_000  # elements and attributes of all files
_DEEPEST = 500  # elements in each other; MuJoCo accepts no more
# MuJoCo accepts comments that are not XML, with "--" in them; one without an end goes on to that of the text
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MESH = mujoco.mjtGeom.mjGEOM_MESH
_MOST_DRAWN = 10_000_000  # characters of a text that still has meshes which are only there to be looked at
_FEWEST = 4  # vertices of a mesh that MuJoCo accepts
_HIDDEN = 3  # geoms in this group and those after it are not drawn
_LISTS = {"key": "keys", "body": "bodies", "joint": "joints", "geom": "geoms"}


def read_self_contained(path: Path) -> str:
    """Read an MJCF as a text that needs no other file and in which every element has a name.

    An MJCF that is such a text already is returned as it is. From others, textures in files and skins are
    left out, and meshes that neither touch nor weigh anything if the text would be longer than 10 MB with
    them. Where a body loses such a mesh, its shapes in hidden groups are shown instead. Where all that there
    is moves, as in models of robots that other files put onto a floor, a plane `floor` is added.
    """
    with explain_errors(f"cannot read {path}"):
        exists = path.is_file()
    if not exists:
        others = ", ".join(sorted(other.name for other in path.parent.glob("*.xml"))) or "none"
        raise InvalidRobotError(
            f"cannot read {path}: there is no such file; MJCF files in its folder: {others}"
        )
    collection = _Collection(path)
    text = collection.text
    screen(text, str(path), collection.files)
    try:
        spec = read_spec(text, collection.files)
        check_options(spec, str(path))
        floating = _add_floor(spec)
        named = all(one.name for _, elements in _siblings(spec) for one in elements)
        if collection.alone and named and not floating:
            return text
        with warnings.catch_warnings(action="ignore"):  # of MuJoCo, which Python would print
            text = gathered(spec.copy(), drawn=True)
            text = text if len(text) <= _MOST_DRAWN else gathered(spec, drawn=False)
    except ValueError as error:
        raise InvalidRobotError(f"{path}: the MJCF cannot be read: {meaning(str(error))}") from error
    if len(text) > MOST:
        raise InvalidRobotError(
            f"{path}: its meshes take {len(text) / 1e6:.0f} MB; at most {MOST / 1e6:.0f} MB are possible: "
            "give it simpler shapes for what touches the ground"
        )
    screen(text, str(path))  # it may no longer compile: numbers were rounded
    return text


def _add_floor(spec: mujoco.MjSpec) -> bool:
    """Put a plane under a robot in an otherwise empty world; returns whether it did."""
    world, names = spec.worldbody, {geom.name for geom in spec.geoms}
    fixed = [*world.geoms, *(body for body in world.bodies if not body.joints)]
    if not world.bodies or fixed or "floor" in names:
        return False
    world.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    return True


class _Collection:
    """An MJCF and the files that it refers to, which must be in its folder or below.

    Attributes:
        text: without includes; unchanged if it is `alone` and refers to no other file.
        files: the content of the files that it refers to, by the names that it uses.
    """

    def __init__(self, path: Path) -> None:
        self.files: dict[str, bytes] = {}
        self._origin, self._folder = path, Path(os.path.realpath(path.parent))
        self._included = {Path(os.path.realpath(path))}
        self._users: list[tuple[Element, Path]] = []  # what refers to files, and its own file's folder
        self._bytes = self._parts = 0
        self.text = read_text(path)
        tree = self._parse(path, self.text)
        self._include(tree, path.parent)
        self.alone = len(self._included) == 1 and not self._users
        if not self.alone:
            self._take_files(tree)
            self.text = ElementTree.tostring(tree, "unicode")

    def _parse(self, path: Path, text: str) -> Element:
        name = "it" if path == self._origin else repr(path.name)
        text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
        self._parts += text.count("<") + text.count("=")
        if self._parts > _MOST_PARTS:
            raise self._refusal(f"it has more than {_MOST_PARTS:,} elements and attributes")
        if "<!" in text:
            raise self._refusal(f"{name} declares a type of document or has sections of CDATA")
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise self._refusal(f"{name} is not XML, see line {error.position[0]}") from error
        if root.tag.lower() == "robot":
            raise InvalidRobotError(
                f"{path} is a URDF: give it a name that ends in .urdf, and have its MJCF written by "
                "`surefoot robots --draft`"
            )
        return root

    def _include(self, element: Element, place: Path, depth: int = 0) -> None:
        """Put the content of includes in their places in an element that stands in a file of a folder."""
        if depth > _DEEPEST:
            raise self._refusal("its elements are nested too deeply")
        children = list[Element]()
        for child in element:
            if child.tag.lower() == "include":
                name = child.get("file", "")
                path = self._find(name, self._origin.parent, place)
                if path in self._included:
                    raise self._refusal(f"it includes {name!r} twice, or in a circle")
                self._included.add(path)
                root = self._parse(path, self._bytes_of(path).decode(errors="replace"))
                self._include(root, path.parent, depth + 1)
                children += root
                continue
            children.append(child)
            self._include(child, place, depth + 1)
            if _references(child):
                self._users.append((child, place))
        element[:] = children

    def _take_files(self, tree: Element) -> None:
        """Read what the MJCF refers to, and have it refer to that by hashes of the content."""
        _drop_pictures(tree, [element for element, _ in self._users if element.tag in ("texture", "skin")])
        meshes, strips = _take_folders(tree)
        for element, place in self._users:
            for key in () if element.tag in ("texture", "skin") else _references(element):
                name = _posix(element.attrib[key])
                if element.tag == "model":
                    raise self._refusal(f"it attaches the model {str(name)!r}: save it as one MJCF")
                path = self._find(name.name if strips else str(name), self._origin.parent / meshes, place)
                content = self._bytes_of(path)
                # MuJoCo reuses what it compiled from a file of the same name, although the content differs
                kept = hashlib.sha256(content).hexdigest()[:32] + path.suffix.lower()
                self.files[kept] = content
                element.attrib[key] = kept
                if element.tag in ("mesh", "hfield"):
                    element.attrib.setdefault("name", name.stem)  # as MuJoCo names it

    def _find(self, name: str, *folders: Path) -> Path:
        """The file of a name, in the first of some folders that has it."""
        for folder in folders:
            path = Path(os.path.realpath(folder / _posix(name)))
            if not path.is_relative_to(self._folder):
                raise InvalidRobotError(
                    f"{self._origin}: the MJCF refers to {name!r}, which is outside its folder: "
                    "copy the file into it"
                )
            if file_exists(path):
                return path
        raise self._refusal(f"it refers to {str(folders[0] / name)!r}, which cannot be opened")

    def _bytes_of(self, path: Path) -> bytes:
        content = read_bytes(path, _MOST_BYTES)
        self._bytes += len(content)
        if self._bytes > _MOST_BYTES:
            raise self._refusal(f"its files take more than {_MOST_BYTES / 1e6:.0f} MB")
        return content

    def _refusal(self, reason: str) -> InvalidRobotError:
        return InvalidRobotError(f"{self._origin}: the MJCF cannot be read: {reason}")


def _references(element: Element) -> list[str]:
    return [key for key, value in element.items() if value and key.lower().startswith("file")]


def _posix(name: str) -> PurePosixPath:
    return PurePosixPath(name.replace("\\", "/"))


def _drop_pictures(tree: Element, pictures: list[Element]) -> None:
    names = {element.get("name") or _posix(element.get("file", "")).stem for element in pictures}
    dropped = set(pictures)
    for parent in tree.iter():
        if parent.tag == "material" and parent.get("texture") in names:
            del parent.attrib["texture"]
        parent[:] = [
            child
            for child in parent
            if child not in dropped and not (child.tag == "layer" and child.get("texture") in names)
        ]


def _take_folders(tree: Element) -> tuple[str, bool]:
    """Remove the folders of assets; returns that of meshes, and whether folders in names do not count."""
    meshes, strips = "", False
    for compiler in tree.iter("compiler"):
        strips = compiler.get("strippath", "true" if strips else "false") == "true"
        folders = [compiler.attrib.pop(key, None) for key in ("texturedir", "assetdir", "meshdir")]
        meshes = next((folder for folder in reversed(folders[1:]) if folder is not None), meshes)
    return meshes.replace("\\", "/"), strips


def gathered(spec: mujoco.MjSpec, *, drawn: bool) -> str:
    """The text of a spec that takes nothing from files, with or without meshes that are only drawn."""
    _name_all(spec)
    spec.compiler.discardvisual = False  # what is seen is left out below, or drawn; neither changes motion
    model = spec.copy().compile()  # a spec that was compiled keeps what it read from files
    _drop_visuals(spec, meshes=not drawn)
    for mesh in spec.meshes:
        if mesh.file:
            _inline_mesh(mesh, model)
    for field in spec.hfields:
        if field.file:
            compiled = model.hfield(field.name)
            field.file, field.content_type = "", ""
            field.nrow, field.ncol = int(compiled.nrow[0]), int(compiled.ncol[0])
            field.userdata = np.asarray(compiled.data).ravel().tolist()
    spec.compile()
    return spec.to_xml()


def _drop_visuals(spec: mujoco.MjSpec, *, meshes: bool) -> None:
    """Leave out skins, unused meshes and, if so asked, those that neither touch nor weigh anything."""
    paired = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    for geom in list(spec.geoms):
        if not _is_visual(spec, geom, paired):
            continue
        if geom.type == _MESH and meshes:
            _show_others(spec, geom, paired)
            spec.delete(geom)
        else:  # without mass it can be told without its body that it is only seen
            geom.density, geom.mass = 0, math.nan
    used = {geom.meshname for geom in spec.geoms}
    unused = [mesh for mesh in spec.meshes if mesh.name not in used]
    for element in [*unused, *spec.skins]:
        spec.delete(element)


def _show_others(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, paired: set[str]) -> None:
    first, last = spec.compiler.inertiagrouprange
    for other in geom.parent.geoms:
        weighs_alike = (first <= 0 <= last) == (first <= other.group <= last)
        if other.group >= _HIDDEN and weighs_alike and not _is_visual(spec, other, paired):
            other.group = 0
            other.material, other.rgba = geom.material, geom.rgba


def _inline_mesh(mesh: mujoco.MjsMesh, model: mujoco.MjModel) -> None:
    index = model.mesh(mesh.name).id
    first, count = model.mesh_vertadr[index], model.mesh_vertnum[index]
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.mesh_quat[index])
    # a compiled mesh is in the frame of its inertia, moved and scaled as its MJCF says
    vertices = model.mesh_vert[first : first + count] @ rotation.reshape(3, 3).T + model.mesh_pos[index]
    enough = np.arange(max(count, _FEWEST)) % count
    first, count = model.mesh_faceadr[index], model.mesh_facenum[index]
    mesh.file, mesh.content_type = "", ""
    mesh.scale, mesh.refpos, mesh.refquat = [1, 1, 1], [0, 0, 0], [1, 0, 0, 0]
    mesh.uservert = vertices[enough].ravel().tolist()
    mesh.userface = model.mesh_face[first : first + count].ravel().tolist()


def _is_visual(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, paired: set[str]) -> bool:
    """Whether a geom, of which pairs may name some, neither touches nor weighs anything."""
    if geom.contype or geom.conaffinity or geom.name in paired:
        return False
    compiler, inertia = spec.compiler, mujoco.mjtInertiaFromGeom
    if compiler.inertiafromgeom == inertia.mjINERTIAFROMGEOM_FALSE:
        return True
    if compiler.inertiafromgeom == inertia.mjINERTIAFROMGEOM_AUTO and geom.parent.explicitinertial:
        return True
    first, last = compiler.inertiagrouprange
    has_mass = geom.mass > 0 or (math.isnan(geom.mass) and geom.density > 0)
    return not (first <= geom.group <= last and has_mass)


def _name_all(spec: mujoco.MjSpec) -> None:
    """Give them names: `BODY_geom_2` is the third geom of its body, whether or not the first two have names.

    The same MJCF always gets the same names, so that a YAML can refer to them.
    """
    for kind, elements in _siblings(spec):
        taken = {element.name for element in getattr(spec, _LISTS[kind])}
        for number, element in enumerate(elements):
            if not element.name:
                owner = "" if kind == "key" else f"{element.parent.name}_"
                name = f"{owner}{kind}_{number}"
                while name in taken:
                    name += "_"
                element.name = name
                taken.add(name)


def _siblings(spec: mujoco.MjSpec) -> Iterator[tuple[str, list[Any]]]:
    """Elements that share their parent, by kind; a body comes before its children."""
    yield "key", list(spec.keys)
    for body in spec.bodies:
        yield "body", list(body.bodies)
        yield "joint", list(body.joints)
        yield "geom", list(body.geoms)

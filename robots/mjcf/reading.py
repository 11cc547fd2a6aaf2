"""`read_self_contained` reads an MJCF with all that it includes and refers to, as one text.

Meshes and height fields become part of the text. Skins and textures in files are left out, and so are meshes
that are only there to be looked at where they would make every repertoire too large.
"""

import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from robots.errors import InvalidRobotError
from robots.files.atomic import explain_errors
from robots.files.texts import MOST
from robots.mjcf.collection import collect
from robots.mjcf.screening import check_options, meaning, screen

_MESH = mujoco.mjtGeom.mjGEOM_MESH
_MOST_DRAWN = 10_000_000  # characters of a text that still has meshes which are only there to be looked at
_FEWEST = 4  # vertices of a mesh that MuJoCo accepts
_HIDDEN = 3  # geoms in this group and those after it are not drawn
_LISTS = {"key": "keys", "body": "bodies", "joint": "joints", "geom": "geoms"}


def read_self_contained(path: Path) -> str:
    """Read an MJCF as a text that needs no other file and in which every element has a name.

    An MJCF that is such a text already is returned as it is. From others, textures in files and skins are
    left out, and meshes that neither touch nor weigh anything if the text would be longer than 10 MB with
    them. Where a body loses such a mesh, its shapes in hidden groups are shown instead.

    Raises:
        InvalidRobotError: the file or one that it refers to cannot be read, it is not an MJCF, or its text
            would be too long or need other files after all.
    """
    with explain_errors(f"cannot read {path}"):
        exists = path.is_file()
    if not exists:
        others = ", ".join(sorted(other.name for other in path.parent.glob("*.xml"))) or "none"
        raise InvalidRobotError(
            f"cannot read {path}: there is no such file; MJCF files in its folder: {others}"
        )
    text, files, alone = collect(path)
    screen(text, str(path), files)
    try:
        spec = mujoco.MjSpec.from_string(text, include=files, assets=files)
        check_options(spec, str(path))
        if alone and not _has_nameless(spec):
            return text
        with warnings.catch_warnings(action="ignore"):  # of MuJoCo, which Python would print
            text = _gathered(spec.copy(), drawn=True)
            text = text if len(text) <= _MOST_DRAWN else _gathered(spec, drawn=False)
    except ValueError as error:
        raise InvalidRobotError(f"{path}: the MJCF cannot be read: {meaning(str(error))}") from error
    if len(text) > MOST:
        raise InvalidRobotError(
            f"{path}: its meshes take {len(text) / 1e6:.0f} MB; at most {MOST / 1e6:.0f} MB are possible: "
            "give it simpler shapes for what touches the ground"
        )
    screen(text, str(path))  # it may no longer compile: numbers were rounded
    return text


def _gathered(spec: mujoco.MjSpec, *, drawn: bool) -> str:
    """The text of a spec that takes nothing from files, with or without meshes that are only drawn."""
    _name_all(spec)
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
    """Draw the hidden shapes of a geom's body in its place, in its colour."""
    first, last = spec.compiler.inertiagrouprange
    for other in geom.parent.geoms:
        weighs_alike = (first <= 0 <= last) == (first <= other.group <= last)
        if other.group >= _HIDDEN and weighs_alike and not _is_visual(spec, other, paired):
            other.group = 0
            other.material, other.rgba = geom.material, geom.rgba


def _inline_mesh(mesh: mujoco.MjsMesh, model: mujoco.MjModel) -> None:
    """Make a mesh's vertices and faces part of the text, instead of its file."""
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


def _has_nameless(spec: mujoco.MjSpec) -> bool:
    """Whether a keyframe, body, joint or geom has no name."""
    return any(not element.name for _, elements in _siblings(spec) for element in elements)


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

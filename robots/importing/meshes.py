"""Meshes and height fields as part of an MJCF's text.

What touches or weighs something keeps its exact shape. What is only there to be looked at is coarsened: the
difference is too small to see, and files and pictures are quick.
"""

import math

import mujoco
import numpy as np

from robots.importing.surface import coarsened, read_surface, write_surface

MOST_FACES = 3000  # of a mesh that is only looked at


def only_seen(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> bool:
    """Whether a geom neither touches nor weighs anything."""
    touches = geom.contype or geom.conaffinity or _in_pair(spec, geom)
    return not touches and not _weighs(spec.compiler, geom)


def lighten(spec: mujoco.MjSpec) -> None:
    """Say of each geom that is only seen that it has no mass, so that it can be told without its body."""
    for geom in spec.geoms:
        if only_seen(spec, geom):
            geom.density, geom.mass = 0, math.nan


def inline_meshes(spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    """Take the meshes of a spec from the compiled model instead of from files; those that no geom has go."""
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)
    solid = {geom.meshname for geom in spec.geoms if not only_seen(spec, geom)}
    for mesh in spec.meshes:
        if mesh.file:
            surface = read_surface(model, model.mesh(mesh.name).id)
            if mesh.name not in solid:
                surface = coarsened(surface, MOST_FACES)
                mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # needs no closed surface
            write_surface(surface, mesh)


def inline_height_fields(spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    """Take the height fields of a spec from the compiled model instead of from files."""
    for field in spec.hfields:
        if field.file:
            compiled = model.hfield(field.name)
            field.file, field.content_type = "", ""
            field.nrow, field.ncol = int(compiled.nrow[0]), int(compiled.ncol[0])
            field.userdata = np.asarray(compiled.data).ravel().tolist()


def _in_pair(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> bool:
    """Whether a geom is in an explicit pair of contacts."""
    return bool(geom.name) and any(geom.name in (pair.geomname1, pair.geomname2) for pair in spec.pairs)


def _weighs(compiler: mujoco.MjsCompiler, geom: mujoco.MjsGeom) -> bool:
    """Whether a geom counts for the mass of its body."""
    from_geoms = compiler.inertiafromgeom
    if from_geoms == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE:
        return False
    automatic = from_geoms == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
    if automatic and geom.parent.explicitinertial:
        return False
    low, high = compiler.inertiagrouprange
    return low <= geom.group <= high and (geom.mass > 0 or (math.isnan(geom.mass) and geom.density > 0))

"""Textures that are pictures in files, as coloured parts of meshes.

MJCF cannot hold a picture, and MuJoCo keeps each of them unpacked in memory, dozens of megabytes for a robot.
So the triangles of a mesh get the colours that its picture has there, a few colours a mesh.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from PIL import Image

from robots.importing.meshes import MOST_FACES, only_seen
from robots.importing.surface import Surface, coarsened, part, read_surface, write_surface

_COLOURS = 6  # of a mesh, at most
_RESOLUTION = 512  # of the pictures [pixels]: a triangle shall have the colour of its surroundings
_RGB = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)


@dataclass(frozen=True)
class _Part:
    """Some triangles of a mesh, all of one colour (red, green, blue from 0 to 1)."""

    surface: Surface
    colour: np.ndarray


def paint(spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    """Replace the textures that are files by colours.

    Args:
        spec: changed in place.
        model: the same, compiled; textures and meshes are taken from it.
    """
    pictures = {texture.name: texture for texture in spec.textures if _is_file(texture)}
    for material in spec.materials:
        texture = pictures.get(material.textures[_RGB])
        if texture is not None:
            picture = _picture(model, model.texture(texture.name).id)
            _paint_meshes(spec, model, material, picture)
            material.rgba = [*(material.rgba[:3] * picture.mean(axis=(0, 1)) / 255), material.rgba[3]]
        for role, name in enumerate(material.textures):
            if name in pictures:
                material.textures[role] = ""
    for texture in pictures.values():
        spec.delete(texture)


def _is_file(texture: mujoco.MjsTexture) -> bool:
    """Whether a texture is read from files."""
    return bool(texture.file) or any(texture.cubefiles[side] for side in range(6))


def _picture(model: mujoco.MjModel, texture: int) -> np.ndarray:
    """A compiled texture, (height, width, 3) uint8, at most of the resolution."""
    height, width, channels = (
        int(size[texture]) for size in (model.tex_height, model.tex_width, model.tex_nchannel)
    )
    first = model.tex_adr[texture]
    pixels = model.tex_data[first : first + height * width * channels].reshape(height, width, channels)
    image = Image.fromarray(
        np.ascontiguousarray(pixels[..., :3] if channels >= 3 else pixels[..., [0, 0, 0]])
    )
    image.thumbnail((_RESOLUTION, _RESOLUTION), Image.Resampling.BOX)
    return np.asarray(image)


def _paint_meshes(
    spec: mujoco.MjSpec, model: mujoco.MjModel, material: mujoco.MjsMaterial, picture: np.ndarray
) -> None:
    """Replace the geoms that show a picture on a mesh by one geom a colour."""
    painted: dict[str, list[str]] = {}  # names of the parts, each a mesh and a material, by mesh
    for geom in list(spec.geoms):
        if geom.material != material.name or not _is_mapped(spec, model, geom):
            continue
        if geom.meshname not in painted:
            parts = _split(model, model.mesh(geom.meshname).id, picture)
            painted[geom.meshname] = [
                _add_part(spec, f"{geom.meshname}_{material.name}_{number}", piece, material)
                for number, piece in enumerate(parts)
            ]
        for name in painted[geom.meshname]:
            _show(geom, name)
        spec.delete(geom)


def _is_mapped(spec: mujoco.MjSpec, model: mujoco.MjModel, geom: mujoco.MjsGeom) -> bool:
    """Whether a geom is a mesh that is only seen, and that says where on a picture its triangles are."""
    if geom.type != mujoco.mjtGeom.mjGEOM_MESH or not only_seen(spec, geom):
        return False
    return bool(model.mesh_texcoordadr[model.mesh(geom.meshname).id] >= 0)


def _split(model: mujoco.MjModel, mesh: int, picture: np.ndarray) -> list[_Part]:
    """The parts of a mesh that have about the same colour on a picture."""
    surface = read_surface(model, mesh)
    first, count = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    corners = model.mesh_facetexcoord[first : first + count] + model.mesh_texcoordadr[mesh]
    middles = model.mesh_texcoord[corners].mean(axis=1) % 1  # (f, 2)
    height, width = picture.shape[:2]
    columns = np.minimum((middles[:, 0] * width).astype(int), width - 1)
    rows = np.minimum((middles[:, 1] * height).astype(int), height - 1)
    colours = picture[rows, columns]  # (f, 3)
    image = Image.fromarray(colours[None])
    few = np.asarray(image.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))[0]
    return [_one_part(surface, colours, few == colour) for colour in np.unique(few)]


def _one_part(surface: Surface, colours: np.ndarray, chosen: np.ndarray) -> _Part:
    """Some of a surface's triangles, (f,) bool, in the mean of their colours, (f, 3) uint8."""
    return _Part(coarsened(part(surface, chosen), MOST_FACES), colours[chosen].mean(axis=0) / 255)


def _add_part(spec: mujoco.MjSpec, name: str, piece: _Part, like: mujoco.MjsMaterial) -> str:
    """Add a mesh and a material of the same name that shines like another one."""
    mesh = spec.add_mesh(name=name, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    write_surface(piece.surface, mesh)
    spec.add_material(
        name=name,
        rgba=[*(like.rgba[:3] * piece.colour), like.rgba[3]],
        specular=like.specular,
        shininess=like.shininess,
        emission=like.emission,
    )
    return name


def _show(geom: mujoco.MjsGeom, name: str) -> None:
    """Add a part where a geom is."""
    geom.parent.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=name,
        material=name,
        pos=geom.pos,
        quat=geom.quat,
        group=geom.group,
        contype=0,
        conaffinity=0,
        density=0,
    )

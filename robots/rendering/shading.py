"""What a ray sees: surfaces in their light, sky and haze, by the rules of MuJoCo's OpenGL renderer."""

from typing import NamedTuple

import numpy as np

from robots.compilation import compiled
from robots.rendering.lighting import Lights, light_up
from robots.rendering.textures import NONE, Textures, look_up, look_up_cube


class Surfaces(NamedTuple):
    """What the g geoms of a model look like in a state.

    Attributes:
        positions, axes: of the geoms' frames, (g, 3) [m] and (g, 3, 3), an axis a column.
        colors: before light, red, green and blue, (g, 3).
        gloss: emission, specular and shininess of the materials, (g, 3).
        textures: indices, or NONE, (g,).
        cubes: whether that texture is a cube, (g,) bool.
        scales: repeats of a picture per metre, or for cubes what a position is multiplied by, (g, 3).
    """

    positions: np.ndarray
    axes: np.ndarray
    colors: np.ndarray
    gloss: np.ndarray
    textures: np.ndarray
    cubes: np.ndarray
    scales: np.ndarray


class Haze(NamedTuple):
    """Where an endless ground passes into the sky.

    Attributes:
        plane: geom that is the ground, or NONE where there is no haze.
        color: red, green and blue, (3,).
        reach: horizontal distance at which it hides everything [m].
        depth: share of that distance over which it thickens.
    """

    plane: int
    color: np.ndarray
    reach: float
    depth: float


@compiled()
def shade(
    eye: np.ndarray,
    rays: np.ndarray,
    geoms: np.ndarray,
    distances: np.ndarray,
    normals: np.ndarray,
    lit: np.ndarray,
    pixel: float,
    surfaces: Surfaces,
    lights: Lights,
    textures: Textures,
    haze: Haze,
    colors: np.ndarray,
) -> None:
    """Work out what n rays see.

    Args:
        eye: where they start, (3,).
        rays: their directions, of any length, (n, 3).
        geoms: what they hit, -1 for the sky, (n,).
        distances: how many lengths of the ray away, (n,).
        normals: of the surface there, (n, 3).
        lit: whether each light reaches that point, (l, n).
        pixel: width of a pixel of the frame at a distance of 1 m [m].
        surfaces: of the scene.
        lights: of the scene.
        textures: of the model.
        haze: of the scene.
        colors: written, (n, 3), in [0, 1].
    """
    point, view, normal = np.empty(3), np.empty(3), np.empty(3)
    color, texel, scratch = np.empty(3), np.empty(3), np.empty((2, 3))
    for n in range(len(rays)):
        geom = geoms[n]
        length = _aim(eye, rays[n], distances[n], view, point)
        if geom < 0:
            _sky(textures, view, color)
        else:
            slant = np.sqrt(max(_face(normals[n], view, normal), 1e-3))
            # between the footprint's width and its length, slant**-2 times as much
            footprint = pixel * distances[n] * length / (slant * np.sqrt(slant))
            _texture(surfaces, textures, geom, point, footprint, texel)
            light_up(
                lights, surfaces.colors[geom], surfaces.gloss[geom],
                point, view, normal, lit[:, n], scratch, color,
            )  # fmt: skip
            for k in range(3):
                color[k] *= texel[k]
        if haze.plane != NONE and (geom < 0 or geom == haze.plane):
            _haze(surfaces, textures, haze, eye, view, texel, color)
        for k in range(3):
            colors[n, k] = min(color[k], 1.0)


@compiled(forceinline=True)
def _aim(eye: np.ndarray, ray: np.ndarray, distance: float, view: np.ndarray, point: np.ndarray) -> float:
    """Write the unit vector that points at the eye, and what the ray hits; return the ray's length."""
    length = np.sqrt(ray[0] ** 2 + ray[1] ** 2 + ray[2] ** 2)
    for k in range(3):
        view[k] = -ray[k] / length
        point[k] = eye[k] + distance * ray[k]
    return length


@compiled(forceinline=True)
def _face(outside: np.ndarray, view: np.ndarray, normal: np.ndarray) -> float:
    """Write the normal turned to the eye; return the cosine of the angle between."""
    cosine = outside[0] * view[0] + outside[1] * view[1] + outside[2] * view[2]
    for k in range(3):
        normal[k] = outside[k] if cosine >= 0 else -outside[k]
    return abs(cosine)


@compiled(forceinline=True)
def _sky(textures: Textures, view: np.ndarray, color: np.ndarray) -> None:
    """Colour of the sky, black where there is none; `view` points at the eye."""
    color[:] = 0.0
    if textures.sky != NONE:
        look_up_cube(textures, textures.sky, -view[0], -view[2], view[1], color)  # its up is y


@compiled(forceinline=True)
def _texture(
    surfaces: Surfaces, textures: Textures, geom: int, point: np.ndarray, footprint: float, texel: np.ndarray
) -> None:
    """Colour of a geom's texture at a point, white where it has none."""
    texture = surfaces.textures[geom]
    texel[:] = 1.0
    if texture == NONE:
        return
    axes, scale = surfaces.axes[geom], surfaces.scales[geom]
    x, y, z = 0.0, 0.0, 0.0  # in the geom's frame
    for k in range(3):
        offset = point[k] - surfaces.positions[geom, k]
        x += axes[k, 0] * offset
        y += axes[k, 1] * offset
        z += axes[k, 2] * offset
    if surfaces.cubes[geom]:
        look_up_cube(textures, texture, scale[0] * x, scale[1] * y, scale[2] * z, texel)
    else:
        look_up(textures, texture, scale[0] * x - 0.5, -scale[1] * y - 0.5, scale[0] * footprint, texel)


@compiled(forceinline=True)
def _haze(
    surfaces: Surfaces,
    textures: Textures,
    haze: Haze,
    eye: np.ndarray,
    view: np.ndarray,
    sky: np.ndarray,
    color: np.ndarray,
) -> None:
    """Lay haze over the ground and the sky below the horizon, as thick as in MuJoCo; `sky` is scratch."""
    height, fall = 0.0, 0.0
    for k in range(3):
        up = surfaces.axes[haze.plane, k, 2]
        height += (eye[k] - surfaces.positions[haze.plane, k]) * up
        fall += view[k] * up
    if height <= 0 or fall <= 0:
        return
    away = height * np.sqrt(max(1 - fall * fall, 0.0)) / fall / haze.reach  # where the ray meets the ground
    if away > 1:
        _sky(textures, view, sky)
        color[:] = sky
    # MuJoCo draws a cone around the eye: 0 is its lower edge, 1 its upper, and it is densest at `middle`
    h = (away - 1 + haze.depth) / (away + haze.depth)
    middle = haze.depth / (1 + haze.depth)
    density = h / middle if h < middle else (1 - h) / (1 - middle)
    for k in range(3):
        color[k] += max(density, 0.0) * (haze.color[k] - color[k])

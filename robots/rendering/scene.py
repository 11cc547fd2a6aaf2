"""Reads what ray casting needs from an `MjvScene`: the view, the lights, the materials and the haze."""

from typing import NamedTuple

import mujoco
import numpy as np

from robots.rendering.lighting import Lights
from robots.rendering.shading import Haze, Surfaces
from robots.rendering.textures import NONE, Textures

_FAR = 1000.0  # an orthographic view is seen from so many times its height away
# What MuJoCo draws the sky on is a cylinder of this share of the furthest distance that is drawn.
_SKY = 0.7
_ROLES = [
    int(mujoco.mjtTextureRole.mjTEXROLE_RGB),
    int(mujoco.mjtTextureRole.mjTEXROLE_RGBA),
]  # a colour each


class View(NamedTuple):
    """Where the rays of a frame start and how they spread.

    Attributes:
        eye: where all start, (3,) [m].
        corner: direction of the ray through the frame's upper left corner, (3,).
        across: what a pixel to the right adds to it, (3,).
        down: what a pixel further down adds to it, (3,).
    """

    eye: np.ndarray
    corner: np.ndarray
    across: np.ndarray
    down: np.ndarray


def scene_view(scene: mujoco.MjvScene, width: int, height: int) -> View:
    """The view of a scene's camera in a frame of width x height pixels."""
    camera = mujoco.mjv_averageCamera(*scene.camera)  # of two eyes
    forward, up = camera.forward.astype(np.float64), camera.up.astype(np.float64)
    right = np.cross(forward, up)
    tall = camera.frustum_top - camera.frustum_bottom
    wide = 2 * camera.frustum_width or tall * width / height
    eye, ahead = camera.pos.astype(np.float64), float(camera.frustum_near)
    if camera.orthographic:
        ahead = _FAR * tall
        eye -= ahead * forward
    left = camera.frustum_center - wide / 2
    corner = ahead * forward + left * right + camera.frustum_top * up
    return View(eye, corner, wide / width * right, -tall / height * up)


def read_surfaces(model: mujoco.MjModel, data: mujoco.MjData, scene: mujoco.MjvScene) -> Surfaces:
    """What the geoms of a scene look like; those that are not in it are never seen."""
    colors, gloss = np.zeros((model.ngeom, 3)), np.zeros((model.ngeom, 3))
    for geom in scene.geoms[: scene.ngeom]:
        if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
            colors[geom.objid] = geom.rgba[:3]
            gloss[geom.objid] = geom.emission, geom.specular, geom.shininess
    textures, cubes, scales = _mapping(model)
    axes = data.geom_xmat.reshape(-1, 3, 3)
    return Surfaces(data.geom_xpos, axes, colors, gloss, textures, cubes, scales)


def _mapping(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Textures, cubes and scales of `Surfaces`."""
    textures = np.full(model.ngeom, NONE)
    cubes, scales = np.zeros(model.ngeom, np.bool_), np.ones((model.ngeom, 3))
    for geom in np.flatnonzero(model.geom_matid >= 0):
        material = model.geom_matid[geom]
        texture = int(model.mat_texid[material, _ROLES].max())
        if texture < 0:
            continue
        textures[geom] = texture
        cubes[geom] = model.tex_type[texture] != mujoco.mjtTexture.mjTEXTURE_2D
        size = model.geom_size[geom]
        if not model.mat_texuniform[material]:
            scales[geom] /= np.where(size > 0, size, 1)  # an endless plane has no size
        if not cubes[geom]:
            scales[geom, :2] *= model.mat_texrepeat[material] / 2
    return textures, cubes, scales


def read_lights(scene: mujoco.MjvScene) -> Lights:
    """The lights of a scene; without any there is a little light from everywhere."""
    lights = list(scene.lights[: scene.nlight]) or [_glimmer()]
    directional = [light.type == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL for light in lights]
    cones, fading = np.tile([-1.0, 0.0], (len(lights), 1)), np.tile([1.0, 0.0, 0.0], (len(lights), 1))
    for row, light in enumerate(lights):
        if light.type == mujoco.mjtLightType.mjLIGHT_SPOT:
            cones[row] = np.cos(np.radians(light.cutoff)), light.exponent
            fading[row] = light.attenuation
    return Lights(
        directional=np.array(directional),
        casting=np.array([bool(light.castshadow) for light in lights]),
        positions=np.array([light.pos for light in lights], np.float64),
        directions=np.array([light.dir for light in lights], np.float64),
        ambient=np.array([light.ambient for light in lights], np.float64),
        diffuse=np.array([light.diffuse for light in lights], np.float64),
        specular=np.array([light.specular for light in lights], np.float64),
        cones=cones,
        fading=fading,
    )


def _glimmer() -> mujoco.MjvLight:
    """The light by which MuJoCo shows a scene that has none."""
    light = mujoco.MjvLight()
    light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    light.ambient = np.full(3, 0.3)
    return light


def read_haze(model: mujoco.MjModel, scene: mujoco.MjvScene, textures: Textures) -> Haze:
    """The haze over the first endless plane, where there is a sky behind it."""
    endless = (model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)) & ~model.geom_size[:, :2].any(axis=1)
    planes = np.flatnonzero(endless)
    plane = int(planes[0]) if len(planes) and textures.sky != NONE else NONE
    color = np.array(model.vis.rgba.haze[:3], np.float64)
    return Haze(plane, color, _SKY * float(scene.camera[0].frustum_far), float(model.vis.map.haze))

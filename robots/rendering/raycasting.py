"""`RayCanvas` draws a MuJoCo scene without OpenGL: matt surfaces, shadows, a checkered floor, a plain sky."""

from typing import NamedTuple

import mujoco
import numpy as np

from robots.compilation import compiled

_FURTHEST = 1e10  # [m] to which rays are followed
_SAMPLES = 4  # rays for each pixel along an edge
_SUN = 10_000.0  # a light from one direction stands this many times the model's extent away
_GAP = 1e-4  # what a light's ray misses by less than this many times the model's extent is lit
_CONTRAST = 0.05  # neighbouring pixels whose brightness differs by more are an edge, and get more rays
_BRIGHTNESS = np.array([0.3, 0.5, 0.2])  # of red, green and blue
_FAR = 1000.0  # an orthographic view starts this many times its height behind its camera
_GLIMMER = 0.3  # MuJoCo shows a scene without lights in this much light from everywhere
_GOLDEN = (5**0.5 - 1) / 2  # the fractional parts of its multiples are spread evenly
_GROUND = int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD)
_ROLES = [int(mujoco.mjtTextureRole.mjTEXROLE_RGB), int(mujoco.mjtTextureRole.mjTEXROLE_RGBA)]


class _View(NamedTuple):
    """Where the rays of a frame start, and how they spread."""

    eye: np.ndarray  # (3,) [m]
    corner: np.ndarray  # direction of the ray through the frame's upper left corner, (3,)
    steps: np.ndarray  # what a pixel to the right and a pixel further down add to it, (2, 3)


class _Lights(NamedTuple):
    """The l lights of a scene; those that shine in one direction are very far away."""

    positions: np.ndarray  # (l, 3) [m]
    ambient: np.ndarray  # red, green and blue, (l, 3)
    diffuse: np.ndarray  # (l, 3)
    casting: np.ndarray  # whether each casts shadows, (l,) bool


class _Floor(NamedTuple):
    """The first plane or height field that shows a picture, again and again."""

    geom: int  # its index, -1 if there is none
    picture: np.ndarray  # what its colour is multiplied by, 1 on average, (height, width, 3)
    repeats: np.ndarray  # pictures along its x and y axes, negative if mirrored, (2,) [1/m]


class RayCanvas:
    """Draws what rays from the eye hit: one ray for each pixel, and several for each pixel along an edge.

    Geoms of all kinds are drawn in the colours of their materials, shaded by Lambert's law. The first plane
    or height field with a texture shows it, other geoms the mean colour of theirs. Spotlights shine in all
    directions. Highlights, reflections, sites, tendons, skins and geoms that are less than half opaque are
    left out.

    Args:
        model: the robot; transparent geoms are moved to a hidden group of it, and the boxes in which MuJoCo
            looks for the geoms of a body grow.
        width: of the frames [pixels].
        height: of the frames [pixels].
    """

    def __init__(self, model: mujoco.MjModel, width: int, height: int) -> None:
        self._model = model
        self._shape = height, width, 3
        self._tints, self._floor = _read_textures(model)
        skies = np.flatnonzero(model.tex_type == int(mujoco.mjtTexture.mjTEXTURE_SKYBOX))
        self._sky = _pixels(model, skies[0]).mean(axis=(0, 1)) if len(skies) else np.zeros(3)
        self._groups = mujoco.MjvOption().geomgroup.copy()
        for geom in range(model.ngeom):
            if geom_color(model, geom)[3] < 0.5:
                model.geom_group[geom] = mujoco.mjNGROUP - 1
        _widen_boxes(model)
        rows, columns = np.mgrid[:height, :width]
        self._centers = np.stack((columns, rows), axis=-1).reshape(-1, 2) + 0.5  # (pixels, 2)
        numbers = np.arange(_SAMPLES)
        self._offsets = np.stack(((numbers + 0.5) / _SAMPLES, numbers * _GOLDEN % 1), axis=1) - 0.5

    def close(self) -> None:
        """Do nothing, as there is nothing to free."""

    def draw(self, data: mujoco.MjData, scene: mujoco.MjvScene) -> np.ndarray:
        """Draw a scene made of a state, (height, width, 3) uint8."""
        view = _read_view(scene, *self._shape[:2])
        colors = self._look(data, scene, view, self._centers)
        edges = _find_edges(colors.reshape(self._shape)).ravel()
        places = (self._centers[edges, None] + self._offsets).reshape(-1, 2)
        colors[edges] = self._look(data, scene, view, places).reshape(-1, _SAMPLES, 3).mean(axis=1)
        return np.rint(255 * colors).astype(np.uint8).reshape(self._shape)

    def _look(
        self, data: mujoco.MjData, scene: mujoco.MjvScene, view: _View, places: np.ndarray
    ) -> np.ndarray:
        """Colours that are seen through places of the frame [pixels from its upper left corner], (n, 3)."""
        lights = _read_lights(scene, view.eye, self._model.stat.extent)
        rays = view.corner + np.einsum("np,pk->nk", places, view.steps)  # `@` takes 20 times as long
        geoms, distances, normals = self._cast(data, view.eye, rays)
        points = view.eye + distances[:, None] * rays
        lit = np.ones((len(points), len(lights.casting)), np.bool_)
        for light in np.flatnonzero(lights.casting):
            position = lights.positions[light]
            hit = np.flatnonzero(geoms >= 0)
            lit[hit, light] = self._reached(data, position, points[hit])
        flat = self._tints.copy()
        emission = np.full(len(flat), 0.0 if len(lights.casting) else _GLIMMER)
        for geom in scene.geoms[: scene.ngeom]:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                flat[geom.objid] *= geom.rgba[:3]
                emission[geom.objid] += geom.emission
        axes = data.geom_xmat[self._floor.geom].reshape(3, 3)[:, :2].T * self._floor.repeats[:, None]
        axes = np.column_stack((axes, -axes @ data.geom_xpos[self._floor.geom] - 0.5))
        pixel = float(np.linalg.norm(view.steps[1]) / np.linalg.norm(view.corner))
        colors = np.tile(self._sky, (len(places), 1))
        _shade(view.eye, geoms, points, normals, lights, lit, flat, emission, colors)
        _add_picture(view.eye, geoms, points, normals, self._floor, axes, pixel, colors)
        return np.minimum(colors, 1, out=colors)

    def _reached(self, data: mujoco.MjData, light: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Whether the rays of a light at a position, (3,), reach points, (n,) bool."""
        rays = points - light  # MuJoCo casts many rays from one point, not to one
        geoms, distances, _ = self._cast(data, light, rays)
        gaps = (1 - distances) * np.sqrt(np.einsum("nk,nk->n", rays, rays))
        return (geoms < 0) | (gaps < _GAP * self._model.stat.extent)

    def _cast(
        self, data: mujoco.MjData, start: np.ndarray, rays: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Geoms that rays hit first (-1: none), how many lengths of the ray away, and the normals there."""
        n = len(rays)
        geoms, distances, normals = np.full(n, -1, np.int32), np.full(n, -1.0), np.zeros((n, 3))
        if n:
            mujoco.mj_multiRay(
                self._model, data, start, rays.ravel(), self._groups, True, -1,
                geoms, distances, normals.ravel(), n, _FURTHEST,
            )  # fmt: skip
        return geoms, distances, normals


def geom_color(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """Colour of a geom without its texture, its material's if it has one, (4,)."""
    material = model.geom_matid[geom]
    return model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]


def _widen_boxes(model: mujoco.MjModel) -> None:
    """Have rays meet all geoms of a body: its box in MuJoCo holds only those that can touch something."""
    reach = np.linalg.norm(model.geom_pos - model.body_ipos[model.geom_bodyid], axis=1) + model.geom_rbound
    for body in np.flatnonzero(model.body_bvhnum[1:]) + 1:
        model.bvh_aabb[model.body_bvhadr[body]] = 3 * [0.0] + 3 * [reach[model.geom_bodyid == body].max()]


def _read_textures(model: mujoco.MjModel) -> tuple[np.ndarray, _Floor]:
    """The mean colour of each geom's texture, white without one, (g, 3); and the floor."""
    tints, floor = np.ones((model.ngeom, 3)), _Floor(-1, np.ones((1, 1, 3)), np.ones(2))
    for geom, material in enumerate(model.geom_matid):
        texture = -1 if material < 0 else model.mat_texid[material, _ROLES].max()
        if texture < 0:
            continue
        pixels, size = _pixels(model, texture), model.geom_size[geom, :2]
        tints[geom] = pixels.mean(axis=(0, 1))
        if floor.geom < 0 and model.geom_type[geom] in _GROUND:
            uniform = model.mat_texuniform[material] or not size.all()  # an endless plane has no size
            repeats = np.array([0.5, -0.5]) * model.mat_texrepeat[material] / (1 if uniform else size)
            floor = _Floor(geom, pixels / np.maximum(tints[geom], 1e-6), repeats)
    return tints, floor


def _pixels(model: mujoco.MjModel, texture: int) -> np.ndarray:
    """A texture of the model, (height, width, 3) in [0, 1]."""
    height, width = model.tex_height[texture], model.tex_width[texture]
    channels, first = model.tex_nchannel[texture], model.tex_adr[texture]
    pixels = model.tex_data[first : first + height * width * channels].reshape(height, width, channels)
    return np.asarray(pixels[..., [0, 1, 2] if channels >= 3 else [0, 0, 0]] / 255)


def _read_view(scene: mujoco.MjvScene, height: int, width: int) -> _View:
    """The view of a scene's camera in a frame of height x width pixels."""
    camera = mujoco.mjv_averageCamera(*scene.camera)  # of two eyes
    forward, up = camera.forward.astype(np.float64), camera.up.astype(np.float64)
    right = np.cross(forward, up)
    tall = camera.frustum_top - camera.frustum_bottom
    wide = 2 * camera.frustum_width or tall * width / height
    eye, ahead = camera.pos.astype(np.float64), float(camera.frustum_near)
    if camera.orthographic:
        ahead = _FAR * tall
        eye -= ahead * forward
    corner = ahead * forward + (camera.frustum_center - wide / 2) * right + camera.frustum_top * up
    return _View(eye, corner, np.stack((wide / width * right, -tall / height * up)))


def _read_lights(scene: mujoco.MjvScene, eye: np.ndarray, extent: float) -> _Lights:
    """The lights of a scene, seen from the eye, (3,), around a model of an extent [m]."""
    lights, sun = scene.lights[: scene.nlight], mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    places = [eye - _SUN * extent * light.dir if light.type == sun else light.pos for light in lights]
    rows = places, [light.ambient for light in lights], [light.diffuse for light in lights]
    positions, ambient, diffuse = (np.array(vectors, np.float64).reshape(-1, 3) for vectors in rows)
    casting = np.array([bool(light.castshadow) for light in lights], np.bool_)
    return _Lights(positions, ambient, diffuse, casting)


def _find_edges(colors: np.ndarray) -> np.ndarray:
    """Which pixels of a frame, (height, width, 3), differ from a neighbour, (height, width) bool."""
    edges = np.zeros(colors.shape[:2], np.bool_)
    brightness = colors @ _BRIGHTNESS
    down, across = (np.abs(np.diff(brightness, axis=axis)) > _CONTRAST for axis in (0, 1))
    edges[1:] |= down
    edges[:-1] |= down
    edges[:, 1:] |= across
    edges[:, :-1] |= across
    return edges


@compiled()
def _shade(
    eye: np.ndarray, geoms: np.ndarray, points: np.ndarray, normals: np.ndarray,
    lights: _Lights, lit: np.ndarray, flat: np.ndarray, emission: np.ndarray, colors: np.ndarray,
) -> None:  # fmt: skip
    """Write the colours, (n, 3), of points on geoms of flat colours in the light that they get and emit."""
    for n in range(len(geoms)):
        if geoms[n] < 0:
            continue
        slant = 0.0
        for k in range(3):
            colors[n, k] = emission[geoms[n]]
            slant += normals[n, k] * (eye[k] - points[n, k])
        for light in range(len(lights.casting)):
            square, facing = 1e-24, 0.0
            for k in range(3):
                towards = lights.positions[light, k] - points[n, k]
                square += towards**2
                facing += normals[n, k] * towards
            # the inside of a surface looks like its outside
            cosine = max(facing if slant >= 0 else -facing, 0.0) / np.sqrt(square)
            for k in range(3 * lit[n, light]):
                colors[n, k] += lights.ambient[light, k] + cosine * lights.diffuse[light, k]
        for k in range(3):
            colors[n, k] *= flat[geoms[n], k]


@compiled()
def _add_picture(
    eye: np.ndarray, geoms: np.ndarray, points: np.ndarray, normals: np.ndarray,
    floor: _Floor, axes: np.ndarray, pixel: float, colors: np.ndarray,
) -> None:  # fmt: skip
    """Multiply the colours of the floor by its picture; `axes`, (2, 4), map a point to a place in it."""
    height, width = floor.picture.shape[:2]
    for n in range(len(geoms)):
        if geoms[n] < 0 or geoms[n] != floor.geom:
            continue
        u, v, slant, square = axes[0, 3], axes[1, 3], 0.0, 0.0
        for k in range(3):
            u += axes[0, k] * points[n, k]
            v += axes[1, k] * points[n, k]
            slant += normals[n, k] * (eye[k] - points[n, k])
            square += (eye[k] - points[n, k]) ** 2
        column, row = min(int(u % 1 * width), width - 1), min(int(v % 1 * height), height - 1)
        # far away, where a pixel sees several squares at once, it sees their mean
        footprint = pixel * square / max(abs(slant), 1e-9)
        blur = min(max(2 * footprint * floor.repeats[0] - 0.5, 0.0), 1.0)
        for k in range(3):
            colors[n, k] *= blur + (1 - blur) * floor.picture[row, column, k]

"""`RayCanvas` draws a MuJoCo scene without OpenGL: by following rays, with true shadows."""

from typing import NamedTuple

import mujoco
import numpy as np

from robots.compilation import compiled
from robots.errors import RenderingError
from robots.rendering.lighting import Lights
from robots.rendering.scene import View, read_haze, read_lights, read_surfaces, scene_view
from robots.rendering.shading import Haze, Surfaces, shade
from robots.rendering.textures import make_textures

_MOST_PIXELS = 2**24  # some 100 bytes of memory each
_FURTHEST = 1e10  # [m]
_SUN = 1000.0  # a light from one direction is so many times the model's extent away
_GAP = (
    1e-4  # a shadow falls on what is so many times the model's extent behind; closer, a surface hits itself
)
_CREASE = 0.9  # cosine of the angle between normals from which on a surface has an edge


class _Sight(NamedTuple):
    """What n rays saw: geom, normal, which lights reach it, colour."""

    geoms: np.ndarray  # (n,)
    normals: np.ndarray  # (n, 3)
    lit: np.ndarray  # (lights, n)
    colors: np.ndarray  # (n, 3)


class _Scene(NamedTuple):
    """What all rays of a frame have in common."""

    surfaces: Surfaces
    lights: Lights
    haze: Haze


class RayCanvas:
    """Draws what rays from the eye hit, one a pixel and more along edges.

    It draws geoms as MuJoCo's OpenGL renderer does, except that meshes are faceted, nothing reflects, a flat
    texture falls on a geom straight along its z axis, and what is less than half opaque is left out while the
    rest is opaque. Sites, tendons and skins are not drawn.

    Args:
        model: of the robot; geoms that are left out are put into a hidden group of it.
        width: of the frames [pixels].
        height: of the frames [pixels].
        samples: rays for a pixel that an edge passes through; 0 or 1 draws jagged edges.

    Raises:
        RenderingError: the frame has too many pixels.
    """

    def __init__(self, model: mujoco.MjModel, width: int, height: int, samples: int) -> None:
        if width * height > _MOST_PIXELS:
            raise RenderingError(
                f"frames of {width} x {height} pixels cannot be drawn "
                f"(ray casting draws {_MOST_PIXELS:,} pixels at most)"
            )
        self._model = model
        self._shape = height, width
        self._textures = make_textures(model)
        _hide_glass(model)
        self._groups = mujoco.MjvOption().geomgroup.copy()
        rows, columns = np.mgrid[:height, :width]
        self._centers = np.stack((columns, rows), axis=-1).reshape(-1, 2) + 0.5  # (pixels, 2)
        self._offsets = _spread(samples)
        self._closed = False

    def close(self) -> None:
        """Draw no more."""
        self._closed = True

    def draw(self, data: mujoco.MjData, scene: mujoco.MjvScene) -> np.ndarray:
        """Draw a scene made of a state, (height, width, 3) uint8."""
        if self._closed:
            raise RenderingError("the camera is closed")
        height, width = self._shape
        view = scene_view(scene, width, height)
        common = _Scene(
            read_surfaces(self._model, data, scene),
            read_lights(scene),
            read_haze(self._model, scene, self._textures),
        )
        seen = self._look(data, view, common, self._centers)
        colors = seen.colors.reshape(height, width, 3)
        if len(self._offsets) > 1:
            edges = np.zeros((height, width), np.bool_)
            _mark_edges(_keys(seen).reshape(height, width), seen.normals.reshape(height, width, 3), edges)
            places = self._centers[edges.ravel()]
            finer = self._look(data, view, common, (places[:, None] + self._offsets).reshape(-1, 2))
            colors[edges] = finer.colors.reshape(-1, len(self._offsets), 3).mean(axis=1)
        return np.rint(255 * colors).astype(np.uint8)

    def _look(self, data: mujoco.MjData, view: View, common: _Scene, places: np.ndarray) -> _Sight:
        """Look through places of the frame [pixels from its upper left corner], (n, 2)."""
        rays = view.corner + places[:, :1] * view.across + places[:, 1:] * view.down
        geoms, distances, normals = self._cast(data, view.eye, rays)
        lit = self._lit(data, common.lights, view.eye, view.eye + distances[:, None] * rays, geoms)
        colors = np.empty_like(rays)
        pixel = float(np.linalg.norm(view.down) / np.linalg.norm(view.corner))
        shade(
            view.eye, rays, geoms, distances, normals, lit, pixel,
            common.surfaces, common.lights, self._textures, common.haze, colors,
        )  # fmt: skip
        return _Sight(geoms, normals, lit, colors)

    def _lit(
        self, data: mujoco.MjData, lights: Lights, eye: np.ndarray, points: np.ndarray, geoms: np.ndarray
    ) -> np.ndarray:
        """Whether each light reaches the points that n rays hit, (lights, n) bool."""
        extent = self._model.stat.extent
        lit = np.ones((len(lights.casting), len(points)), np.bool_)
        hit = geoms >= 0
        for light in np.flatnonzero(lights.casting):
            # MuJoCo casts many rays from one point, not to one: so from the light, even if it is the sun
            source = lights.positions[light]
            if lights.directional[light]:
                source = eye - _SUN * extent * lights.directions[light]
            beams = points[hit] - source
            _, reached, _ = self._cast(data, source, beams)
            lengths = np.linalg.norm(beams, axis=1)
            lit[light, hit] = (reached < 0) | ((1 - reached) * lengths < _GAP * extent)
        return lit

    def _cast(
        self, data: mujoco.MjData, start: np.ndarray, rays: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The geoms (-1 for none) that rays hit first, how many rays away, and the normals there."""
        n = len(rays)
        geoms, distances, normals = np.full(n, -1, np.int32), np.full(n, -1.0), np.zeros((n, 3))
        if n:
            mujoco.mj_multiRay(
                self._model, data, start, rays.ravel(), self._groups, True, -1,
                geoms, distances, normals.ravel(), n, _FURTHEST,
            )  # fmt: skip
        return geoms, distances, normals


def _hide_glass(model: mujoco.MjModel) -> None:
    """Put what is less than half opaque into a group that rays pass through."""
    for geom, material in enumerate(model.geom_matid):
        rgba = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
        if rgba[3] < 0.5:
            model.geom_group[geom] = mujoco.mjNGROUP - 1


def _spread(samples: int) -> np.ndarray:
    """Places evenly spread over a pixel, from its centre, (samples, 2): Hammersley's."""
    digits = [sum((k >> bit & 1) / 2 ** (bit + 1) for bit in range(16)) for k in range(samples)]
    spread = np.array([((k + 0.5) / samples, digits[k]) for k in range(samples)]).reshape(-1, 2)
    return spread - spread.mean(axis=0) if samples else spread


def _keys(seen: _Sight) -> np.ndarray:
    """A number per ray that tells what it saw, in what light."""
    keys = seen.geoms.astype(np.int64)
    for row in seen.lit:
        keys = 2 * keys + row
    return keys


@compiled()
def _mark_edges(keys: np.ndarray, normals: np.ndarray, edges: np.ndarray) -> None:
    """Mark the pixels, (height, width), that differ from their left or upper neighbour, and these too."""
    height, width = keys.shape
    for i in range(height):
        for j in range(width):
            for up, left in ((1, 0), (0, 1)):
                if i < up or j < left:
                    continue
                near = normals[i - up, j - left]
                cosine = near[0] * normals[i, j, 0] + near[1] * normals[i, j, 1] + near[2] * normals[i, j, 2]
                other = keys[i, j] != keys[i - up, j - left]
                if other or (keys[i, j] >= 0 and cosine < _CREASE):
                    edges[i, j] = edges[i - up, j - left] = True

"""`RayCanvas` draws a MuJoCo scene without OpenGL: matt surfaces, shadows, a checkered floor, a plain sky."""

import mujoco
import numpy as np

_FURTHEST = 1e10  # [m] to which rays are followed
_SUN = 10_000.0  # a light from one direction stands this many times the model's extent away
_GAP = 1e-4  # what a light's ray misses by less than this many times the model's extent is lit
_GLIMMER = 0.3  # MuJoCo shows a scene without lights in this much light from everywhere
_TILE = 0.5  # [m] side of the squares of a floor that has a texture ...
_TONES = 0.92, 1.08  # ... whose mean colour they have times this
_PALE = 40.0  # [m] from the eye, beyond which its squares cannot be told apart
_GROUND = int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD)
_ROLES = [int(mujoco.mjtTextureRole.mjTEXROLE_RGB), int(mujoco.mjtTextureRole.mjTEXROLE_RGBA)]


class RayCanvas:
    """Draws what rays from the eye hit, one ray for each pixel, in perspective.

    Geoms are drawn in the colours of their materials and the mean colour of their textures, shaded by
    Lambert's law; a floor with a texture has squares of two tones. Spotlights shine in all directions.
    Highlights, reflections, sites, tendons, skins and geoms less than half opaque are left out.

    Args:
        model: the robot; transparent geoms are moved to a hidden group of it, and the boxes in which MuJoCo
            looks for the geoms of a body grow.
        width, height: of the frames [pixels].
    """

    def __init__(self, model: mujoco.MjModel, width: int, height: int) -> None:
        self._model, self._shape = model, (height, width, 3)
        textures = [
            -1 if material < 0 else model.mat_texid[material, _ROLES].max() for material in model.geom_matid
        ]
        self._tints = np.array([mean_color(model, texture) for texture in textures])  # (g, 3)
        self._tiled = np.isin(model.geom_type, _GROUND) & (np.array(textures) >= 0)
        skies = np.flatnonzero(model.tex_type == int(mujoco.mjtTexture.mjTEXTURE_SKYBOX))
        self._sky = mean_color(model, skies[0]) if len(skies) else np.zeros(3)
        self._groups = mujoco.MjvOption().geomgroup.copy()
        for geom in range(model.ngeom):
            if geom_color(model, geom)[3] < 0.5:
                model.geom_group[geom] = mujoco.mjNGROUP - 1
        _widen_boxes(model)
        rows, columns = np.mgrid[:height, :width]
        self._centers = np.stack((columns, rows), axis=-1).reshape(-1, 2) + 0.5  # (pixels, 2)

    def close(self) -> None:
        """Do nothing, as there is nothing to free."""

    def draw(self, data: mujoco.MjData, scene: mujoco.MjvScene) -> np.ndarray:
        """Draw a scene made of a state, (height, width, 3) uint8."""
        eye, corner, steps = _view(scene, *self._shape[:2])
        rays = corner + self._centers[:, :1] * steps[0] + self._centers[:, 1:] * steps[1]
        geoms, distances, normals = self._cast(data, eye, rays)
        hit = np.flatnonzero(geoms >= 0)
        geoms, rays, normals = geoms[hit], rays[hit], normals[hit]
        points = eye + distances[hit, None] * rays
        normals *= -np.sign(np.einsum("nk,nk->n", normals, rays))[:, None]  # an inside looks like its outside
        flat = self._tints.copy()
        glow = np.full((len(flat), 1), 0.0 if scene.nlight else _GLIMMER)
        for geom in scene.geoms[: scene.ngeom]:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                flat[geom.objid] *= geom.rgba[:3]
                glow[geom.objid] += geom.emission
        light = glow[geoms] + self._light(data, scene, eye, points, normals)
        tiles = np.floor(points[:, :2] / _TILE).astype(int).sum(axis=1) % 2
        near = np.linalg.norm(points - eye, axis=1) < _PALE
        tones = np.where(self._tiled[geoms] & near, np.take(_TONES, tiles), 1.0)
        colors = np.tile(self._sky, (len(self._centers), 1))
        colors[hit] = light * flat[geoms] * tones[:, None]
        return np.rint(255 * colors.clip(max=1)).astype(np.uint8).reshape(self._shape)

    def _light(
        self,
        data: mujoco.MjData,
        scene: mujoco.MjvScene,
        eye: np.ndarray,
        points: np.ndarray,
        normals: np.ndarray,
    ) -> np.ndarray:
        """The light that reaches points with normals, of red, green and blue, (n, 3)."""
        total, extent = np.zeros_like(points), self._model.stat.extent
        for light in scene.lights[: scene.nlight]:
            sun = light.type == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
            position = np.asarray(eye - _SUN * extent * light.dir if sun else light.pos, np.float64)
            rays = points - position  # MuJoCo casts many rays from one point, not to one
            lengths = np.sqrt(np.einsum("nk,nk->n", rays, rays)) + 1e-12
            cosines = np.maximum(-np.einsum("nk,nk->n", normals, rays) / lengths, 0.0)
            reached = np.ones(len(points), np.bool_)
            if light.castshadow:
                geoms, distances, _ = self._cast(data, position, rays)
                reached = (geoms < 0) | ((1 - distances) * lengths < _GAP * extent)
            total += reached[:, None] * (light.ambient + cosines[:, None] * light.diffuse)
        return total

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


def mean_color(model: mujoco.MjModel, texture: int) -> np.ndarray:
    """Mean red, green and blue of a texture, (3,); white of -1, none."""
    if texture < 0:
        return np.ones(3)
    channels, first = int(model.tex_nchannel[texture]), model.tex_adr[texture]
    size = model.tex_height[texture] * model.tex_width[texture] * channels
    mean = model.tex_data[first : first + size].reshape(-1, channels).mean(axis=0) / 255
    return np.asarray(mean[[0, 1, 2] if channels >= 3 else [0, 0, 0]])


def _view(scene: mujoco.MjvScene, height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the rays of a frame start, (3,) [m], and how they spread.

    The latter is the direction of the ray through the frame's upper left corner, (3,), and what a pixel to
    the right and a pixel further down add to it, (2, 3).
    """
    camera = mujoco.mjv_averageCamera(*scene.camera)  # of two eyes
    forward, up = camera.forward.astype(np.float64), camera.up.astype(np.float64)
    right = np.cross(forward, up)
    tall = camera.frustum_top - camera.frustum_bottom
    wide = 2 * camera.frustum_width or tall * width / height
    eye, ahead = camera.pos.astype(np.float64), float(camera.frustum_near)
    corner = ahead * forward + (camera.frustum_center - wide / 2) * right + camera.frustum_top * up
    return eye, corner, np.stack((wide / width * right, -tall / height * up))

"""`Surface`: the triangles of a mesh, and a coarser copy of them."""

from dataclasses import dataclass

import mujoco
import numpy as np

_FEWEST = 4  # vertices of a mesh that MuJoCo accepts
_GROWTH = 1.25  # of the cells, until few enough triangles are left


@dataclass(frozen=True)
class Surface:
    """Triangles.

    Attributes:
        vertices: (v, 3) [m].
        faces: the vertices of each triangle, (f, 3).
    """

    vertices: np.ndarray
    faces: np.ndarray


def read_surface(model: mujoco.MjModel, mesh: int) -> Surface:
    """A compiled mesh as its MJCF places it: MuJoCo keeps it in the frame of its inertia."""
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.mesh_quat[mesh])
    vertices = model.mesh_vert[first : first + count] @ rotation.reshape(3, 3).T + model.mesh_pos[mesh]
    first, count = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    return Surface(vertices, model.mesh_face[first : first + count].copy())


def write_surface(surface: Surface, mesh: mujoco.MjsMesh) -> None:
    """Make a surface the content of a mesh, instead of a file."""
    mesh.file, mesh.content_type = "", ""
    mesh.scale, mesh.refpos, mesh.refquat = [1, 1, 1], [0, 0, 0], [1, 0, 0, 0]
    enough = np.arange(max(len(surface.vertices), _FEWEST)) % len(surface.vertices)
    mesh.uservert = surface.vertices[enough].ravel().tolist()
    mesh.userface = surface.faces.ravel().tolist()


def part(surface: Surface, chosen: np.ndarray) -> Surface:
    """Some of a surface's triangles, (f,) bool."""
    used, faces = np.unique(surface.faces[chosen], return_inverse=True)
    return Surface(surface.vertices[used], faces.reshape(-1, 3))


def coarsened(surface: Surface, most: int) -> Surface:
    """A surface that looks the same from afar, with at most so many triangles.

    Vertices in the same cell of a grid become one, at their mean; triangles that lose a corner go. The cells
    grow until few enough are left.
    """
    if len(surface.faces) <= most:
        return surface
    cell = np.sqrt(_area(surface) / most)
    while len((coarse := _merged(surface, cell)).faces) > most:
        cell *= _GROWTH
    return coarse


def _merged(surface: Surface, cell: float) -> Surface:
    """A surface whose vertices in the same cubic cell [m] are one."""
    cells = np.floor((surface.vertices - surface.vertices.min(axis=0)) / cell).astype(np.int64)
    _, group, sizes = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    sums = [np.bincount(group, surface.vertices[:, axis], len(sizes)) for axis in range(3)]
    faces = group[surface.faces]
    corners = np.sort(faces, axis=1)
    whole = (corners[:, 0] < corners[:, 1]) & (corners[:, 1] < corners[:, 2])
    _, first = np.unique(corners[whole], axis=0, return_index=True)
    return Surface(np.stack(sums, axis=1) / sizes[:, None], faces[whole][np.sort(first)])


def _area(surface: Surface) -> float:
    """Area of all triangles [m²]."""
    a, b, c = (surface.vertices[surface.faces[:, corner]] for corner in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

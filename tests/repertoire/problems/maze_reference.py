"""The maze in plain NumPy, all steps of all robots, to compare the kernels with."""

import numpy as np

from repertoire.problems.maze import WALLS

_A, _E = WALLS[:, 0], WALLS[:, 1] - WALLS[:, 0]


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def to_walls(positions: np.ndarray) -> np.ndarray:
    """From each position (n, 2) to the nearest point of each wall, (n, walls, 2)."""
    to_a = _A - positions[:, None]
    share = np.clip(-np.sum(to_a * _E, axis=-1) / np.sum(_E**2, axis=-1), 0, 1)
    return to_a + share[..., None] * _E


def lasers(positions: np.ndarray, headings: np.ndarray) -> np.ndarray:
    """Lengths at -45, 0 and 45 degrees of robots at positions (n, 2) with headings (n,) [rad], (n, 3)."""
    lengths = []
    for angle in (-np.pi / 4, 0, np.pi / 4):
        ray = np.stack([np.cos(headings + angle), np.sin(headings + angle)], axis=-1)[:, None]
        to_a = _A - positions[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            length, share = cross(to_a, _E) / cross(ray, _E), cross(to_a, ray) / cross(ray, _E)
        # the first look grazes the end of a wall
        hit = (length >= 0) & (length <= 0.2) & (share >= -1e-12) & (share <= 1 + 1e-12)
        lengths.append(np.where(hit, length, 0.2).min(axis=1))
    return np.stack(lengths, axis=-1)


def bumpers(positions: np.ndarray, headings: np.ndarray) -> np.ndarray:
    """The bumpers on the right and left, (n, 2), each 1 or -1."""
    to_wall = to_walls(positions)
    angle = np.arctan2(to_wall[..., 1], to_wall[..., 0]) - headings[:, None]
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    near = np.linalg.norm(to_wall, axis=-1) < 0.015
    right, left = (angle > -np.pi / 2) & (angle <= 0), (angle >= 0) & (angle < np.pi / 2)
    return np.where(np.stack([(near & right).any(axis=1), (near & left).any(axis=1)], axis=-1), 1.0, -1.0)


def episodes(controllers: np.ndarray, steps: int = 250) -> tuple[np.ndarray, np.ndarray]:
    """Positions before each step (n, steps, 2) and energies (n,) of controllers (n, 138)."""
    n = len(controllers)
    w1, b1, w2, b2, w3, b3 = np.split(controllers.astype(np.float64), np.cumsum([40, 8, 64, 8, 16]), axis=1)
    positions, headings = np.full((n, 2), 0.15), np.full(n, np.pi / 2)
    felt, paths, energies = bumpers(positions, headings), np.empty((n, steps, 2)), np.zeros(n)
    for step in range(steps):
        paths[:, step] = positions
        x = np.concatenate([lasers(positions, headings), felt], axis=1)
        x = np.maximum(np.einsum("ni,nio->no", x, w1.reshape(n, 5, 8)) + b1, 0)
        x = np.maximum(np.einsum("ni,nio->no", x, w2.reshape(n, 8, 8)) + b2, 0)
        wheels = 0.025 * np.tanh(np.einsum("ni,nio->no", x, w3.reshape(n, 8, 2)) + b3)
        energies += np.sum(wheels**2, axis=1)
        felt = bumpers(positions, headings)
        stuck = np.linalg.norm(to_walls(positions), axis=-1).min(axis=1) <= 0.015
        turn = np.where(stuck, 0, (wheels[:, 1] - wheels[:, 0]) / 0.03)
        chord = np.where(stuck, 0, wheels.mean(axis=1) * np.sinc(turn / 2 / np.pi))
        middle = headings + turn / 2
        positions = positions + chord[:, None] * np.stack([np.cos(middle), np.sin(middle)], axis=-1)
        headings = headings + turn
    return paths, energies

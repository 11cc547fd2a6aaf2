"""`Textures`: a model's pictures, shrunk again and again, and kernels that look colours up in them."""

from typing import NamedTuple

import mujoco
import numpy as np

from robots.compilation import compiled

NONE = -1  # index of a texture that is not there
_LEVELS = 16  # at most: a texture of MuJoCo has no more than 2^15 pixels a side


class Textures(NamedTuple):
    """The pixels of k textures; a level has half the width and height of the one before.

    Attributes:
        pixels: of all levels of all textures, row by row, red, green and blue in [0, 1], (p, 3) float32.
        starts: the row of `pixels` that each level starts at, (k, levels).
        widths, heights: of the levels [pixels], (k, levels); a cube is six squares, one below the other.
        counts: levels that a texture has, (k,); a cube has one.
        sky: index of the texture around the scene, or NONE.
    """

    pixels: np.ndarray
    starts: np.ndarray
    widths: np.ndarray
    heights: np.ndarray
    counts: np.ndarray
    sky: int


def make_textures(model: mujoco.MjModel) -> Textures:
    """Read a model's textures."""
    shape = (max(model.ntex, 1), _LEVELS)
    starts, widths, heights = np.zeros(shape, np.int64), np.ones(shape, np.int64), np.ones(shape, np.int64)
    counts = np.ones(len(starts), np.int64)
    pixels = [np.ones((1, 3), np.float32)]  # so that there is one
    for texture in range(model.ntex):
        levels = _levels(_picture(model, texture), model.tex_type[texture] == mujoco.mjtTexture.mjTEXTURE_2D)
        counts[texture] = len(levels)
        for number, level in enumerate(levels):
            starts[texture, number] = sum(map(len, pixels))
            heights[texture, number], widths[texture, number] = level.shape[:2]
            pixels.append(level.reshape(-1, 3))
    skies = np.flatnonzero(model.tex_type == int(mujoco.mjtTexture.mjTEXTURE_SKYBOX))
    sky = int(skies[0]) if len(skies) else NONE
    return Textures(np.concatenate(pixels), starts, widths, heights, counts, sky)


def _picture(model: mujoco.MjModel, texture: int) -> np.ndarray:
    """A texture as MuJoCo holds it, (height, width, 3) in [0, 1]."""
    height, width, channels = (
        int(of[texture]) for of in (model.tex_height, model.tex_width, model.tex_nchannel)
    )
    start = int(model.tex_adr[texture])
    values = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    return np.broadcast_to(values if channels == 1 else values[..., :3], (height, width, 3)) / np.float32(255)


def _levels(picture: np.ndarray, shrinks: bool) -> list[np.ndarray]:
    """A picture and, where it shrinks, its halves down to a single pixel."""
    levels = [picture]
    while shrinks and max(picture.shape[:2]) > 1:
        for axis in (0, 1):
            even = picture.shape[axis] // 2 * 2
            if even:
                first, second = (picture.take(range(i, even, 2), axis) for i in (0, 1))
                picture = (first + second) / 2
        levels.append(picture)
    return levels


@compiled(forceinline=True)
def look_up(
    textures: Textures, texture: int, s: float, t: float, footprint: float, color: np.ndarray
) -> None:
    """Colour of a repeated picture at (s, t), of which one repeat is the unit square.

    Args:
        textures: all of them.
        texture: which.
        s: where, from left to right.
        t: where, from the top down.
        footprint: width of what one pixel of the frame sees, in repeats; details below it are blurred.
        color: written, (3,).
    """
    wanted = np.log2(max(footprint * textures.widths[texture, 0], 1.0))
    wanted = min(wanted, textures.counts[texture] - 1.0)
    level = int(wanted)
    share = wanted - level
    color[:] = 0.0
    _add(textures, texture, level, s, t, 1.0 - share, color)
    if share > 0.0:
        _add(textures, texture, level + 1, s, t, share, color)


@compiled(forceinline=True)
def _add(
    textures: Textures, texture: int, level: int, s: float, t: float, weight: float, color: np.ndarray
) -> None:
    """Add the weighted colour between the four pixels of a level around a point."""
    width, height = textures.widths[texture, level], textures.heights[texture, level]
    x, y = (s - np.floor(s)) * width - 0.5, (t - np.floor(t)) * height - 0.5
    left, top = int(np.floor(x)), int(np.floor(y))
    for j in range(2):
        row = _wrapped(top + j, height)
        for i in range(2):
            share = weight * (1 - abs(x - left - i)) * (1 - abs(y - top - j))
            pixel = textures.starts[texture, level] + row * width + _wrapped(left + i, width)
            for k in range(3):
                color[k] += share * textures.pixels[pixel, k]


@compiled(forceinline=True)
def _wrapped(index: int, size: int) -> int:
    """An index from -1 to the size, both inclusive, brought into the picture; a division takes longer."""
    if index < 0:
        return index + size
    return index - size if index >= size else index


@compiled(forceinline=True)
def look_up_cube(textures: Textures, texture: int, x: float, y: float, z: float, color: np.ndarray) -> None:
    """Colour of a cube in a direction, written to `color`, (3,): its faces are those of OpenGL 4.6, 8.13."""
    most = max(abs(x), abs(y), abs(z), 1e-300)
    if most == abs(x):
        face, s, t = (0, -z, -y) if x > 0 else (1, z, -y)
    elif most == abs(y):
        face, s, t = (2, x, z) if y > 0 else (3, x, -z)
    else:
        face, s, t = (4, x, -y) if z > 0 else (5, -x, -y)
    side = textures.widths[texture, 0]
    across = min(max((s / most + 1) / 2 * side - 0.5, 0.0), side - 1.0)
    down = min(max((t / most + 1) / 2 * side - 0.5, 0.0), side - 1.0)
    left, top = int(across), int(down)
    color[:] = 0.0
    for j in range(2):
        for i in range(2):
            row, column = min(top + j, side - 1), min(left + i, side - 1)
            share = (1 - abs(across - left - i)) * (1 - abs(down - top - j))
            pixel = textures.starts[texture, 0] + (face * side + row) * side + column
            for k in range(3):
                color[k] += share * textures.pixels[pixel, k]

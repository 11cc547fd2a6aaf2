"""The light on a surface, by the rules of OpenGL's fixed pipeline, which MuJoCo draws with.

Ambient, diffuse and Blinn-Phong specular light; each light that casts shadows is clipped on its own.
"""

from typing import NamedTuple

import numpy as np

from robots.compilation import compiled


class Lights(NamedTuple):
    """The l lights of a scene.

    Attributes:
        directional: whether all its light comes from one direction, (l,) bool.
        casting: whether it casts shadows, (l,) bool.
        positions, directions: (l, 3) each; a direction is that of the light.
        ambient, diffuse, specular: red, green and blue, (l, 3) each.
        cones: cosine of a spot's half angle and its exponent, (l, 2).
        fading: constant, linear and quadratic attenuation, (l, 3).
    """

    directional: np.ndarray
    casting: np.ndarray
    positions: np.ndarray
    directions: np.ndarray
    ambient: np.ndarray
    diffuse: np.ndarray
    specular: np.ndarray
    cones: np.ndarray
    fading: np.ndarray


@compiled(forceinline=True)
def light_up(
    lights: Lights,
    base: np.ndarray,
    gloss: np.ndarray,
    point: np.ndarray,
    view: np.ndarray,
    normal: np.ndarray,
    lit: np.ndarray,
    scratch: np.ndarray,
    color: np.ndarray,
) -> None:
    """Work out the light that a surface without texture sends to the eye from a point.

    Args:
        lights: all of them.
        base: the surface's colour, (3,).
        gloss: its emission, specular and shininess, (3,).
        point: where, (3,).
        view: unit vector from there to the eye, (3,).
        normal: of the surface there, (3,).
        lit: whether each light reaches the point, (l,).
        scratch: overwritten, (2, 3).
        color: written, (3,).
    """
    emission, specular, shininess = gloss
    towards, clipped = scratch[0], scratch[1]  # the light's direction; what lights with shadows send
    clipped[:] = 0.0
    for k in range(3):
        color[k] = emission * base[k]
    for light in range(len(lit)):
        strength = _strength(lights, light, point, towards) if lit[light] else 0.0
        if strength == 0.0:
            continue
        cosine = normal[0] * towards[0] + normal[1] * towards[1] + normal[2] * towards[2]
        shine = _shine(towards, view, normal, 128 * shininess) if cosine > 0 and specular > 0 else 0.0
        for k in range(3):
            own = lights.ambient[light, k] + max(cosine, 0.0) * lights.diffuse[light, k]
            own = strength * (own * base[k] + shine * specular * lights.specular[light, k])
            if lights.casting[light]:
                clipped[k] += min(own, 1.0)
            else:
                color[k] += own
    for k in range(3):
        color[k] = min(color[k], 1.0) + clipped[k]


@compiled(forceinline=True)
def _strength(lights: Lights, light: int, point: np.ndarray, towards: np.ndarray) -> float:
    """How strong a light is at a point; writes the unit vector from there to the light."""
    direction = lights.directions[light]
    if lights.directional[light]:
        for k in range(3):
            towards[k] = -direction[k]
        return 1.0
    for k in range(3):
        towards[k] = lights.positions[light, k] - point[k]
    distance = max(np.sqrt(towards[0] ** 2 + towards[1] ** 2 + towards[2] ** 2), 1e-12)
    for k in range(3):
        towards[k] /= distance
    cosine = -(towards[0] * direction[0] + towards[1] * direction[1] + towards[2] * direction[2])
    if cosine < lights.cones[light, 0]:
        return 0.0
    fading = lights.fading[light]
    faded = fading[0] + fading[1] * distance + fading[2] * distance**2
    return max(cosine, 0.0) ** lights.cones[light, 1] / max(faded, 1e-12)


@compiled(forceinline=True)
def _shine(towards: np.ndarray, view: np.ndarray, normal: np.ndarray, exponent: float) -> float:
    """Blinn and Phong's highlight."""
    square, dot = 0.0, 0.0
    for k in range(3):
        half = towards[k] + view[k]
        square += half * half
        dot += half * normal[k]
    return max(dot / np.sqrt(max(square, 1e-24)), 0.0) ** exponent

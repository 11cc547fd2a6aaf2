"""`dress` gives a robot of one's own a floor, light and colours where its MJCF brings none.

They are those of the included robots. Only what is looked at changes: no mass, no contact, no motion.
"""

from itertools import cycle

import mujoco

from robots.description import Description

_Color = tuple[float, ...]

# of the palette of Okabe and Ito, in the order of the Hexapod's legs
_LEGS = [
    (0.94, 0.66, 0.05, 1.0),
    (0.34, 0.71, 0.91, 1.0),
    (0.00, 0.62, 0.45, 1.0),
    (0.84, 0.37, 0.00, 1.0),
    (0.00, 0.45, 0.70, 1.0),
    (0.80, 0.47, 0.65, 1.0),
]
_SHELL, _LIMB = (0.14, 0.22, 0.36, 1.0), (0.33, 0.37, 0.43, 1.0)
_PLAIN = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's colour of what is given none
_HIDDEN = 3  # geoms in this group and those after it are not drawn


def dress(spec: mujoco.MjSpec, description: Description) -> None:
    """Add a floor of tiles, a sky, a light and colours to a spec that has none, in place.

    Legs are told apart by the colours of their last links if the soles of all have the same one. Bodies of
    which little would be seen show the shapes that can touch something.
    """
    torso, floor = spec.body(description.torso), spec.geom(description.floor)
    if not floor.material or not any(spec.material(floor.material).textures):
        _lay_tiles(spec, floor)
        for light in list(spec.lights):  # made for another floor
            spec.delete(light)
    if not spec.lights:
        _light(spec, torso)
    parts = description.legs.values()
    soles = [[spec.geom(sole) for sole in description.feet[part.foot]] for part in parts]
    if len(soles) > 1 and len({_color(spec, first) for first, *_ in soles}) == 1:
        for part, own, color in zip(parts, soles, cycle(_LEGS), strict=False):
            for geom in [*own, *spec.joint(part.joints[-1]).parent.find_all("geom")]:
                geom.rgba, geom.material = color, ""
    _show(spec, torso, [sole for own in soles for sole in own])
    for geom in torso.find_all("geom"):
        if _color(spec, geom) == _PLAIN:
            geom.rgba, geom.material = (_SHELL if geom.parent == torso else _LIMB), ""


def _light(spec: mujoco.MjSpec, torso: mujoco.MjsBody) -> None:
    torso.add_light(
        mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM,
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[-0.9, -1.2, 3],
        dir=[0.3, 0.4, -1],
        diffuse=[0.62, 0.60, 0.57],
    )
    # the shadow map of a directional light has a speckled corner: clipped so far out, it is out of sight
    spec.visual.map.shadowclip, glow = 4, spec.visual.headlight
    glow.ambient, glow.diffuse, glow.specular = [0.42, 0.42, 0.45], [0.28] * 3, [0.1] * 3


def _lay_tiles(spec: mujoco.MjSpec, floor: mujoco.MjsGeom) -> None:
    """Give the floor a picture, without which nobody sees that a robot moves, and the world a sky."""
    if not any(texture.type == mujoco.mjtTexture.mjTEXTURE_SKYBOX for texture in spec.textures):
        sky = {"rgb1": [0.50, 0.68, 0.88], "rgb2": [0.93, 0.95, 0.98], "width": 256, "height": 1536}
        kind, pattern = mujoco.mjtTexture.mjTEXTURE_SKYBOX, mujoco.mjtBuiltin.mjBUILTIN_GRADIENT
        spec.add_texture(name="surefoot_sky", type=kind, builtin=pattern, **sky)
        spec.visual.rgba.haze = [0.90, 0.93, 0.96, 1]
    kind, pattern = mujoco.mjtTexture.mjTEXTURE_2D, mujoco.mjtBuiltin.mjBUILTIN_CHECKER
    tiles = {"rgb1": [0.84, 0.85, 0.86], "rgb2": [0.68, 0.72, 0.76], "markrgb": [0.60, 0.65, 0.70]}
    mark = mujoco.mjtMark.mjMARK_EDGE
    spec.add_texture(
        name="surefoot_tiles", type=kind, builtin=pattern, mark=mark, width=512, height=512, **tiles
    )
    textures = [""] * int(mujoco.mjtTextureRole.mjNTEXROLE)
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "surefoot_tiles"
    spec.add_material(
        name="surefoot_ground", textures=textures, texrepeat=[2, 2], texuniform=True, specular=0
    )
    floor.material, floor.rgba = "surefoot_ground", _PLAIN


def _show(spec: mujoco.MjSpec, torso: mujoco.MjsBody, soles: list[mujoco.MjsGeom]) -> None:
    """Show soles, and the hidden shapes of bodies that show no mesh and fewer shapes than they hide."""
    if (spec.compiler.inertiagrouprange != [0, mujoco.mjNGROUP - 1]).any():
        return  # groups tell what has mass
    for body in [torso, *torso.find_all("body")]:
        hidden = [geom for geom in body.geoms if geom.group >= _HIDDEN]
        seen = [geom for geom in body.geoms if geom.group < _HIDDEN]
        whole = len(seen) >= len(hidden) or any(geom.type == mujoco.mjtGeom.mjGEOM_MESH for geom in seen)
        for geom in hidden:
            if geom in soles or not whole:
                geom.group = 0


def _color(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> _Color:
    own = tuple(geom.rgba.astype(float).round(6).tolist())
    return own if own != _PLAIN or not geom.material else tuple(spec.material(geom.material).rgba.tolist())

"""Ray casting draws what is there, and about what OpenGL draws where that works."""

import math

import mujoco
import numpy as np
import pytest

from robots.rendering.camera import Camera, rendering_problem
from robots.robot import load_robot
from robots.stance import standing_on_floor

SIZE = 120  # [pixels] of the square frames of scenes
FOVY = 60.0  # [degrees]
REACH = 10.0  # [m] from the eye down to the ground
# Only light from everywhere: what is drawn is the colour itself.
FLAT = '<headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/>'
DARK = '<headlight ambient=".2 .2 .2" diffuse="0 0 0" specular="0 0 0"/>'


def scene(world, *, assets="", headlight=FLAT, axes="1 0 0 0 1 0"):
    """A scene seen from above, REACH over the origin: x to the right, y up."""
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><visual>{headlight}</visual>
        <statistic extent="1"/><asset>{assets}</asset><worldbody>
        <camera mode="track" pos="0 0 {REACH}" xyaxes="{axes}" fovy="{FOVY}"/>{world}</worldbody></mujoco>"""
    )


def draw(model, data=None, canvas="raycasting"):
    if data is None:
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
    with Camera(model, width=SIZE, height=SIZE, canvas=canvas) as camera:
        return camera.frame(data)


def at(frame: np.ndarray, x: float, y: float, z: float = 0.0) -> list[int]:
    """Colour of the frame where a point of the scene is."""
    scale = SIZE / 2 / math.tan(math.radians(FOVY) / 2) / (REACH - z)
    return frame[int(SIZE / 2 - scale * y), int(SIZE / 2 + scale * x)].tolist()


@pytest.mark.parametrize("name", ["ant", "walker"])
@pytest.mark.skipif(rendering_problem() is not None, reason="OpenGL does not work here")
def test_both_canvases_draw_the_same_robot(name: str) -> None:
    robot = load_robot(name)
    frames, masks = [], []
    red = robot.modified("none", lambda _: None).model
    red.mat_rgba[:] = 1, 0, 0, 1
    red.mat_rgba[red.mat("ground").id] = 0, 1, 1, 1
    red.light_active[:] = 0
    red.vis.headlight.ambient[:] = 1
    for canvas in ("raycasting", "opengl"):
        frames.append(draw(robot.model, standing_on_floor(robot), canvas=canvas).astype(int))
        frame = draw(red, standing_on_floor(robot), canvas=canvas)
        masks.append((frame[..., 0] > 100) & (frame[..., 1] < 50))  # what is red
    difference = np.abs(frames[0] - frames[1]).mean(axis=2)
    assert difference.mean() < 20, "more than the squares of the floor, edges and highlights differs"
    assert (masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum() > 0.92, "another silhouette"
    assert masks[0].mean() > 0.003


def test_the_nearer_geom_hides_the_other() -> None:
    world = '<geom size="1" rgba="1 0 0 1"/><geom type="box" size="1 1 1" pos="1 0 3" rgba="0 0 1 1"/>'
    frame = draw(scene(world))
    assert at(frame, 0.5, 0.5, 4) == [0, 0, 255]
    assert at(frame, -0.7, 0) == [255, 0, 0]
    assert at(frame, -3, 3) == [0, 0, 0], "there is no sky"


def test_what_cannot_be_seen_is_not_drawn() -> None:
    world = """<geom size="1" pos="-2 0 0" rgba="1 0 0 .2"/>
        <geom size="1" pos="2 0 0" rgba="1 0 0 1" group="4"/>
        <geom size="1" pos="0 2 0" rgba="1 0 0 0"/><geom size="1" pos="0 -2 0" material="glass"/>
        <geom size=".5" rgba="1 0 0 .8" group="2"/>"""
    model = scene(world, assets='<material name="glass" rgba="1 0 0 .1"/>')
    groups = model.geom_group.copy()
    frame = draw(model)
    assert [at(frame, x, y) for x, y in ((-2, 0), (2, 0), (0, 2), (0, -2))] == [[0, 0, 0]] * 4
    assert at(frame, 0, 0) == [255, 0, 0]
    np.testing.assert_array_equal(model.geom_group, groups)


def test_a_shadow_falls_where_the_light_is_blocked() -> None:
    world = """<light type="directional" pos="0 0 9" dir="1 0 -1" diffuse=".5 .5 .5" specular="0 0 0"/>
        <geom type="plane" size="9 9 1" rgba="1 1 1 1"/><geom size=".5" pos="-1 0 2" rgba="1 0 0 1"/>"""
    frame = draw(scene(world, headlight=DARK))
    lit = round(255 * (0.2 + 0.5 * math.cos(math.radians(45))))
    # the shadow of the sphere's centre falls as far ahead as it is high, and is longer by a root of two
    assert at(frame, 1, 0) == at(frame, 1.6, 0) == at(frame, 1, 0.4) == [51, 51, 51]
    for x, y in ((1.8, 0), (0.2, 0), (1, 0.6), (1, -0.6), (-3, 0), (4, 4)):
        assert at(frame, x, y) == pytest.approx([lit] * 3, abs=1)
    quiet = draw(scene(world.replace("<light", '<light castshadow="false"'), headlight=DARK))
    assert at(quiet, 1, 0) == pytest.approx([lit] * 3, abs=1)


def test_a_floor_with_a_texture_has_squares_and_a_scene_without_light_is_dim() -> None:
    assets = """<texture name="t" type="2d" builtin="flat" rgb1=".5 0 0" width="8" height="8"/>
        <material name="m" texture="t"/>"""
    frame = draw(scene('<geom type="plane" size="0 0 1" material="m"/>', assets=assets))
    reds = [at(frame, x + 0.25, 0.25)[0] for x in (-1.0, -0.5, 0.0, 0.5)]
    assert reds[0] == reds[2] < reds[1] == reds[3]
    assert np.mean(reds) == pytest.approx(127, abs=1)
    dim = draw(scene('<geom size="1" rgba="1 0 0 1"/>', headlight='<headlight active="0"/>'))
    assert at(dim, 0, 0) == pytest.approx([0.3 * 255, 0, 0], abs=1)


def test_the_sky_is_plain_and_the_ground_below_it() -> None:
    sky = '<texture type="skybox" builtin="flat" rgb1=".2 .4 .6" rgb2=".2 .4 .6" width="8" height="48"/>'
    ground = '<geom type="plane" size="0 0 1" rgba="0 1 0 1"/>'
    column = draw(scene(ground, assets=sky, axes="1 0 0 0 0 1"))[:, SIZE // 2]
    assert (column[: SIZE // 2 - 1] == [51, 102, 153]).all()
    assert (column[SIZE // 2 + 1 :] == [0, 255, 0]).all()

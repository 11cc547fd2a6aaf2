"""Robots of one's own look like the included ones where their MJCF brings no looks, and move as they did."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robots import model
from robots.catalogue import robot_names
from robots.importing.draft import draft_robot
from robots.rendering.camera import Camera
from robots.rendering.overlay import foot_color
from robots.robot import Robot, load_robot, read_robot
from robots.stance import standing_on_floor

_LEG = """
    <body name="{n}_thigh" pos="{x} {y} 0">
      <joint name="{n}_hip" axis="0 1 0" range="-60 60"/>
      <geom type="capsule" fromto="0 0 0 .1 0 -.15" size=".02" {hidden}/>
      <body name="{n}_shin" pos=".1 0 -.15">
        <joint name="{n}_knee" axis="0 1 0" range="-60 60"/>
        <geom type="capsule" fromto="0 0 0 -.1 0 -.15" size=".02" {hidden}/>
        <geom name="{n}_foot" pos="-.1 0 -.15" size=".03" group="3"/>
      </body>
    </body>"""
_PLACES = {"fl": (0.2, 0.1), "fr": (0.2, -0.1), "bl": (-0.2, 0.1), "br": (-0.2, -0.1)}


def write_grey(folder: Path, *, hidden: str = "", floor: str = "") -> Path:
    """A quadruped without any looks, of which some shapes may be hidden."""
    legs = "".join(_LEG.format(n=n, x=x, y=y, hidden=hidden) for n, (x, y) in _PLACES.items())
    motors = "".join(f'<position joint="{n}_{j}" kp="60" kv="2"/>' for n in _PLACES for j in ("hip", "knee"))
    path, ground = folder / "grey.xml", "material='g'" if floor else ""
    path.write_text(
        '<mujoco model="grey"><option timestep=".005"/><default><position inheritrange="1"/></default>'
        f'{floor}<worldbody><geom name="floor" type="plane" size="0 0 1" {ground}/><light diffuse="1 1 1"/>'
        '<body name="trunk" pos="0 0 .35"><freejoint/><geom type="box" size=".2 .1 .05"/>'
        f"{legs}</body></worldbody><actuator>{motors}</actuator></mujoco>"
    )
    return draft_robot(path).path


@pytest.fixture
def grey(tmp_path: Path) -> Robot:
    return read_robot(write_grey(tmp_path))


def test_floor_light_and_legs_are_those_of_the_included_robots(grey: Robot) -> None:
    look, hexapod = grey.model, load_robot("hexapod").model
    material = look.geom_matid[look.geom("floor").id]
    tiles = look.tex_data[look.tex_adr[look.mat_texid[material].max()] :][: 512 * 512 * 3]
    own = hexapod.mat_texid[hexapod.geom_matid[hexapod.geom("floor").id]].max()
    np.testing.assert_array_equal(tiles, hexapod.tex_data[hexapod.tex_adr[own] :][: 512 * 512 * 3])
    np.testing.assert_array_equal(look.vis.headlight.ambient, hexapod.vis.headlight.ambient)
    np.testing.assert_array_equal(look.light_diffuse, hexapod.light_diffuse)
    colors = {foot_color(look, soles) for soles in grey.description.feet.values()}
    assert len(colors) == 4, "a colour for each leg"
    shins = {tuple(look.geom(f"{n}_shin_geom_0").rgba) for n in _PLACES}
    assert len(shins) == 4
    assert look.geom("trunk_geom_0").rgba[2] > look.geom("trunk_geom_0").rgba[0], "a dark blue shell"
    assert look.geom_group[look.geom("fl_foot").id] == 0, "soles are seen, so that they can light up"
    with Camera(look, width=160, height=120, canvas="raycasting") as camera:
        frame = camera.frame(standing_on_floor(grey)).reshape(-1, 3).astype(int)
    assert (np.ptp(frame, axis=1) > 80).sum() > 40, "legs in colours"


def test_pictures_change_no_motion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, ends = write_grey(tmp_path), []
    for dressing in (model.dress, lambda *_: None):
        monkeypatch.setattr(model, "dress", dressing)
        robot = read_robot(path)
        for compiled in (robot.model, robot.physics):
            data = mujoco.MjData(compiled)
            data.ctrl[:] = np.linspace(-0.3, 0.3, compiled.nu)
            mujoco.mj_step(compiled, data, 5)
            ends.append(data.qpos.copy())
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])


def test_what_the_mjcf_brings_is_kept(tmp_path: Path) -> None:
    textured = (
        '<asset><texture name="t" type="2d" builtin="flat" rgb1="1 0 0" width="8" height="8"/>'
        '<texture type="skybox" builtin="flat" rgb1="0 0 1" width="8" height="48"/>'
        '<material name="g" texture="t"/></asset>'
    )
    look = read_robot(write_grey(tmp_path, floor=textured)).model
    assert look.mat(look.geom_matid[look.geom("floor").id]).name == "g"
    np.testing.assert_array_equal(look.light_diffuse, [[1, 1, 1]])
    assert look.ntex == 2


@pytest.mark.parametrize("name", robot_names())
def test_the_included_robots_stay_as_they_are(name: str) -> None:
    robot = load_robot(name)
    spec = robot.spec()
    before = spec.copy().compile()
    for key in ("geom_rgba", "geom_matid", "geom_group", "light_diffuse", "tex_data"):
        np.testing.assert_array_equal(getattr(robot.model, key), getattr(before, key))


def test_shapes_of_bodies_that_show_nothing_are_shown(tmp_path: Path) -> None:
    look = read_robot(write_grey(tmp_path, hidden='group="3"')).model
    assert (look.geom_group[1:] < 3).all()

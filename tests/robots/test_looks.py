"""Robots of one's own look like the included ones where their MJCF brings no looks, and move as they did."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robots import model
from robots.importing.draft import draft_robot
from robots.rendering.camera import Camera
from robots.rendering.overlay import foot_color
from robots.robot import Robot, load_robot, read_robot
from robots.stance import standing_on_floor

GREY = Path(__file__).with_name("grey.xml").read_text()  # a quadruped without any looks
LEGS = ("fl", "fr", "bl", "br")


def write_grey(folder: Path, *changes: tuple[str, str]) -> Path:
    path, xml = folder / "grey.xml", GREY
    for old, new in changes:
        assert old in xml
        xml = xml.replace(old, new)
    path.write_text(xml)
    return path


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grey")
    return draft_robot(write_grey(folder)).path


@pytest.fixture(scope="module")
def grey(drafted: Path) -> Robot:
    return read_robot(drafted)


def test_floor_light_and_legs_are_those_of_the_included_robots(grey: Robot) -> None:
    look, hexapod = grey.model, load_robot("hexapod").model
    assert grey.physics.ntexdata < 100 < look.ntexdata, "what is simulated holds no pictures"
    material = look.geom_matid[look.geom("floor").id]
    tiles = look.tex_data[look.tex_adr[look.mat_texid[material].max()] :][: 512 * 512 * 3]
    own = hexapod.mat_texid[hexapod.geom_matid[hexapod.geom("floor").id]].max()
    np.testing.assert_array_equal(tiles, hexapod.tex_data[hexapod.tex_adr[own] :][: 512 * 512 * 3])
    np.testing.assert_array_equal(look.vis.headlight.ambient, hexapod.vis.headlight.ambient)
    np.testing.assert_array_equal(look.light_diffuse, hexapod.light_diffuse)
    colors = {foot_color(look, soles) for soles in grey.description.feet.values()}
    assert len(colors) == 4, "a colour for each leg"
    shins = {tuple(look.geom(f"{n}_shin_geom_0").rgba) for n in LEGS}
    assert len(shins) == 4
    assert look.geom("trunk_geom_0").rgba[2] > look.geom("trunk_geom_0").rgba[0], "a dark blue shell"
    assert look.geom_group[look.geom("fl_foot").id] == 0, "soles are seen, so that they can light up"
    with Camera(look, width=160, height=120, canvas="raycasting") as camera:
        frame = camera.frame(standing_on_floor(grey)).reshape(-1, 3).astype(int)
    assert (np.ptp(frame, axis=1) > 80).sum() > 40, "legs in colours"


def test_pictures_change_no_motion(drafted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for dressing in (model.dress, lambda *_: None):
        monkeypatch.setattr(model, "dress", dressing)
        robot = read_robot(drafted)
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
    floor = ('size="0 0 1" ', 'size="0 0 1" material="g"')
    path = write_grey(tmp_path, ("<worldbody>", f"{textured}<worldbody>"), floor)
    look = read_robot(draft_robot(path).path).model
    assert look.mat(look.geom_matid[look.geom("floor").id]).name == "g"
    np.testing.assert_array_equal(look.light_diffuse, [[1, 1, 1]])
    assert look.ntex == 2


def test_shapes_of_bodies_that_show_nothing_are_shown(tmp_path: Path) -> None:
    look = read_robot(draft_robot(write_grey(tmp_path, ('size=".02" ', 'size=".02" group="3"'))).path).model
    assert (look.geom_group[1:] < 3).all()

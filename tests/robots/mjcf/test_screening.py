"""MJCF that asks for too much is refused by a process of its own, in one sentence."""

import mujoco
import pytest

import robots.mjcf.screening
from robots.catalogue import MODELS
from robots.errors import InvalidRobotError
from robots.importing.draft import draft_robot
from robots.mjcf.screening import screen
from robots.robot import load_robot, robot_from_text

XML = (MODELS / "ant" / "ant.xml").read_text()
YAML = (MODELS / "ant" / "ant.yaml").read_text()
BALL = '<body pos="0 0 0.05"><freejoint/><geom size="0.1"/></body>'


def mjcf(world: str = "", before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>"


def replicated(times: int) -> str:
    return "<replicate count='100' offset='1 0 0'>" * times + BALL + "</replicate>" * times


BOMBS = {
    "height field": (
        mjcf(
            '<geom type="hfield" hfield="h"/>',
            '<asset><hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/></asset>',
        ),
        "more than 2 GiB of memory",
    ),
    "data of the user": (mjcf(BALL, '<size nuserdata="36000000"/>'), "more than 256 MiB of memory"),
    "replicated": (mjcf(replicated(4)), "more than (2 GiB of memory|1 s of processor time)"),
    "length range": (
        mjcf(
            '<body><joint name="j" axis="0 1 0"/><geom size="1"/></body>',
            '<compiler><lengthrange inttotal="1e9" mode="all"/></compiler>',
            '<actuator><motor joint="j"/></actuator>',
        ),
        "more than 1 s of processor time",
    ),
    "iterations": (
        mjcf(
            '<geom type="plane" size="1 1 1"/>' + BALL * 10,
            '<option solver="PGS" iterations="2000000000" tolerance="0"/>',
        ),
        "more than 1 s of processor time",
    ),
    "deep": (mjcf("<body>" * 10_000 + "</body>" * 10_000), "nested too deeply"),
    "crash": (mjcf(before='<asset><model name="zz"/></asset>'), "it makes MuJoCo crash"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_in_one_sentence(bomb: str, monkeypatch, tmp_path) -> None:
    text, message = BOMBS[bomb]
    if "1 s of" in message:  # the others are refused for what they are, however busy the machine is
        monkeypatch.setattr(robots.mjcf.screening, "_SECONDS", 1)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRobotError, match=rf"^mine: the MJCF .*({message})"):
        robot_from_text(text, YAML, origin="mine")
    assert not list(tmp_path.iterdir())


def test_a_step_that_takes_long_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(robots.mjcf.screening, "_STEP", -1.0)
    with pytest.raises(InvalidRobotError, match="takes more than -1 s for a physics step"):
        screen(mjcf(BALL * 2), "mine")


def test_a_model_that_is_large_once_it_is_compiled_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(robots.mjcf.screening, "_PART", 20 * 2**20)
    hills = '<asset><hfield name="h" nrow="2500" ncol="2500" size="1 1 1 1"/></asset>'
    with pytest.raises(InvalidRobotError, match="more than 20 MiB of memory for a model"):
        screen(mjcf("", hills), "mine")


def test_what_comes_along_or_was_accepted_starts_no_process(monkeypatch) -> None:
    screen(mjcf(BALL), "mine")
    monkeypatch.setattr("subprocess.run", None)
    screen(mjcf(BALL), "mine")
    screen(XML, "ant")
    with pytest.raises(TypeError):
        screen(mjcf(BALL + BALL), "mine")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ('timestep="0"', "timestep of the MJCF must be from 1e-05 to 0.1 s, not 0"),
        ('timestep="nan"', "timestep of the MJCF must be .*, not nan"),
        ('timestep="1e-12"', "timestep .* not 1e-12"),
        ('timestep="7"', "timestep .* not 7"),
        ('timestep="0.001" iterations="2000000000"', "option iterations .* from 0 to 1000, not 2000000000"),
        ('timestep="0.001" ls_iterations="-5"', "option ls_iterations .* not -5"),
        ('timestep="0.001" sdf_initpoints="100000"', "option sdf_initpoints .* not 100000"),
        ('timestep="0.001" wind="0 0 nan"', "numbers that are not finite, see wind"),
        ('size="0.08" solmix="nan"', "numbers that are not finite, see geom_solmix"),
    ],
)
def test_options_that_hang_or_fail_are_refused_wherever_a_robot_is_read(option, message, tmp_path):
    xml = XML.replace('timestep="0.004125"' if "timestep" in option else 'size="0.08"', option)
    assert xml != XML
    with pytest.raises(InvalidRobotError, match=message):
        robot_from_text(xml, YAML, origin="mine")
    path = tmp_path / "ant.xml"
    path.write_text(xml)
    with pytest.raises(InvalidRobotError, match=message):
        draft_robot(path)


def test_many_degrees_of_freedom_have_a_dense_jacobian_where_mujoco_errs_with_a_sparse_one() -> None:
    arm = '<body pos="{} 0 0.2"><joint axis="0 1 0" range="-1 1"/><geom size="0.03" type="sphere"/></body>'
    torso = '<freejoint name="root"/>'
    xml = XML.replace(torso, torso + "".join(arm.format(0.1 * number) for number in range(60)))
    robot = robot_from_text(xml, YAML, origin="mine")
    for model in (robot.model, robot.physics, robot.modified("same", lambda _: None).physics):
        assert model.nv == load_robot("ant").model.nv + 60
        assert mujoco.mj_isSparse(model) == (mujoco.__version__ != "4.0.0")

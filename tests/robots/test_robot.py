import copy
import pickle
import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest
import yaml

from adapt.damage.kinds.limbs import Lost
from robots.catalogue import MODELS, robot_names
from robots.deployment.deployment import deploy
from robots.description import parse_description
from robots.errors import InvalidFileError, InvalidRobotError
from robots.importing.checks import check_robot
from robots.motors import motor_of
from robots.robot import Modification, Robot, load_robot, read_robot, robot_from_text
from robots.simulation.stepper import Stepper, take_over
from tests.robots.stepping import begun, run_episodes

XML = (MODELS / "ant" / "ant.xml").read_text()
YAML = (MODELS / "ant" / "ant.yaml").read_text()


def _described(**changes: object) -> str:
    return yaml.safe_dump(yaml.safe_load(YAML) | changes, sort_keys=False)


@pytest.mark.parametrize(
    ("name", "sizes", "parameters", "archive"),
    [
        ("ant", (28, 8, 4), 21_256, (6, 6, 6, 6)),
        ("half_cheetah", (26, 6, 2), 20_742, (32, 32)),
        ("hopper", (15, 3, 1), 18_947, (1024,)),
        ("walker", (22, 6, 2), 20_230, (32, 32)),
    ],
)
def test_robots_have_the_sizes_of_the_paper(name, sizes, parameters, archive):
    robot = load_robot(name)
    assert (robot.observation_dim, robot.action_dim, robot.measure_dim) == sizes
    assert robot.controller.parameter_count == parameters
    assert robot.description.archive == archive
    assert robot.control_step == pytest.approx(0.0165)
    assert robot.description.episode_steps == 1000
    assert robot.model.opt.gravity[2] == pytest.approx(-9.8)


@pytest.mark.parametrize("name", robot_names())
def test_every_element_is_named(name: str) -> None:
    model = load_robot(name).model
    for kind, count in {
        "body": model.nbody,
        "joint": model.njnt,
        "geom": model.ngeom,
        "actuator": model.nu,
    }.items():
        assert all(getattr(model, kind)(i).name for i in range(count)), kind


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red"}, "unknown key 'colour'; available: name, title"),
        (
            {
                "joints": ["front_left_hip", "knee"],
                "position_rates": {},
                "legs": {"a": {"joints": ["knee"], "foot": "front_left"}},
            },
            "no joint 'knee'",
        ),
        ({"drag": -0.1}, "drag: .*greater than or equal to 0, not -0.1"),
        ({"position_rates": {"knee": 0.5}}, "position_rates names the joint 'knee', which is not among"),
        ({"torso": "head"}, "no body 'head'"),
        ({"position": {"torso": []}}, "position.torso: it must have at least 1, not \\[\\]"),
        ({"torso": "front_left_thigh"}, "must have one free joint and no other, or .*x-z plane"),
        ({"measures": ["front_left", "front_left"]}, "measures names 'front_left' twice"),
        ({"measures": {"x": [1.0, 1.0]}, "archive": [9]}, "measures.x must go from low to high"),
        ({"archive": [6, 6]}, "archive has 2 dimensions but there are 4 measures"),
        ({"feet": {"front_left": ["hoof"], 1: ["hoof"]}, "measures": ["tail"]}, "feet.1.*valid string"),
        ({"alive": {"min_height": float("nan")}}, "alive.min_height: .*finite"),
        ({"alive": {"untouched": ["knee"]}}, "alive.untouched names the foot 'knee'.*front_left"),
        ({"controller": {"kind": "mlp"}}, "controller: missing key 'hidden'"),
        ({"controller": {"kind": "brain", "hidden": [4]}}, "unknown controller 'brain'; available: mlp"),
    ],
)
def test_a_wrong_description_is_refused_in_one_sentence(changes: dict, message: str) -> None:
    with pytest.raises(InvalidRobotError, match=message) as caught:
        robot_from_text(XML, _described(**changes), origin="my.yaml")
    assert str(caught.value).startswith("my.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (YAML.replace("\ntorso: ", "\n# "), "missing key 'torso'"),
        ("- a\n- b", "must hold a mapping of keys to values, not list"),
        ("", "must hold a mapping of keys to values, but it is empty"),
    ],
)
def test_what_is_not_a_yaml_mapping_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidRobotError, match=rf"^my\.yaml.*{message}"):
        parse_description(text, origin="my.yaml")


@pytest.mark.parametrize("xml", ["<mujoco>", "not xml", XML.replace('size="0.08"', 'size="-1"')])
def test_mjcf_that_does_not_compile_is_refused(xml: str) -> None:
    with pytest.raises(InvalidRobotError, match="the MJCF"):
        robot_from_text(xml, YAML, origin="mine")


def test_a_robot_can_be_read_from_anywhere_but_not_without_its_files(tmp_path) -> None:
    with pytest.raises(InvalidFileError, match="cannot read"):
        read_robot(tmp_path / "none.yaml")
    (tmp_path / "ant.yaml").write_text(YAML)
    with pytest.raises(InvalidRobotError, match=r"cannot read .*ant\.xml"):
        read_robot(tmp_path / "ant.yaml")
    (tmp_path / "ant.xml").write_text(XML)
    assert read_robot(tmp_path / "ant.yaml").model.nq == load_robot("ant").model.nq


def test_a_geom_that_something_refers_to_stays() -> None:
    known = load_robot("hexapod")
    bumpers = [f'<geom name="{i}" size="0.01" contype="0" conaffinity="0" density="0"/>' for i in range(4)]
    sites = '<site name="near" pos="-0.1 0 0.1"/><site name="far" pos="0.1 0 0.1"/>'
    more = (
        '<contact><pair geom1="0" geom2="floor"/></contact>'
        '<sensor><framepos objtype="geom" objname="1"/></sensor>'
        '<tendon><spatial><site site="near"/><geom geom="2"/><site site="far"/></spatial></tendon></mujoco>'
    )
    xml = known.xml.replace("<freejoint", f"{sites}{''.join(bumpers)}<freejoint", 1)
    model = robot_from_text(xml.replace("</mujoco>", more), known.yaml, origin="it").physics
    kept = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) >= 0 for name in "0123"]
    assert kept == [True, True, True, False]


def walked(robot: Robot) -> Stepper:
    stepper = begun(robot, 1)
    for _ in range(20):
        stepper.step(np.full(robot.action_dim, 0.5, np.float32))
    return stepper


def test_another_model_of_a_robot_goes_on_behind_the_filters_of_its_motors() -> None:
    known = load_robot("hexapod")
    xml = known.xml.replace("<position kp", '<position timeconst="0.1" kp')
    robot = robot_from_text(xml, known.yaml, origin="it").with_episode_steps(100)
    old, new = walked(robot), Stepper(Lost("left_front").apply(robot))
    take_over(new, old)
    left = [joint for joint in robot.description.joints if not joint.startswith("left_front")]
    before, after = ([motor_of(stepper.robot.physics, joint) for joint in left] for stepper in (old, new))
    assert abs(old.data.act).min() > 0
    for name in ("act", "ctrl"):
        np.testing.assert_array_equal(getattr(new.data, name)[after], getattr(old.data, name)[before])
    for name in ("ahead", "height_sum", "initial_x", "midway", "path"):
        assert getattr(new.tally, name) == getattr(old.tally, name), name
    repaired = Stepper(robot)
    take_over(repaired, new)
    lost = [joint for joint in robot.description.joints if joint not in left]
    assert [repaired.data.joint(joint).qvel[0] for joint in lost] == [0.0] * 3


def test_a_quaternion_of_the_start_has_the_length_of_1() -> None:
    robot = robot_from_text(XML, _described(start={"root": [0.0, 0, 0.75, 1.0, 0, 0, 1.0]}), origin="it")
    assert begun(robot).tally.yaw == pytest.approx(np.pi / 2)
    assert any("starts turned by 90°" in remark for remark in check_robot(robot).remarks)
    with pytest.raises(InvalidRobotError, match=r"start\.root must end in a quaternion, not in zeros"):
        robot_from_text(XML, _described(start={"root": [0.0] * 7}), origin="it")


def test_a_robot_that_goes_on_sees_what_it_saw() -> None:
    robot = load_robot("quadruped").with_episode_steps(100)
    old, new = walked(robot), Stepper(robot)
    take_over(new, old)
    np.testing.assert_array_equal(new.state.observation, old.state.observation)
    ant = walked(load_robot("ant"))
    height = ant.state.observation[0]
    ant.carry_on(2)
    assert ant.state.observation[0] == height != 0


def test_a_robot_that_was_compiled_unseen_can_be_copied() -> None:
    robot = replace(load_robot("hexapod"))
    robot.with_modifications(Modification("nothing", lambda spec: None), unseen=True)
    for other in (copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert other.modified("nothing", lambda spec: None).physics.nq == robot.physics.nq


def test_a_torso_that_moves_in_a_plane_must_not_be_turned() -> None:
    known = load_robot("hopper")
    xml = known.xml.replace('<body name="torso"', '<body name="torso" euler="0 0 180"', 1)
    assert xml != known.xml
    with pytest.raises(InvalidRobotError, match="must stand in the world as it is, not turned"):
        robot_from_text(xml, known.yaml, origin="it")


def test_ways_count_from_where_a_robot_begins() -> None:
    known = load_robot("hexapod")
    xml = re.sub(r'(<body name="torso" pos=")\S+ \S+', r"\g<1>3 2", known.xml)
    assert xml != known.xml
    elsewhere = robot_from_text(xml, known.yaml, origin="it")
    gait = known.controller.initial(np.random.default_rng(0))
    ways, laterals = [], []
    for robot in (known, elsewhere):
        ways.append(deploy(robot, gait, seconds=1, seed=1).walk)
        laterals.append(run_episodes(robot.with_episode_steps(50), gait, 1).lateral[0])
    assert ways[1].ahead == pytest.approx(ways[0].ahead, abs=0.02)
    assert ways[1].aside == pytest.approx(ways[0].aside, abs=0.02)
    assert laterals[1] == pytest.approx(laterals[0], abs=0.02)

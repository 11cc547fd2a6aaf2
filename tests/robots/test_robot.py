import mujoco
import numpy as np
import pytest
import yaml

from robots.catalogue import MODELS, robot_names
from robots.description import parse_description
from robots.errors import InvalidRobotError, UnknownNameError
from robots.robot import load_robot, read_robot, robot_from_text

XML = (MODELS / "ant" / "ant.xml").read_text()
YAML = (MODELS / "ant" / "ant.yaml").read_text()


def _described(**changes: object) -> str:
    return yaml.safe_dump(yaml.safe_load(YAML) | changes, sort_keys=False)


def test_the_ant_has_the_sizes_of_the_paper() -> None:
    ant = load_robot("ant")
    assert (ant.observation_dim, ant.action_dim, ant.measure_dim) == (28, 8, 4)
    assert ant.description.archive == (6, 6, 6, 6)
    assert ant.control_step == pytest.approx(0.0165)
    assert ant.model.opt.timestep == pytest.approx(0.004125)
    assert ant.model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert np.all(ant.model.actuator_gear[:, 0] == 150)
    assert ant.model.opt.gravity[2] == pytest.approx(-9.8)


@pytest.mark.parametrize("name", robot_names())
def test_every_element_is_named(name: str) -> None:
    model = load_robot(name).model
    for kind, count in (
        ("body", model.nbody),
        ("joint", model.njnt),
        ("geom", model.ngeom),
        ("actuator", model.nu),
    ):
        assert all(getattr(model, kind)(i).name for i in range(count)), kind


def test_legs_are_where_their_names_say() -> None:
    ant = load_robot("ant")
    data = mujoco.MjData(ant.model)
    mujoco.mj_forward(ant.model, data)
    for leg in ant.description.legs:
        x, y, _ = data.geom(f"{leg}_shin").xpos
        assert (x > 0) == leg.startswith("front"), leg
        assert (y > 0) == leg.endswith("left"), leg


def test_unknown_robot_lists_the_known() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown robot 'aunt' \(did you mean 'ant'\?\); available: .*ant"
    ):
        load_robot("aunt")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red"}, "unknown key 'colour'; available: name, title"),
        ({"substeps": "four"}, "substeps: .* not 'four'"),
        ({"substeps": 0}, "substeps: .* greater than 0, not 0"),
        (
            {"joints": ["front_left_hip", "knee"], "legs": {"a": {"joints": ["knee"], "foot": "front_left"}}},
            "no joint 'knee'",
        ),
        ({"floor": "lava"}, "no geom 'lava'; available: floor, torso"),
        ({"torso": "head"}, "no body 'head'"),
        ({"torso": "front_left_thigh"}, "must have one free joint"),
        ({"measures": ["front_left", "tail"]}, "measures name the foot 'tail'.*front_left, back_left"),
        ({"archive": [6, 6]}, "archive has 2 dimensions but there are 4 measures"),
        ({"feet": {"front_left": ["hoof"]}, "legs": {}}, "legs: .*"),
        ({"min_height": float("nan")}, "min_height: .*finite"),
        ({"controller": {"kind": "brain", "hidden": [4]}}, "controller.kind: .*'mlp'"),
    ],
)
def test_a_wrong_description_is_refused_in_one_sentence(changes: dict, message: str) -> None:
    with pytest.raises(InvalidRobotError, match=message) as caught:
        robot_from_text(XML, _described(**changes), origin="my.yaml")
    assert str(caught.value).startswith("my.yaml")
    assert "\n" not in str(caught.value)


def test_missing_key_is_named() -> None:
    content = yaml.safe_load(YAML)
    del content["torso"]
    with pytest.raises(InvalidRobotError, match="missing key 'torso'"):
        parse_description(yaml.safe_dump(content), origin="my.yaml")


@pytest.mark.parametrize("text", ["[1, 2", "- a\n- b", "!!python/object/apply:os.system ['true']", ""])
def test_what_is_not_a_yaml_mapping_is_refused(text: str) -> None:
    with pytest.raises(InvalidRobotError, match=r"my\.yaml"):
        parse_description(text, origin="my.yaml")


@pytest.mark.parametrize("xml", ["<mujoco>", "not xml", XML.replace('size="0.08"', 'size="-1"')])
def test_mjcf_that_does_not_compile_is_refused(xml: str) -> None:
    with pytest.raises(InvalidRobotError, match="the MJCF") as caught:
        robot_from_text(xml, YAML, origin="mine")
    assert "\n" not in str(caught.value)


def test_missing_files_are_refused(tmp_path) -> None:
    with pytest.raises(InvalidRobotError, match="cannot read"):
        read_robot(tmp_path / "none.yaml")
    (tmp_path / "ant.yaml").write_text(YAML)
    with pytest.raises(InvalidRobotError, match=r"cannot read .*ant\.xml"):
        read_robot(tmp_path / "ant.yaml")


def test_a_robot_can_be_read_from_anywhere(tmp_path) -> None:
    (tmp_path / "ant.yaml").write_text(YAML)
    (tmp_path / "ant.xml").write_text(XML)
    assert read_robot(tmp_path / "ant.yaml").model.nq == load_robot("ant").model.nq

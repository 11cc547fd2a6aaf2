"""A first YAML for an MJCF that has none."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from dogs import LEGS, dog, write_dog

from robots.catalogue import MODELS, robot_names
from robots.errors import InvalidRobotError, InvalidValueError
from robots.importing.draft import draft_robot
from robots.robot import load_robot, read_robot
from robots.simulation.simulation import Simulation

KNEE = '<joint name="{}_knee" axis="0 1 0"'


def test_a_draft_describes_a_robot_that_can_be_simulated(tmp_path: Path) -> None:
    path = draft_robot(write_dog(tmp_path))
    assert path == tmp_path / "robo_dog.yaml"
    robot = read_robot(path)
    description = robot.description
    assert (description.name, description.model) == ("robo_dog", "scene.xml")
    assert (description.torso, description.floor, description.keyframe) == ("trunk", "floor", "home")
    assert list(description.legs) == list(LEGS)
    for name, leg in description.legs.items():
        assert leg.joints == (f"{name}_hip", f"{name}_knee")
        assert description.feet[leg.foot] == (f"{name}_shin_geom_1",)
    assert description.measures == tuple(LEGS)
    assert description.archive == (6, 6, 6, 6)
    assert description.substeps * robot.model.opt.timestep == pytest.approx(0.02)
    # two stretched legs of 0.2 and 0.18 m at 0.5 and 0.4 rad to the vertical, and the sole's radius
    height = 0.2 * np.cos(0.5) + 0.18 * np.cos(0.4) + 0.02
    assert description.alive.min_height == pytest.approx(height / 2, abs=1e-3)
    with Simulation(robot.with_episode_steps(20), threads=1) as simulation:
        parameters = simulation.controller.initial(np.random.default_rng(0))[None]
        assert simulation.evaluate(parameters, np.zeros(1, np.int64)).steps[0] == 20


@pytest.mark.parametrize("name", robot_names())
def test_a_draft_finds_in_our_own_robots_what_their_descriptions_say(name: str, tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text((MODELS / name / f"{name}.xml").read_text())
    found, known = read_robot(draft_robot(tmp_path / "r.xml")).description, load_robot(name).description
    assert (found.torso, found.floor) == (known.torso, known.floor)
    assert set(found.joints) == set(known.joints)
    assert {leg.joints for leg in found.legs.values()} == {leg.joints for leg in known.legs.values()}
    measured = {known.feet[foot] for foot in known.measures}
    assert {found.feet[foot] for foot in found.measures} == measured


def test_joints_without_a_useful_range_get_one(tmp_path: Path) -> None:
    xml = dog('    <position joint="{}" ctrlrange="-6 6" inheritrange="0"/>\n')
    free = KNEE.format("front_left")
    xml = xml.replace(free, free + ' limited="false"')
    robot = read_robot(draft_robot(write_dog(tmp_path, xml)))
    ranges = robot.description.ranges
    assert ranges["front_left_knee"] == pytest.approx((-1.7, -0.1))
    assert ranges["front_right_knee"] == pytest.approx((-1.047, 1.047))
    assert robot.joint_ranges[1] == pytest.approx((-1.7, -0.1))
    assert robot.physics.actuator_ctrlrange[1] == pytest.approx((-1.7, -0.1))


def test_arms_are_driven_but_are_no_legs_and_odd_names_survive(tmp_path: Path) -> None:
    arm = '<body name="arm"><joint name="arm"/><geom size="0.02" pos="0 0 0.2" mass="0.1"/></body>'
    first = '<body name="front_left_thigh"'
    xml = dog().replace(first, arm + first).replace("0 0 0.365 1 0 0 0 ", "0 0 0.365 1 0 0 0 0 ")
    xml = xml.replace("</actuator>", '<position joint="arm"/></actuator>')
    xml = xml.replace("front_left_hip", "yes: [hip]").replace("back_left_knee", "12")
    description = read_robot(draft_robot(write_dog(tmp_path, xml))).description
    assert description.joints[-1] == "arm"
    assert {"yes: [hip]", "12"} < set(description.joints)
    assert list(description.legs) == list(LEGS)


@pytest.mark.parametrize(
    ("legs", "archive"), [(1, [1296]), (2, [36] * 2), (3, [10] * 3), (6, [3] * 6), (12, [2] * 10)]
)
def test_an_archive_has_about_as_many_cells_whatever_the_number_of_feet(
    tmp_path: Path, legs: int, archive: list[int]
) -> None:
    leg = (
        '<body name="leg{0}" pos="{0} 0 0"><joint name="hip{0}" axis="0 1 0" range="-60 60"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02"/></body>'
    )
    motors = "".join(f'<motor joint="hip{n}" ctrlrange="-1 1"/>' for n in range(legs))
    bodies = "".join(map(leg.format, range(legs)))
    (tmp_path / "r.xml").write_text(
        '<mujoco model="9 lives"><worldbody><geom name="floor" type="plane" size="0 0 1"/>'
        f'<body name="b" pos="0 0 1"><freejoint/><geom size="0.1"/>{bodies}</body></worldbody>'
        f"<actuator>{motors}</actuator></mujoco>"
    )
    path = draft_robot(tmp_path / "r.xml")
    assert path.name == "robot_9_lives.yaml"
    content = yaml.safe_load(path.read_text())
    assert content["archive"] == archive
    assert len(content["measures"]) == len(archive)
    assert len(content["legs"]) == legs


def test_a_draft_is_not_written_over_what_is_there(tmp_path: Path) -> None:
    path = draft_robot(write_dog(tmp_path))
    path.write_text("mine")
    with pytest.raises(InvalidValueError, match=r"robo_dog\.yaml exists already"):
        draft_robot(tmp_path / "scene.xml")
    assert path.read_text() == "mine"
    draft_robot(tmp_path / "scene.xml", overwrite=True)
    assert path.read_text() != "mine"


def test_a_model_without_a_floor_is_refused_with_what_includes_it(tmp_path: Path) -> None:
    write_dog(tmp_path)
    with pytest.raises(InvalidRobotError, match=r"there is no floor; .*draft scene\.xml"):
        draft_robot(tmp_path / "dog.xml")
    (tmp_path / "scene.xml").unlink()
    with pytest.raises(InvalidRobotError, match="add to its worldbody <geom"):
        draft_robot(tmp_path / "dog.xml")


UNFIT = {
    "torso": (
        [("<freejoint/>", '<joint name="root" type="slide" range="-1 1"/>'), ("0 0 0.365 1 0 0 0 ", "0 ")],
        r"no body moves freely: .*joints: root, front_left_hip",
    ),
    "feet": (
        [
            ('size="0.02" mass', 'size="0.02" contype="0" conaffinity="0" mass'),
            ('size="0.015"', 'size="0.015" contype="0" conaffinity="0"'),
        ],
        "no feet: no limb has a geom that can touch the floor 'floor'",
    ),
    "motors": (
        [(dog().partition("<actuator>")[2].partition("</actuator>")[0], "")],
        "no motor drives a joint below the torso 'trunk'; joints: trunk_joint_0",
    ),
}


@pytest.mark.parametrize("lacking", UNFIT)
def test_a_model_that_lacks_a_part_is_refused(tmp_path: Path, lacking: str) -> None:
    (changes, message), xml = UNFIT[lacking], dog()
    for old, new in changes:
        xml = xml.replace(old, new)
    with pytest.raises(InvalidRobotError, match=message):
        draft_robot(write_dog(tmp_path, xml))

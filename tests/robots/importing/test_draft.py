"""A first YAML for an MJCF that has none."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml
from dogs import LEGS, MOTOR, dog, draft_example, write_dog

from robots.catalogue import MODELS, robot_names
from robots.errors import InvalidRobotError, InvalidValueError
from robots.importing.checks import check_robot
from robots.importing.draft import draft_robot
from robots.robot import load_robot, read_robot
from robots.stance import try_stance
from tests.robots.stepping import begun, run_episodes

KNEE = '<joint name="{}_knee" axis="0 1 0"'


def test_a_draft_describes_a_robot_that_can_be_simulated(tmp_path: Path) -> None:
    path = draft_robot(write_dog(tmp_path)).path
    assert path == tmp_path / "robo_dog.yaml"
    robot = read_robot(path)
    description = robot.description
    assert (description.name, description.model) == ("robo_dog", "scene.xml")
    assert (description.torso, description.floor, description.keyframe) == ("trunk", "floor", "home")
    assert list(description.legs) == list(LEGS)
    for name, leg in description.legs.items():
        assert leg.joints == (f"{name}_hip", f"{name}_knee")
        assert description.feet[leg.foot] == (f"{name}_shin_geom_1",)
    assert tuple(description.measures) == tuple(LEGS)
    assert description.archive == (6, 6, 6, 6)
    assert description.substeps * robot.model.opt.timestep == pytest.approx(0.02)
    # two stretched legs of 0.2 and 0.18 m at 0.5 and 0.4 rad to the vertical, and the sole's radius
    height = 0.2 * np.cos(0.5) + 0.18 * np.cos(0.4) + 0.02
    assert description.alive.min_height == pytest.approx(0.4 * height, abs=5e-3)
    parameters = robot.controller.initial(np.random.default_rng(0))
    assert run_episodes(robot.with_episode_steps(20), parameters).steps[0] == 20


# of the Half-Cheetah's legs one is folded up while its ankle is within its range: that is no leg to stand on
@pytest.mark.parametrize("name", [name for name in robot_names() if name != "half_cheetah"])
def test_a_draft_finds_in_our_own_robots_what_their_descriptions_say(name: str, tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text((MODELS / name / f"{name}.xml").read_text())
    found, known = read_robot(draft_robot(tmp_path / "r.xml").path).description, load_robot(name).description
    assert (found.torso, found.floor) == (known.torso, known.floor)
    assert set(found.joints) == set(known.joints)
    assert {leg.joints for leg in found.legs.values()} == {leg.joints for leg in known.legs.values()}
    measured = {known.feet[foot] for foot in known.measures}
    assert {found.feet[foot] for foot in found.measures} == measured


def test_joints_without_a_range_get_one_and_servos_are_told_what_is_near_the_pose(tmp_path: Path) -> None:
    xml = dog('    <position joint="{}" ctrlrange="-6 6" inheritrange="0"/>\n')
    free = KNEE.format("front_left")
    robot = read_robot(draft_robot(write_dog(tmp_path, xml.replace(free, free + ' limited="false"'))).path)
    assert list(robot.description.ranges) == ["front_left_knee"]
    np.testing.assert_allclose(robot.joint_ranges[[1, 3]], [(-1.7, -0.1), (-np.pi / 3, np.pi / 3)], rtol=1e-4)
    # 0.4 rad to either side of the keyframe's -0.9, but no further than the joint goes
    np.testing.assert_allclose(robot.physics.actuator_ctrlrange[[1, 3]], [(-1.3, -0.5), (-1.047, -0.5)])


def test_arms_are_driven_but_are_no_legs_and_odd_names_survive(tmp_path: Path) -> None:
    arm = '<body name="arm"><joint name="arm"/><geom size="0.02" pos="0 0 0.2" mass="0.1"/></body>'
    first = '<body name="front_left_thigh"'
    xml = dog().replace(first, arm + first).replace("0 0 0.365 1 0 0 0 ", "0 0 0.365 1 0 0 0 0 ")
    xml = xml.replace("</actuator>", '<position joint="arm"/></actuator>')
    xml = xml.replace("front_left_hip", "yes, [hip]").replace("back_left_knee", "12")
    description = read_robot(draft_robot(write_dog(tmp_path, xml)).path).description
    assert description.joints[-1] == "arm"
    assert {"yes, [hip]", "12"} < set(description.joints)
    assert list(description.legs) == list(LEGS)


def test_of_many_feet_some_are_measured_and_a_name_begins_with_a_letter(tmp_path: Path) -> None:
    leg = (
        '<body name="leg{0}" pos="{0} 0 0"><joint name="hip{0}" axis="0 1 0" range="-60 60"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02"/></body>'
    )
    bodies = "".join(map(leg.format, range(12)))
    motors = "".join(f'<motor joint="hip{n}" ctrlrange="-1 1"/>' for n in range(12))
    (tmp_path / "r.xml").write_text(
        '<mujoco model="9 lives"><worldbody><geom name="floor" type="plane" size="0 0 1"/>'
        f'<body name="b" pos="0 0 1"><freejoint/><geom size="0.1"/>{bodies}</body>'
        f"</worldbody><actuator>{motors}</actuator></mujoco>"
    )
    path = draft_robot(tmp_path / "r.xml").path
    assert path.name == "robot_9_lives.yaml"
    content = yaml.safe_load(path.read_text())
    assert (content["archive"], len(content["measures"]), len(content["legs"])) == ([2] * 10, 10, 12)


def test_motors_of_a_robot_that_stands_become_servos(tmp_path: Path) -> None:
    draft = draft_robot(write_dog(tmp_path, dog(MOTOR)))
    description = read_robot(draft.path).description
    hip = description.servos["front_left_hip"]
    assert (hip.range, hip.stiffness) == ((0.1, 0.9), pytest.approx(20 / (0.6 * 0.4), rel=1e-2))
    assert description.controller.kind == "periodic"
    assert description.reward.objective == "distance ahead less drift and heading error [m]"


def test_searches_start_with_legs_that_move_alike(tmp_path: Path) -> None:
    """As in a trot; what turns the other way on the right starts reversed, so that both sides push ahead."""
    robot = read_robot(draft_example("lizard", tmp_path).path)
    shape = robot.description.controller
    assert shape.phases == {"left_arm_0": 0, "left_arm_1": 0.5, "right_arm_0": 0.5, "right_arm_1": 0}
    assert shape.mirrored == ("right_yaw_0", "right_yaw_1")
    gait = robot.controller.initial(np.random.default_rng(1))
    table = dict(zip(robot.description.joints, robot.controller.period(gait).T, strict=True))
    half = len(table["left_yaw_0"]) // 2
    np.testing.assert_allclose(table["right_yaw_1"], -table["left_yaw_0"], atol=1e-5)
    np.testing.assert_allclose(table["right_yaw_0"], -np.roll(table["left_yaw_0"], half), atol=1e-5)
    lifts = [table[name] for name in robot.description.legs["right_arm_1"].joints if "yaw" not in name]
    leader = [table[name] for name in robot.description.legs["left_arm_0"].joints if "yaw" not in name]
    np.testing.assert_allclose(lifts, leader, atol=1e-5)


def test_servos_are_no_stiffer_than_the_timestep_allows(tmp_path: Path) -> None:
    xml = dog('    <motor joint="{}" ctrlrange="-9000 9000"/>\n').replace('forcerange="-20 20"', "")
    robot = read_robot(draft_robot(write_dog(tmp_path, xml)).path)
    assert robot.description.servos["front_left_knee"].stiffness < 9000 / 0.24
    assert not try_stance(robot).fell


def test_a_robot_on_two_legs_reacts_to_what_it_senses(tmp_path: Path) -> None:
    xml, lost = dog(MOTOR), ("back_left", "back_right")
    for leg in lost:
        xml = re.sub(rf'\n +<body name="{leg}_thigh".*?</body>\n +</body>', "", xml, flags=re.DOTALL)
        xml = re.sub(rf'\n +<motor joint="{leg}_.*?/>', "", xml)
    draft = draft_robot(write_dog(tmp_path, xml.replace("0.5 -0.9 " * 4, "0.5 -0.9 " * 2)))
    description = read_robot(draft.path).description
    assert (description.controller.kind, description.reward.alive, description.servos) == ("mlp", 1, {})


POSES = {
    "hanging": ('"0 0 0.365', '"0 0 0.6', "lowest foot is 0.24 m above the floor", 0.5),
    "sunk": ('"0 0 0.365', '"0 0 0.347', "lowest foot is 0.014 m inside the floor", 0.5),
    "falling": ("0.5 -0.9 " * 4, "1 -0.9 1 -0.9 -1 -0.9 1 -0.9", "does not keep standing", 0.5),
}


@pytest.mark.parametrize("kind", POSES)
def test_keyframes_are_tried_before_they_are_taken(tmp_path: Path, kind: str) -> None:
    old, new, words, hip = POSES[kind]
    draft = draft_robot(write_dog(tmp_path, dog().replace(old, new)))
    robot = read_robot(draft.path)
    assert robot.description.keyframe is None
    assert words in draft.remarks[0]
    stance = try_stance(robot)
    assert stance.fits
    assert abs(stance.gap) < 2e-3
    assert stance.positions["front_left_hip"] == pytest.approx(hip, abs=0.1)


def test_what_is_left_out_and_what_is_slow_is_said(tmp_path: Path) -> None:
    tendons = '<tendon><fixed name="t"><joint joint="front_left_knee" coef="1"/></fixed></tendon><actuator>'
    xml = dog().replace("<actuator>", tendons + '<motor name="pull" tendon="t" ctrlrange="-1 1"/>')
    scene = write_dog(tmp_path, xml.replace("<default>", '<option timestep="0.001"/><default>', 1))
    hill = '<asset><hfield name="hill" nrow="2" ncol="2" size="9 9 0.1 0.1"/></asset><worldbody>'
    plane, field = 'type="plane" size="0 0 1"', 'type="hfield" hfield="hill"'
    scene.write_text(scene.read_text().replace("<worldbody>", hill).replace(plane, field))
    remarks = " ".join(draft_robot(scene).remarks)
    for words in (
        "does not drive 1 of the 9 actuators; their control stays 0: pull; there are actuators that",
        "Its floor is a height field, which is slow",
        "A control step takes 20 physics steps of 0.001 s, which is slow",
    ):
        assert words in remarks


@pytest.mark.parametrize("change", ['<option cone="elliptic"/><default>', '<default><geom condim="6"/>'])
def test_contacts_that_cost_much_are_told_and_can_be_simple(tmp_path: Path, change: str) -> None:
    draft = draft_robot(write_dog(tmp_path, dog().replace("<default>", change, 1)))
    assert any("`contacts: simple`" in remark for remark in draft.remarks)
    draft.path.write_text(draft.path.read_text() + "contacts: simple\n")
    robot = read_robot(draft.path)
    assert robot.physics.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
    assert robot.physics.geom_condim.max() == 3
    assert not any("`contacts: simple`" in remark for remark in check_robot(robot).remarks)


@pytest.mark.parametrize("level", [-0.4, 1.0])
def test_heights_count_from_the_floor_wherever_it_is(tmp_path: Path, level: float) -> None:
    floor = 'name="floor" ', f'name="floor" pos="0 0 {level}" '
    trunk, found = ('name="trunk" pos="0 0 0.3"', f'name="trunk" pos="0 0 {0.3 + level}"'), []
    for changes in ((), (floor, trunk)):
        draft = draft_example("lizard", tmp_path, *changes)
        robot = read_robot(draft.path)
        stepper = begun(robot, 1)
        stepper.step(np.zeros(robot.action_dim))
        start = stepper.tally.initial_height, stepper.over
        found.append((draft.remarks, robot.description.alive, check_robot(robot).remarks, start))
    one, other = found
    assert one[:3] == other[:3]
    assert one[3] == (pytest.approx(other[3][0], abs=1e-6), other[3][1])


def test_a_draft_is_not_written_over_what_is_there(tmp_path: Path) -> None:
    path = draft_robot(write_dog(tmp_path)).path
    path.write_text("mine")
    with pytest.raises(InvalidValueError, match=r"robo_dog\.yaml exists already"):
        draft_robot(tmp_path / "scene.xml")
    assert path.read_text() == "mine"
    draft_robot(tmp_path / "scene.xml", overwrite=True)
    assert path.read_text() != "mine"


def test_a_robot_in_an_empty_world_gets_a_floor_and_one_among_boxes_needs_one(tmp_path: Path) -> None:
    scene = write_dog(tmp_path)
    whole = read_robot(draft_robot(scene).path)
    robot = read_robot(draft_robot(tmp_path / "dog.xml", overwrite=True).path)
    for name in ("geom_type", "geom_size", "geom_pos", "geom_friction", "body_mass", "qpos0"):
        np.testing.assert_array_equal(getattr(robot.physics, name), getattr(whole.physics, name))
    scene.write_text(scene.read_text().replace('type="plane" size="0 0 1"', 'type="box" size="9 9 1"'))
    with pytest.raises(InvalidRobotError, match="there is no floor: add to its worldbody <geom"):
        draft_robot(scene)


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
    "motors": ([(dog().partition("<actuator>")[2].partition("</actuator>")[0], "")], "no motor drives"),
}


@pytest.mark.parametrize("lacking", UNFIT)
def test_a_model_that_lacks_a_part_is_refused(tmp_path: Path, lacking: str) -> None:
    (changes, message), xml = UNFIT[lacking], dog()
    for old, new in changes:
        xml = xml.replace(old, new)
    with pytest.raises(InvalidRobotError, match=message):
        draft_robot(write_dog(tmp_path, xml))

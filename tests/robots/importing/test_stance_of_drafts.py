"""Drafts of robots that are heavy, lopsided or odd: their pose, their gains, their legs and their names."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from dogs import LEGS, MOTOR, dog, write_dog

from adapt.damage.library import damage_library
from adapt.damage.text import parse_damage
from robots.errors import InvalidRobotError
from robots.importing.checks import check_robot
from robots.importing.draft import Draft, draft_robot
from robots.motors import Motors
from robots.robot import Robot, read_robot, robot_from_text
from robots.stance import try_stance

HEAVY = ('mass="4"', 'mass="24"')  # of the trunk [kg]


def drafted(folder: Path, xml: str, *changes: tuple[str, str]) -> tuple[Draft, Robot]:
    """The draft of a dog whose MJCF was changed, and its robot."""
    for old, new in changes:
        assert old in xml
        xml = xml.replace(old, new)
    draft = draft_robot(write_dog(folder, xml))
    return draft, read_robot(draft.path)


def gains(robot: Robot, joint: str) -> tuple[float, float]:
    motors = Motors.of(robot.physics, [joint])
    return float(motors.stiffness[0]), float(motors.damping[0])


def test_a_heavy_robot_gets_servos_that_carry_it_and_keeps_its_keyframe(tmp_path: Path) -> None:
    for name, changes in (("light", ()), ("heavy", (HEAVY,))):
        draft, robot = drafted(tmp_path / name, dog(MOTOR), *changes)
        stance = try_stance(robot)
        assert (robot.description.keyframe, stance.stands, draft.remarks) == ("home", True, []), name
        assert np.degrees(stance.tilt) < 2
        assert check_robot(robot).remarks == []
    # a quarter of 26.2 kg on a knee that is 0.095 m behind the foot, twice that at 0.1 rad
    torque = 26.2 / 4 * 9.81 * np.sin(0.4) * 0.18
    assert gains(robot, "front_left_knee")[0] == pytest.approx(max(2 * torque / 0.1, 20 / 0.24), rel=0.2)


def test_servos_of_the_mjcf_that_cannot_hold_the_robot_get_other_gains(tmp_path: Path) -> None:
    draft, robot = drafted(tmp_path, dog(), ('kp="30"', 'kp="1"'), ('forcerange="-20 20"', ""))
    assert "The servos of the MJCF cannot hold the robot" in " ".join(draft.remarks)
    assert try_stance(robot).stands
    assert gains(robot, "front_left_knee")[0] > 10


def test_left_and_right_share_gains_although_their_inertias_differ(tmp_path: Path) -> None:
    knees = [(f'{g}_knee" axis', f'{g}_knee" armature="{0.01 + 0.004 * n}" axis') for n, g in enumerate(LEGS)]
    _, robot = drafted(tmp_path, dog(MOTOR), *knees)
    for joint in ("hip", "knee"):
        assert len({gains(robot, f"{leg}_{joint}") for leg in LEGS}) == 1
    stiffness, damping = gains(robot, "front_left_knee")
    assert damping == pytest.approx(2 * np.sqrt(stiffness * 0.0205), rel=0.15), "by the mean inertia"


def test_legs_that_a_keyframe_lifts_are_legs_all_the_same(tmp_path: Path) -> None:
    lifted = ("0.5 -0.9 " * 4, "-1 -1 -1 -1 0.5 -0.9 0.5 -0.9 ")
    draft, robot = drafted(tmp_path, dog(MOTOR), lifted)
    assert list(robot.description.legs) == list(LEGS)
    assert robot.description.feet["front_left"] == ("front_left_shin_geom_1",)
    assert robot.description.controller.kind == "periodic"
    assert try_stance(robot).stands
    remarks = " ".join(draft.remarks)
    assert "taken for legs, as they have the structure of legs: front_left, front_right" in remarks
    assert "The keyframe 'home' is left out" in remarks


@pytest.mark.parametrize("aside", [0.0, 0.08])
def test_a_robot_whose_poses_are_useless_starts_on_bent_legs(tmp_path: Path, aside: float) -> None:
    """Its legs are built straight, with shins below or beside thighs, and its keyframe is out of range."""
    beside = ('_shin" pos="0 0 -0.2"', f'_shin" pos="0 {aside} -0.2"')
    draft, robot = drafted(tmp_path, dog(MOTOR), ("0.5 -0.9 " * 4, "0.5 1.9 " * 4), beside)
    stance = try_stance(robot)
    assert stance.stands
    assert "'home' is left out: 4 joints are outside their ranges, front_left_knee by 49°" in draft.remarks[0]
    assert "on bent legs" in draft.remarks[1]
    thigh, knee = (robot.start_of(f"front_left_{joint}") for joint in ("hip", "knee"))
    assert 0.3 < thigh < 0.9
    assert -1.05 < knee < -0.6


def test_a_keyframe_that_is_out_of_range_by_a_part_of_a_degree_is_clamped(tmp_path: Path) -> None:
    narrow = tuple((f'"{leg}_knee" axis', f'"{leg}_knee" range="-51.4 60" axis') for leg in LEGS)
    draft, robot = drafted(tmp_path, dog(), *narrow)  # the keyframe has -0.9 rad, -51.57 degrees
    assert robot.description.keyframe == "home"
    assert "4 joints are outside their ranges, front_left_knee by 0.17°" in draft.remarks[0]
    assert robot.start_of("front_left_knee") == pytest.approx(np.radians(-51.4))
    assert check_robot(robot).remarks == []


SOFT = 'priority="1" solimp="0.015 1 0.03"'  # of feet that give way


def test_soft_feet_rest_deep_in_the_ground_and_draft_and_check_agree(tmp_path: Path) -> None:
    sole = (
        '<geom type="sphere" pos="0 0 -0.18" size="0.02"',
        f'<geom type="sphere" {SOFT} pos="0 0 -0.18" size="0.02"',
    )
    draft, robot = drafted(tmp_path, dog(), sole, ("0 0 0.365 1", "0 0 0.345 1"))
    stance = try_stance(robot)
    assert stance.gap < -0.01
    assert stance.rest == pytest.approx(stance.gap, abs=0.01)
    assert (robot.description.keyframe, draft.remarks, check_robot(robot).remarks) == ("home", [], [])


def test_motors_that_are_too_weak_are_named(tmp_path: Path) -> None:
    draft, _ = drafted(tmp_path, dog(MOTOR), ('mass="4"', 'mass="300"'))
    assert re.search(
        r"too weak to hold .* of what it takes\]: .*front_left_knee 20 of \d\d", " ".join(draft.remarks)
    )


READABLE = ["a@b", "lost", "$x$", "ä b", "-1"]
UNREADABLE = ["a:b", "a+b", "a=b", " a", "a ", "a\tb", "all", "torso", "floor"]


def reads_its_library_back(robot: Robot) -> bool:
    return all(str(parse_damage(str(damage), robot)) == str(damage) for damage in damage_library(robot))


def renamed(robot: Robot, name: str) -> Robot:
    """The robot with another name of its first leg and foot."""
    content = yaml.safe_load(robot.yaml) | {"controller": {"kind": "periodic", "period": 0.5}}
    legs = content["legs"].values()
    names = [name, "b", "c", "d"]
    content["feet"] = dict(zip(names, content["feet"].values(), strict=True))
    content["legs"] = {name: {**leg, "foot": name} for name, leg in zip(names, legs, strict=True)}
    return robot_from_text(robot.xml, yaml.safe_dump(content | {"measures": names}), origin="it")


def test_every_damage_of_the_library_of_a_robot_with_odd_names_is_read_back(tmp_path: Path) -> None:
    for number, name in enumerate([READABLE[0], UNREADABLE[0]]):
        bodies = ("front_left_thigh", name), ("front_left_shin", f"{name}_x")
        assert reads_its_library_back(drafted(tmp_path / str(number), dog(), *bodies)[1]), name
    _, robot = drafted(tmp_path, dog())
    for name in READABLE:
        other = renamed(robot, name)
        assert name in other.description.legs
        assert reads_its_library_back(other), name


def test_names_that_the_text_of_no_damage_can_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRobotError, match=r"no joint can be called 'FL:hip'.*; rename it in the MJCF"):
        drafted(tmp_path / "other", dog(), ("front_left_hip", "FL:hip"))
    _, robot = drafted(tmp_path, dog())
    for name in UNREADABLE:
        with pytest.raises(InvalidRobotError, match=re.escape(f"no leg can be called {name!r}")):
            renamed(robot, name)


def test_legs_of_other_lengths_have_gains_of_their_own(tmp_path: Path) -> None:
    """Hind shins are longer: front and hind legs are of two kinds, left and right of one."""
    front_end, hind_end = dog(MOTOR).split('<body name="back_left_thigh"')
    hind_end = hind_end.replace('0 0 -0.17"', '0 0 -0.2"').replace('pos="0 0 -0.18"', 'pos="0 0 -0.21"')
    _, robot = drafted(tmp_path, f'{front_end}<body name="back_left_thigh"{hind_end}')
    damping = {leg: gains(robot, f"{leg}_knee")[1] for leg in LEGS}
    front, hind = ({value for leg, value in damping.items() if end in leg} for end in ("front", "back"))
    assert (len(front), len(hind)) == (1, 1)
    assert front != hind
    assert try_stance(robot).stands


def test_a_limb_in_two_branches_that_a_constraint_closes_is_one_leg(tmp_path: Path) -> None:
    """The knee has no motor: a rod from a motor at the trunk bends it."""
    rod = (
        '<body name="{0}_crank" pos="{1} {2} -0.03"><joint name="{0}_crank" axis="0 1 0"/>'
        '<geom type="capsule" fromto="0 0 0 0.05 0 0" size="0.01" contype="0" conaffinity="0" mass="0.02"/>'
        '<body name="{0}_rod" pos="0.05 0 0"><joint name="{0}_rod" axis="0 1 0"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.01" mass="0.02"/></body></body>'
    )
    xml = dog(MOTOR)
    for leg, (x, y) in LEGS.items():
        xml = xml.replace(
            f'<body name="{leg}_thigh"', rod.format(leg, 0.18 * x, 0.1 * y) + f'<body name="{leg}_thigh"'
        )
        xml = xml.replace(f'joint="{leg}_knee"', f'joint="{leg}_crank"')
    ends = "".join(f'<connect body1="{leg}_rod" body2="{leg}_shin" anchor="0 0 -0.2"/>' for leg in LEGS)
    xml = re.sub("<keyframe>.*</keyframe>", f"<equality>{ends}</equality>", xml, flags=re.DOTALL)
    _, robot = drafted(tmp_path, xml)
    assert list(robot.description.legs) == list(LEGS)
    assert set(robot.description.legs["front_left"].joints) == {"front_left_hip", "front_left_crank"}
    assert robot.description.feet["front_left"] == ("front_left_shin_geom_1",)
    assert reads_its_library_back(robot)

"""The default library of damages, and the families that damages belong to."""

import pytest
from odd_robot import odd_robot

from adapt.damage.library import damage_library
from adapt.damage.text import damage_from, parse_damage
from robots.catalogue import robot_names
from robots.robot import load_robot


@pytest.mark.parametrize("name", [*robot_names(), "odd"])
def test_the_library_is_of_different_damages_in_their_own_words(name):
    robot = odd_robot() if name == "odd" else load_robot(name)
    library = list(map(str, damage_library(robot)))
    assert library[0] == "healthy"
    assert len(set(library)) == len(library)
    assert [str(parse_damage(text, robot)) for text in library] == library
    joints, legs = robot.description.joints, robot.description.legs
    assert {f"joint={joint}:locked" for joint in joints} <= set(library)
    assert {f"{leg}:short@0.5" for leg in legs} | {f"{leg}:weak@0.2" for leg in legs} <= set(library)
    assert {f"foot={foot}:slip@0.2" for foot in robot.description.feet} <= set(library)
    assert all(2 * text.count(":lost") <= len(legs) for text in library)


def test_the_library_of_the_ant():
    ant = load_robot("ant")
    library = list(map(str, damage_library(ant)))
    lost = [text for text in library if ":lost" in text]
    assert len(lost) == 4 + 3
    load = float(library[-1].rpartition("@")[2])
    assert load == pytest.approx(ant.model.body_mass.sum() / 4, rel=0.05)
    assert "back_left:lost+front_left:lost" in library


def test_joints_are_locked_at_rest_and_halfway_to_where_they_end():
    hexapod, ant = load_robot("hexapod"), load_robot("ant")
    locked = [text for text in map(str, damage_library(hexapod)) if text.startswith("joint=left_rear_femur:")]
    assert locked == [f"joint=left_rear_femur:locked{angle}" for angle in ("", "@-0.79", "@0.79")]
    # an ankle of the ant goes from 30 to 100 degrees and rests at an end, or beyond it
    ankle = [text for text in map(str, damage_library(ant)) if text.startswith("joint=front_left_ankle:")]
    assert ankle == ["joint=front_left_ankle:locked", "joint=front_left_ankle:locked@1.13"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("healthy", set()),
        ("front_left:lost", {"lost"}),
        ("front_left:lost+back_left:lost", {"lost", "pair"}),
        ("front_left:lost + back_left:dead", {"lost", "dead", "pair"}),
        ("front_left:lost+floor:friction@0.5", {"lost", "friction"}),
        ("foot=front_left:slip@0.3", {"friction"}),
        ("joint=a:locked@0.3", {"locked"}),
        ("all:weak@0.5+torso:payload@1", {"weak", "payload"}),
        ("foot=front_left:stuck-sensor", {"sensor"}),
    ],
)
def test_families(text, expected):
    assert damage_from(text).families == expected

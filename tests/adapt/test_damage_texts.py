"""Damages as texts: reading, writing, lists in files, and what is said of those that make no sense."""

import re

import pytest
from odd_robot import odd_robot

from adapt.damage.damage import Combination
from adapt.damage.kinds import damage_kinds
from adapt.damage.kinds.joints import Locked
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.loads import Payload
from adapt.damage.kinds.motors import Dead, Weak
from adapt.damage.library import damage_library
from adapt.damage.text import damage_facts, damage_from, parse_damage, read_damages
from robots.catalogue import robot_names
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.robot import load_robot

ANT = load_robot("ant")


@pytest.mark.parametrize(
    ("text", "damage", "written"),
    [
        (" front_left : lost ", Lost("front_left"), "front_left:lost"),
        ("joint=back_left_hip:locked", Locked("joint=back_left_hip"), "joint=back_left_hip:locked"),
        ("joint = back_left_hip:dead", Dead("joint=back_left_hip"), "joint=back_left_hip:dead"),
        ("all:weak", Weak("all", 0.5), "all:weak@0.5"),
        ("torso:payload@1e-1", Payload("torso", 0.1), "torso:payload@0.1"),
        ("healthy", Combination(), "healthy"),
    ],
)
def test_texts_and_what_they_mean(text, damage, written):
    assert parse_damage(text, ANT) == damage
    assert str(damage) == written
    assert parse_damage(written, ANT) == damage


@pytest.mark.parametrize(
    "text",
    ["", "front_left", "front_left:", ":lost", "front_left:lost:", "a:b:c", "all:weak@", "front_left:lost+"],
)
def test_malformed_text(text):
    with pytest.raises(InvalidValueError, match="written PART:KIND or PART:KIND@STRENGTH") as error:
        parse_damage(text, ANT)
    assert str(error.value).endswith(f" in {text!r}") == ("+" in text), "of several, the whole is told too"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("front_lft:lost", "leg of the ant 'front_lft' .*'front_left'.*available: front_left, .*, all"),
        ("joint=hip:dead", "joint of the ant 'hip'.*available: front_left_hip, front_left_ankle"),
        ("foot=hip:slip", "foot of the ant 'hip'; available: front_left, back_left"),
        ("front_left:gone", "kind of damage 'gone'.*available: backlash, bent, .*, dead, .*, weak$"),
    ],
)
def test_unknown_names_are_answered_with_the_known(text, message):
    with pytest.raises(UnknownNameError, match=message):
        parse_damage(text, ANT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tail=x:lost", "'tail=x' is no part of a robot: only joint and foot are followed by = and a name"),
        ("floor:lost", "lost can happen to LEG or joint=JOINT, not to floor"),
        ("front_left:payload@1", "payload can happen to torso or joint=JOINT, not to front_left"),
        ("front_left:lost@0.5", "lost has no strength, but front_left:lost@0.5 gives one"),
        ("all:weak@half", "strength in 'all:weak@half' must be a number, not 'half'"),
        ("all:weak@1.5", "weak takes the share of the torque that is left, 0.01 to 0.99, not 1.5"),
        ("all:weak@nan", "weak takes .*, not nan"),
        ("all:delay@1.5", "delay takes a whole number, control steps, 1 to 50, not 1.5"),
        ("torso:payload", r"payload needs a strength: the load's mass \[kg\], 0.001 to 1000"),
        ("joint=back_left_hip:locked@9", "joint=back_left_hip:locked@9: back_left_hip goes from -0.698"),
        ("foot=back_left:stuck-sensor@0.5", "the sensor of a foot reads 0 or 1"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(text, message):
    with pytest.raises(InvalidValueError, match=message):
        parse_damage(text, ANT)


def test_a_damage_made_in_python_is_checked_too():
    with pytest.raises(UnknownNameError, match="leg of the ant 'tail'"):
        Lost("tail").apply(ANT)
    with pytest.raises(InvalidValueError, match="weak takes"):
        Weak("all", 2.0)
    assert Combination().apply(ANT) is ANT
    assert Combination().summary == "nothing is wrong"
    for strength in (0.5, 1 / 3, 0.1234567890123):
        assert parse_damage(str(Weak("all", strength)), ANT).strength == strength


def test_lists_in_files(tmp_path):
    path = tmp_path / "damages.yaml"
    path.write_text("# two\n- healthy\n- front_left:lost + all:weak\n- joint=back_left_hip:locked@0.3\n")
    damages = read_damages(path, ANT)
    assert (
        " ".join(map(str, damages)) == "healthy all:weak@0.5+front_left:lost joint=back_left_hip:locked@0.3"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "must hold a list of damages, for example: - healthy"),
        ("[]", "must hold a list of damages"),
        ("front_left: lost", "must hold a list of damages"),
        ("- front_left: lost", "entry 1: a damage is a text, not {'front_left': 'lost'}"),
        ("- healthy\n- tail:lost", "entry 2: unknown leg of the ant 'tail'"),
        ("- all:weak\n- all:weak@0.5", "entry 2: all:weak@0.5 appears twice"),
    ],
)
def test_lists_that_are_none(tmp_path, content, message):
    path = tmp_path / "damages.yaml"
    path.write_text(content)
    with pytest.raises(InvalidFileError, match=re.escape(str(path)) + ".*" + re.escape(message)):
        read_damages(path, ANT)


# The default library of damages, and the families that damages belong to.


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


def test_joints_are_locked_at_rest_and_halfway_to_where_they_end():
    hexapod = load_robot("hexapod")
    locked = [text for text in map(str, damage_library(hexapod)) if text.startswith("joint=left_rear_femur:")]
    assert locked == [f"joint=left_rear_femur:locked{angle}" for angle in ("", "@-0.79", "@0.79")]
    # an ankle of the ant goes from 30 to 100 degrees and rests at an end, or beyond it
    ankle = [text for text in map(str, damage_library(ANT)) if text.startswith("joint=front_left_ankle:")]
    assert ankle == ["joint=front_left_ankle:locked", "joint=front_left_ankle:locked@1.13"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("healthy", set()),
        ("front_left:lost", {"lost"}),
        ("front_left:lost + back_left:dead", {"lost", "dead", "pair"}),
        ("front_left:lost+floor:friction@0.5", {"lost", "friction"}),
        ("foot=front_left:slip@0.3", {"friction"}),
        ("foot=front_left:stuck-sensor", {"sensor"}),
    ],
)
def test_families(text, expected):
    assert damage_from(text).families == expected


def test_of_every_kind_it_is_told_whether_it_has_a_strength_and_examples_can_be_read():
    told = damage_facts(ANT)
    for name, kind in damage_kinds().items():
        assert any(line.startswith("STRENGTH") for line in told[name]) == (kind.scale is not None)
    assert [str(parse_damage(text, ANT)) for text in told["examples"][2:4]] == told["examples"][2:4]
    lost, locked, *_, several = (parse_damage(text, ANT) for text in told["examples"])
    legs, joints = list(ANT.description.legs), ANT.description.joints
    assert (lost.target, locked.target) == (legs[-1], f"joint={joints[0]}")
    assert len(several.singles) >= 2

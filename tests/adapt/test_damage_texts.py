"""Damages as texts: reading, writing, lists in files, and what is said of those that make no sense."""

import re

import pytest

from adapt.damage.damage import Combination, SingleDamage, register
from adapt.damage.kinds import damage_kinds
from adapt.damage.kinds.joints import Locked
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.loads import Payload
from adapt.damage.kinds.motors import Dead, Weak
from adapt.damage.text import parse_damage, read_damages
from robots.catalogue import robot_names
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.robot import load_robot


@pytest.fixture(scope="module")
def ant():
    return load_robot("ant")


@pytest.mark.parametrize(
    ("text", "damage", "written"),
    [
        (" front_left : lost ", Lost("front_left"), "front_left:lost"),
        (
            "joint=back_left_hip:locked@0.30",
            Locked("joint=back_left_hip", 0.3),
            "joint=back_left_hip:locked@0.3",
        ),
        ("joint=back_left_hip:locked", Locked("joint=back_left_hip"), "joint=back_left_hip:locked"),
        ("joint = back_left_hip:dead", Dead("joint=back_left_hip"), "joint=back_left_hip:dead"),
        ("all:weak", Weak("all", 0.5), "all:weak@0.5"),
        ("torso:payload@1e-1", Payload("torso", 0.1), "torso:payload@0.1"),
        ("healthy", Combination(), "healthy"),
        (
            "front_left:lost + back_left:dead",
            Combination((Dead("back_left"), Lost("front_left"))),
            "back_left:dead+front_left:lost",
        ),
    ],
)
def test_texts_and_what_they_mean(ant, text, damage, written):
    assert parse_damage(text, ant) == damage
    assert str(damage) == written
    assert parse_damage(written, ant) == damage


@pytest.mark.parametrize("name", robot_names())
def test_the_words_of_a_limbs_name_may_stand_in_either_order(name):
    robot = load_robot(name)
    legs, joints, feet = robot.description.legs, robot.description.joints, robot.description.feet
    for part in (*legs, *(f"joint={joint}" for joint in joints), *(f"foot={foot}" for foot in feet)):
        sort, equals, limb = part.rpartition("=")
        first, *others = limb.split("_", 2)
        other_order = sort + equals + "_".join([*others[:1], first, *others[1:]])
        assert str(parse_damage(f" {other_order} :noisy-sensor@0.1", robot)) == f"{part}:noisy-sensor@0.1"


@pytest.mark.parametrize(
    "text",
    ["", "front_left", "front_left:", ":lost", "front_left:lost:", "a:b:c", "all:weak@", "front_left:lost+"],
)
def test_malformed_text(ant, text):
    with pytest.raises(
        InvalidValueError, match="written PART:KIND or PART:KIND@STRENGTH, for example front_left:"
    ):
        parse_damage(text, ant)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "front_lft:lost",
            "leg of the ant 'front_lft' .*'front_left'.*available: front_left, .*, all, torso, floor",
        ),
        ("joint=hip:dead", "joint of the ant 'hip'.*available: front_left_hip, front_left_ankle"),
        ("foot=hip:slip", "foot of the ant 'hip'; available: front_left, back_left"),
        ("front_left:gone", "kind of damage 'gone'.*available: backlash, bent, dead, .*, weak$"),
    ],
)
def test_unknown_names_are_answered_with_the_known(ant, text, message):
    with pytest.raises(UnknownNameError, match=message):
        parse_damage(text, ant)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tail=x:lost", "'tail=x' is no part of a robot: only joint and foot are followed by = and a name"),
        ("floor:lost", "lost can happen to LEG or joint=JOINT, not to floor"),
        ("front_left:payload@1", "payload can happen to torso or joint=JOINT, not to front_left"),
        (
            "joint=back_left_hip:slip",
            "slip can happen to LEG or foot=FOOT or all, not to joint=back_left_hip",
        ),
        ("front_left:delay", "delay can happen to all, not to front_left"),
        ("front_left:lost@0.5", "lost has no strength, but front_left:lost@0.5 gives one"),
        ("all:weak@half", "strength in 'all:weak@half' must be a number, not 'half'"),
        ("all:weak@1.5", "weak takes the share of the torque that is left, 0.01 to 0.99, not 1.5"),
        ("all:weak@nan", "weak takes .*, not nan"),
        ("all:weak@-1", "weak takes .*, not -1"),
        ("back_left:short@0", "short takes the share of the length that is left, 0.1 to 0.95, not 0"),
        ("all:delay@1.5", "delay takes a whole number, control steps, 1 to 50, not 1.5"),
        ("all:delay@0", "delay takes a whole number, control steps, 1 to 50, not 0"),
        ("floor:slope@90", r"slope takes the angle of the floor, .*degrees.*, -45 to 45, not 90"),
        ("torso:payload", r"payload needs a strength: the load's mass \[kg\], 0.001 to 1000"),
        (
            "joint=back_left_hip:locked@9",
            "joint=back_left_hip:locked@9: back_left_hip goes from -0.698 to 0.698 rad",
        ),
        ("joint=back_left_hip:locked@inf", "locked takes .* not inf"),
        ("joint=back_left_hip:stuck-sensor@2", "back_left_hip goes from -0.698 to 0.698 rad"),
        ("foot=back_left:stuck-sensor@0.5", "the sensor of a foot reads 0 or 1"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(ant, text, message):
    with pytest.raises(InvalidValueError, match=message) as refused:
        parse_damage(text, ant)
    assert "\n" not in str(refused.value)


def test_a_damage_made_in_python_is_checked_too(ant):
    with pytest.raises(UnknownNameError, match="leg of the ant 'tail'"):
        Lost("tail").apply(ant)
    with pytest.raises(InvalidValueError, match="weak takes"):
        Weak("all", 2.0)
    assert Combination().apply(ant) is ant
    assert Combination().summary == "nothing is wrong"
    for strength in (0.5, 1 / 3, 0.1234567890123):
        assert parse_damage(str(Weak("all", strength)), ant).strength == strength


def test_a_kind_is_registered_once():
    with pytest.raises(InvalidValueError, match=r"'lost' is registered twice, in .*limbs\.py"):
        register("lost")(SingleDamage)
    assert damage_kinds()["lost"] is Lost


def test_lists_in_files(ant, tmp_path):
    path = tmp_path / "damages.yaml"
    with pytest.raises(InvalidFileError, match=r"cannot read .*: no such file"):
        read_damages(path, ant)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidFileError, match="is not a text file"):
        read_damages(path, ant)
    path.write_text("# two\n- healthy\n- front_left:lost + all:weak\n- joint=back_left_hip:locked@0.3\n")
    damages = read_damages(path, ant)
    assert list(map(str, damages)) == [
        "healthy",
        "all:weak@0.5+front_left:lost",
        "joint=back_left_hip:locked@0.3",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "must hold a list of damages, for example: - healthy"),
        ("[]", "must hold a list of damages"),
        ("front_left: lost", "must hold a list of damages"),
        ("- front_left: lost", "entry 1: a damage is a text, not {'front_left': 'lost'}"),
        ("- healthy\n- tail:lost", "entry 2: unknown leg of the ant 'tail'"),
        ("- healthy\n- front_left:dead\n- ' front_left:dead'", "entry 3: front_left:dead appears twice"),
        ("- all:weak\n- all:weak@0.5", "entry 2: all:weak@0.5 appears twice"),
        ("- [", "is not valid YAML: "),
        ("- !!python/object:os.system x", "is not valid YAML: "),
    ],
)
def test_lists_that_are_none(ant, tmp_path, content, message):
    path = tmp_path / "damages.yaml"
    path.write_text(content)
    with pytest.raises(InvalidFileError, match=re.escape(str(path)) + ".*" + re.escape(message)):
        read_damages(path, ant)

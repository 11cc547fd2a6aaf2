"""Every kind of damage to every sort of part of every robot, and what all of them promise."""

from functools import cache

import numpy as np
import pytest
from damaged_walks import texts, walk

from adapt.damage.damage import Combination
from adapt.damage.edits import RED
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.damage.text import parse_damage
from robots.catalogue import robot_names
from robots.errors import InvalidValueError
from robots.robot import load_robot

ANT = load_robot("ant")
QUICK = ("ant", "hexapod", "hopper")  # of each sort of robot one: torques, servos, and in a plane
CASES = [
    pytest.param(name, text, marks=[] if name in QUICK else pytest.mark.slow)
    for name in robot_names()
    for text in texts(load_robot(name))
]


@cache
def undamaged(name: str) -> np.ndarray:
    """What a robot sees on its walk."""
    return walk(load_robot(name))[1]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_every_damage_keeps_sizes_reads_back_and_makes_a_difference(name, text):
    robot = load_robot(name)
    before = robot.physics.body_mass.copy()
    damage = parse_damage(text, robot)
    assert parse_damage(str(damage), robot) == damage
    assert damage.summary
    damaged = damage.apply(robot)
    assert [m.label for m in damaged.modifications] == [str(damage)]
    assert robot.modifications == ()
    np.testing.assert_array_equal(robot.physics.body_mass, before)
    assert (damaged.action_dim, damaged.observation_dim) == (robot.action_dim, robot.observation_dim)
    _, seen, done = walk(damaged)
    assert seen.shape[1] == robot.observation_dim
    assert np.isfinite(seen).all()
    assert (damaged.physics.nu < robot.action_dim) == (not done[1:].all())  # a delayed action starts as 0
    # of the sensors that are stuck, one reads what it would have read: nothing touches the floor so soon
    assert "foot" in text or not np.array_equal(seen, undamaged(name))


@pytest.mark.parametrize("name", robot_names())
def test_no_damage_makes_no_difference_and_the_same_one_the_same(name):
    robot = load_robot(name)
    np.testing.assert_array_equal(walk(Combination().apply(robot))[1], undamaged(name))
    damage = parse_damage("all:noisy-sensor+all:weak", robot)
    np.testing.assert_array_equal(walk(damage.apply(robot))[1], walk(damage.apply(robot))[1])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("front_left:dead", ("thigh", "hip", "shin", "knee")),
        ("front_left:weak", ("thigh", "hip", "shin", "knee")),
        ("joint=front_left_hip:locked", ("thigh", "hip")),
        ("front_left:short", ("shin", "knee")),
        ("foot=front_left:slip", ("shin",)),
        ("joint=front_left_ankle:stuck-sensor", ("shin", "knee")),
        ("front_left:noisy-sensor", ("thigh", "hip", "shin", "knee")),
        ("floor:slope", ()),
    ],
)
def test_what_is_damaged_is_marked_and_nothing_else(text, parts):
    model = parse_damage(text, ANT).apply(ANT).model
    marked = np.isclose(model.geom_rgba, RED).all(axis=1)
    assert {model.geom(g).name for g in np.flatnonzero(marked)} == {f"front_left_{part}" for part in parts}


def test_damages_add_up_in_any_order():
    one = Dead("back_left").apply(Lost("front_left").apply(ANT))
    assert [m.label for m in one.modifications] == ["front_left:lost", "back_left:dead"]
    text = "torso:payload@0.1+front_left:lost+joint=back_left_hip:locked@0.3+back_left:short@0.7+all:weak@0.6"
    parts = text.split("+")
    both = [parse_damage("+".join(order), ANT) for order in (parts, parts[::-1])]
    assert both[0] == both[1]
    assert str(both[0]) == str(both[1])
    first, second = (damage.apply(ANT) for damage in both)
    np.testing.assert_array_equal(walk(first)[1], walk(second)[1])
    model = first.model
    assert (model.njnt, model.nu) == (ANT.model.njnt - 3, ANT.model.nu - 3)
    assert model.body_mass.sum() != ANT.model.body_mass.sum()
    assert [m.label for m in first.modifications][-1] == "joint=back_left_hip:locked@0.3"


def test_slip_and_friction_multiply_in_any_order():
    slips, floors = parse_damage("foot=front_left:slip@0.5", ANT), parse_damage("floor:friction@0.4", ANT)
    for robot in (slips.apply(floors.apply(ANT)), floors.apply(slips.apply(ANT))):
        frictions = [robot.physics.geom(f"{leg}_shin").friction[0] for leg in ("front_left", "back_left")]
        assert frictions == pytest.approx([1.2 * 0.4 * 0.5, 1.2 * 0.4])


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("front_left:lost", "front_left:lost", "the limb that front_left_ankle moves"),
        ("front_left:lost", "front_left:weak@0.5", "the motor of front_left_ankle"),
        ("front_left:dead", "joint=front_left_hip:weak@0.5", "the motor of front_left_hip"),
        ("front_left:short", "front_left:lost", "the limb that front_left_ankle moves"),
        ("front_left:lost", "foot=front_left:slip", "the sole of foot front_left"),
        ("foot=front_left:stuck-sensor", "front_left:noisy-sensor", "the sensor of foot front_left"),
        ("all:weak", "front_left:weak@0.1", "the motor of front_left_ankle"),
        ("all:delay", "all:delay@2", "when the motor of back_left_ankle acts"),
        ("floor:slope@3", "floor:slope@-3", "the slope of the floor"),
    ],
)
def test_contradictory_damages(one, other, shared):
    message = f"{one}.* and {other}.* cannot be combined: both change {shared}$"
    with pytest.raises(InvalidValueError, match="cannot be combined: both change " + shared):
        parse_damage(f"{one}+{other}", ANT)
    with pytest.raises(InvalidValueError, match=message):
        parse_damage(other, ANT).apply(parse_damage(one, ANT).apply(ANT))


def test_what_earlier_changes_leave_is_damaged_and_no_more():
    locked = parse_damage("joint=front_left_ankle:locked", ANT).apply(ANT)
    with pytest.raises(InvalidValueError, match=r"front_left_ankle is locked or lost already: combine .* by"):
        parse_damage("front_left:short", ANT).apply(locked)
    labelled = ANT.modified("front_left:dead", lambda spec: None)  # no damage, whatever its label says
    assert Dead("front_left").apply(labelled).model.nu == ANT.model.nu - 2

"""The registry: what can be wrong with any robot, and which of it at once."""

import re

import numpy as np
import pytest

from adapt.damage.kinds import damage_kinds
from adapt.damage.text import parse_damage
from adapt.self_model.registry import MOST_FAULTS, Registry
from adapt.self_model.twin import Thinking, Twin
from robots.catalogue import robot_names
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import load_robot, robot_from_text
from tests.adapt.rehearsal.small import small_repertoire


@pytest.mark.parametrize("name", robot_names())
def test_every_fault_of_a_robot_is_a_damage_of_it(name: str) -> None:
    robot = load_robot(name)
    registry = Registry(robot)
    assert {"weak", "reversed", "locked", "lost", "bent", "friction", "payload"} <= {
        kind for _, kind in registry.faults
    }
    closed_loop = robot.controller.closed_loop
    assert closed_loop == (("all", "noisy-sensor") in registry.faults) == (name != "hexapod")
    for defect in registry.singles():
        assert parse_damage(str(defect), robot) == registry.combine([defect])
    assert len(registry.singles(least=10**6)) == len(registry.singles()) + 2 * len(
        [fault for fault in registry.faults.values() if fault.graded]
    )
    for fault in registry.faults.values():
        assert fault.high > fault.low or fault.grid
        if fault.high > fault.low:
            for place in (0.0, 0.3, 1.0):
                defect = fault.at(place)
                assert defect.strength is not None
                if not damage_kinds()[fault.kind].scale.whole:
                    assert fault.place(defect.strength) == pytest.approx(place, abs=0.01)


def test_no_more_than_four_at_once_and_none_that_contradict_each_other() -> None:
    registry = Registry(load_robot("hexapod"))
    weak = [
        registry.faults[f"joint={joint}", "weak"].at(0.5) for joint in registry.parts.robot.description.joints
    ]
    assert str(registry.combine(weak[:MOST_FAULTS])).count("+") == MOST_FAULTS - 1
    assert registry.combine(weak[: MOST_FAULTS + 1]) is None
    assert registry.combine([weak[0], registry.faults["joint=left_front_coxa", "weak"].at(0.2)]) is None
    assert registry.combine([weak[0], registry.faults["left_front", "lost"].of(None)]) is None


def test_strengths_beyond_the_range_are_placed_at_its_ends() -> None:
    fault = Registry(load_robot("hexapod")).faults["floor", "friction"]
    assert fault.logarithmic
    assert [fault.place(strength) for strength in (0.0, fault.low / 2, 2 * fault.high)] == [0, 0, 1]


def test_families_can_be_left_out() -> None:
    robot = load_robot("hexapod")
    assert "bent" not in {kind for _, kind in Registry(robot, without=("bent",)).faults}
    with pytest.raises(UnknownNameError, match=r"unknown family of damage 'bend'.*did you mean 'bent'"):
        Registry(robot, without=("bend",))
    every = {kind.family for kind in damage_kinds().values()}
    with pytest.raises(InvalidValueError, match="no fault of the hexapod is left without"):
        Registry(robot, without=every)


def test_what_is_compiled_is_kept_and_damage_is_the_same_as_applied() -> None:
    repertoire = small_repertoire()
    twin, robot = Twin(Thinking(repertoire)), repertoire.robot
    for text in (
        "front_left:lost+joint=back_left_hip:weak@0.3",
        "joint=back_left_hip:bent@20",
        "floor:slope@5",
    ):
        damage = parse_damage(text, robot)
        quick, thorough = twin.robot_with(damage).physics, damage.apply(robot).physics
        for field in ("body_mass", "body_ipos", "geom_pos", "actuator_gear", "dof_invweight0"):
            np.testing.assert_allclose(getattr(quick, field), getattr(thorough, field), rtol=1e-12)
        np.testing.assert_array_equal(quick.opt.gravity, thorough.opt.gravity)
    lost = twin.robot_with(parse_damage("front_left:lost", robot))
    assert twin.robot_with(parse_damage("front_left:lost", robot)) is lost


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"seconds": 0.0}, "the seconds to think must be a finite number above 0 s, not 0.0"),
        ({"seconds": float("nan")}, "the seconds to think must be a finite number above 0 s, not nan"),
        ({"episodes": -1}, "the episodes to think must be a whole number of at least 1, not -1"),
    ],
)
def test_limits_that_are_none(limits: dict, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Thinking(small_repertoire(), **limits)


@pytest.mark.parametrize("name", ["ant", "quadruped", "hexapod"])
def test_the_ends_of_a_range_are_damages_of_the_robot(name: str) -> None:
    robot = load_robot(name)
    for fault in Registry(robot).faults.values():
        for place in (0.0, 1.0) if fault.high > fault.low else ():
            parse_damage(str(fault.at(place)), robot)


BEAM = '<body><geom type="box" size="20 1 1" mass="3000" contype="0" conaffinity="0"/></body>'


@pytest.mark.parametrize(("part", "shift", "load"), [("", 0.578, 146), (BEAM, 1, 1000)])
def test_strengths_follow_from_the_robot_not_from_its_floor_and_are_possible(
    part: str, shift: float, load: float
) -> None:
    ant = load_robot("ant")
    xml = re.sub(r"<statistic .*?/>", "", ant.xml).replace('size="0 0 1"', 'size="100 100 1"')
    xml = re.sub(r"<body name=\"torso\".*?>", rf"\g<0>{part}", xml)
    robot = robot_from_text(xml, ant.yaml, origin="ant on a wide floor")
    assert robot.physics.stat.extent >= 20
    registry = Registry(robot)
    assert registry.faults["torso", "mass-left"].high == pytest.approx(shift, rel=0.01)
    assert registry.faults["torso", "payload"].high == pytest.approx(load, rel=0.01)
    assert all(registry.combine([defect]) for defect in registry.singles(10**6))

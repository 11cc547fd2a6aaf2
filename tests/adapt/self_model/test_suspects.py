"""Suspects: what can be wrong with any robot, and which of it at once."""

import re
from pathlib import Path

import numpy as np
import pytest
from small_minds import only, short_gaits, trial

from adapt.damage.damage import KINDS
from adapt.damage.kinds import damage_kinds
from adapt.damage.text import parse_damage
from adapt.self_model.features import Features
from adapt.self_model.fit import Fit
from adapt.self_model.rating import Rating
from adapt.self_model.suspects import MOST_AT_ONCE, Suspects
from adapt.self_model.twin import Thinking, Twin
from robots import plugins
from robots.catalogue import robot_names
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import load_robot, robot_from_text
from tests.adapt.rehearsal.small import small_repertoire


@pytest.mark.parametrize("name", robot_names())
def test_every_fault_of_a_robot_is_a_damage_of_it(name: str) -> None:
    robot = load_robot(name)
    suspects = Suspects(robot)
    assert {"weak", "locked", "lost", "bent", "friction", "payload"} <= {kind for _, kind in suspects.table}
    closed_loop = robot.controller.closed_loop
    assert closed_loop == (("all", "noisy-sensor") in suspects.table) == (name != "hexapod")
    for single in suspects.singles():
        assert parse_damage(str(single), robot) == suspects.combine([single])
    graded = [suspect for suspect in suspects.table.values() if suspect.strengths.graded]
    assert len(suspects.singles(least=10**6)) == len(suspects.singles()) + 2 * len(graded)
    for suspect in suspects.table.values():
        assert suspect.strengths.high > suspect.strengths.low or suspect.strengths.grid
        if suspect.strengths.high > suspect.strengths.low:
            for place in (0.0, 0.3, 1.0):
                single = suspect.at(place)
                if not suspect.kind.scale.whole:
                    assert suspect.strengths.place(single.strength) == pytest.approx(place, abs=0.01)


def test_no_more_than_four_at_once_and_none_that_contradict_each_other() -> None:
    suspects = Suspects(load_robot("hexapod"))
    joints = suspects.parts.robot.description.joints
    weak = [suspects.table[f"joint={joint}", "weak"].at(0.5) for joint in joints]
    assert str(suspects.combine(weak[:MOST_AT_ONCE])).count("+") == MOST_AT_ONCE - 1
    assert suspects.combine(weak[: MOST_AT_ONCE + 1]) is None
    assert suspects.combine([weak[0], suspects.table["joint=left_front_coxa", "weak"].at(0.2)]) is None
    assert suspects.combine([weak[0], suspects.table["left_front", "lost"].of(None)]) is None


def test_a_plugins_damage_is_found_out_like_a_built_in_one(tmp_path, monkeypatch) -> None:
    """With the plugin of the documentation: its kind comes first after one trial, next to similar ones."""
    page = Path("docs/tutorials/plugin.md").read_text()
    (code,) = re.findall(r"```python\n(# my_damage.py\n.*?)```", page, re.DOTALL)
    (tmp_path / "my_damage.py").write_text(code)
    monkeypatch.setattr(plugins, "_loaded", set())
    monkeypatch.setenv(plugins.VARIABLE, "")
    plugins.load_plugins(tmp_path / "my_damage.py")
    try:
        gaits, text = short_gaits(), "joint=left_middle_femur:one-sided@0.1"
        rating = Rating(Twin(Thinking(gaits, 300)), Features(gaits.robot), seed=3)
        similar = only("one-sided", "weak", "offset", "lost")
        fit = Fit(rating, Suspects(gaits.robot, without=similar), [], seed=3)
        rating.tell(0, *trial(text, 0)[:2])
        fit.search(1.0)
        (found,) = rating.best(1)[0].singles
        assert (found.target, found.kind) == ("joint=left_middle_femur", "one-sided")
        assert found.strength == pytest.approx(0.1, abs=0.1)
    finally:
        KINDS.pop("one-sided", None)


def test_families_can_be_left_out() -> None:
    robot = load_robot("hexapod")
    assert "bent" not in {kind for _, kind in Suspects(robot, without=("bent",)).table}
    with pytest.raises(UnknownNameError, match=r"unknown family of damage 'bend'.*did you mean 'bent'"):
        Suspects(robot, without=("bend",))
    every = {kind.family for kind in damage_kinds().values()}
    with pytest.raises(InvalidValueError, match="no fault of the hexapod is left without"):
        Suspects(robot, without=every)


def test_what_is_compiled_is_kept_and_damage_is_the_same_as_applied() -> None:
    repertoire = small_repertoire()
    twin, robot = Twin(Thinking(repertoire)), repertoire.robot
    lost_and_weak = "front_left:lost+joint=back_left_hip:weak@0.3"
    for text in (lost_and_weak, "joint=back_left_hip:bent@20", "floor:slope@5"):
        damage = parse_damage(text, robot)
        quick, thorough = twin.robot_with(damage).physics, damage.apply(robot).physics
        for field in ("body_mass", "body_ipos", "geom_pos", "actuator_gear", "dof_invweight0"):
            np.testing.assert_allclose(getattr(quick, field), getattr(thorough, field), rtol=1e-12)
        np.testing.assert_array_equal(quick.opt.gravity, thorough.opt.gravity)
    lost = twin.robot_with(parse_damage("front_left:lost", robot))
    assert twin.robot_with(parse_damage("front_left:lost", robot)) is lost


def test_thinking_takes_an_episode_at_least() -> None:
    with pytest.raises(InvalidValueError, match="the episodes to think must be a whole number of at least 1"):
        Thinking(small_repertoire(), episodes=-1)


BEAM = '<body><geom type="box" size="20 1 1" mass="3000" contype="0" conaffinity="0"/></body>'


@pytest.mark.parametrize(("part", "shift", "load"), [("", 0.578, 146), (BEAM, 1, 1000)])
def test_strengths_follow_from_the_robot_not_from_its_floor_and_are_possible(part, shift, load):
    ant = load_robot("ant")
    xml = re.sub(r"<statistic .*?/>", "", ant.xml).replace('size="0 0 1"', 'size="100 100 1"')
    xml = re.sub(r"<body name=\"torso\".*?>", rf"\g<0>{part}", xml)
    robot = robot_from_text(xml, ant.yaml, origin="ant on a wide floor")
    assert robot.physics.stat.extent >= 20
    suspects = Suspects(robot)
    assert suspects.table["torso", "mass-left"].strengths.high == pytest.approx(shift, rel=0.01)
    assert suspects.table["torso", "payload"].strengths.high == pytest.approx(load, rel=0.01)
    assert all(suspects.combine([single]) for single in suspects.singles(10**6))

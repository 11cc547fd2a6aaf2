"""What a robot on a mission knows of itself: gaits for a cause, gaits to try, and what motors tell."""

import json
from pathlib import Path

import numpy as np
import pytest

import surefoot
from adapt.damage.damage import Combination
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.damage.text import parse_damage
from adapt.mission.beliefs import Cause
from adapt.mission.knowledge import Knowledge, thinking_rate
from adapt.mission.monitor import Monitor
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.world import Stretch, World
from adapt.requests import MissionRequest
from adapt.selectors.catalogue import choose_selector
from adapt.self_model.twin import Run
from robots.pose import Pose
from robots.robot import load_robot
from robots.simulation.threads import Threads


def known(gaits, table, selector="rehearsed", world: World | None = None, refinement=0) -> Knowledge:
    request = MissionRequest(selector=selector, refine=refinement, think_episodes=10)
    entry, world = choose_selector(selector, table), world or SimulatedWorld(gaits.robot, [], seed=1)
    others = {"healthy": None, "backend": Threads(1), "on_refined": lambda *_: None}
    found = Knowledge(gaits, entry, table, world, request, **others)
    found.prepare()
    return found


def surprised(row: int) -> Stretch:
    return Stretch(row, Pose(), Pose(), np.zeros((40, 99), np.float32), None, fell=True)


@pytest.mark.parametrize("text", ["left_front:dead", "left_front:lost"])
def test_motors_that_give_no_torque_tell_what_is_wrong(hexapod, text: str) -> None:
    (gaits, table), knowledge = hexapod, known(*hexapod)
    row = int(np.argmax(np.where(table.falls.any(axis=0), 0, gaits.elites.objectives)))
    damage = Dead("left_front") if text.endswith("dead") else Lost("left_front")
    twin = knowledge.twin
    whole, broken = (twin.run([Run(what, row, 5)], traced=True).traces[0] for what in (Combination(), damage))
    monitor = Monitor(twin, gaits.robot)
    monitor.begin(Combination(), row)
    assert not any(monitor.listen(whole[:made]) for made in range(50, len(whole) + 1, 25))
    assert monitor.watch(broken, 50) == "motors give no torque"
    assert set(monitor.silent) == set(gaits.robot.description.legs["left_front"].joints)
    assert str(knowledge.read_off(monitor.silent, broken)) == text
    assert knowledge.read_off(monitor.silent[:2], broken) is None, "not all motors of a leg"
    monitor.begin(damage, row)
    assert not monitor.listen(broken), "which is believed already"


def test_gaits_that_were_rehearsed_for_the_cause_are_tried_first(hexapod) -> None:
    (_, table), knowledge = hexapod, known(*hexapod)
    assert 0 < knowledge.know(Lost("left_rear")) < 2  # seconds
    assert (knowledge.beliefs.cause.words, knowledge.beliefs.cause.trusted) == ("left_rear:lost", True)
    condition = table.conditions.index("left_rear:lost")
    tried = knowledge.candidates(untried=True)
    assert len(tried) == 5
    assert not table.falls[condition, tried].any()
    assert table.objectives[condition, tried].min() > np.quantile(table.objectives[condition], 0.8)
    assert set(tried) <= set(knowledge.rows)
    assert knowledge.candidates(untried=False) == knowledge.rows
    assert knowledge.recovers()
    assert knowledge.candidates(untried=True) == knowledge.rows
    knowledge.know(Lost("left_rear"))
    assert not knowledge.recovers(), "the second time it looks into it"


def test_a_robot_that_is_expected_to_get_nowhere_is_said_to_hardly_walk(hexapod) -> None:
    knowledge = known(*hexapod)
    knowledge.know(Lost("right_rear"))
    assert knowledge.prospects == "a robot with this damage may stumble"
    for way, (path, fall) in knowledge.beliefs.known.items():
        knowledge.beliefs.known[way] = path / 10, fall
    assert knowledge.prospects.startswith("with this damage it hardly walks, its best gait 0.")
    assert knowledge.hardly_walks


def test_again_it_tries_the_gait_that_fell_and_then_what_was_not_tried(ant) -> None:
    of_ant = known(*ant)
    of_ant.beliefs.believe(Cause.sure(parse_damage("back_right:dead", of_ant.repertoire.robot)))
    rows = list(range(len(of_ant.repertoire)))
    of_ant.outcomes.simulate(rows)
    first = of_ant.gait_to_try(surprised(2))
    assert of_ant.gait_to_try(surprised(2)) == first, "what gets furthest, whatever fell"
    fell = next(row for row in rows if row != first)
    assert of_ant.gait_to_try(surprised(fell), again=True) == fell
    tried = {first, fell}
    while len(tried) < len(rows):  # of a gait that it refined, and a selector does not know
        row = of_ant.gait_to_try(surprised(len(rows)), again=True)
        assert row not in tried
        tried.add(row)
    assert of_ant.gait_to_try(surprised(len(rows)), again=True) in rows
    of_ant.begin_anew(surprised(fell))
    of_ant.outcomes.simulate(rows)
    assert of_ant.gait_to_try(surprised(fell), again=True) != fell, "which has just begun it"


@pytest.mark.slow
def test_a_whole_robot_walks_with_no_gait_that_was_made_for_a_damage() -> None:
    gaits = surefoot.load("quadruped")
    assert gaits.specialists is not None
    knowledge, first = known(gaits, None, "self-model"), len(gaits.elites)
    assert knowledge.rows == list(range(first))
    knowledge.be_told(parse_damage("front_left:lost", gaits.robot))
    assert set(knowledge.rows) > set(range(first, len(gaits.gaits.solutions)))
    gaits = surefoot.load("quadruped-policy")
    knowledge, first = known(gaits, None, "self-model"), len(gaits.elites)
    assert knowledge.rows == [first], "with the policy alone"
    knowledge.be_told(parse_damage("front_left:lost", gaits.robot))
    assert len(set(knowledge.rows)) == len(gaits.gaits.solutions)


@pytest.mark.parametrize("name", ["ant", "half_cheetah", "hexapod", "hopper", "walker"])
def test_a_core_thinks_as_fast_as_one_was_measured(name: str) -> None:
    file = Path(__file__).parents[3] / "docs" / "benchmarks" / "simulation.json"
    measured = json.loads(file.read_text())[name]["closed_loop_steps_per_s_one_thread"]
    assert thinking_rate(load_robot(name)) == pytest.approx(measured, rel=0.12)

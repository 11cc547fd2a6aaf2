"""Missions have a budget of falls, and help that takes time and is counted."""

import json
from pathlib import Path

import numpy as np
import pytest

import surefoot
from adapt.damage.damage import Combination
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.mission.knowledge import Knowledge, thinking_rate
from adapt.mission.monitor import Monitor
from adapt.mission.outcomes import Way
from adapt.mission.result import MissionResult
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.world import ASSISTANCE, Stretch
from adapt.selectors.catalogue import choose_selector
from adapt.self_model.twin import Run, Thinking, Twin
from robots.errors import InvalidValueError
from robots.robot import load_robot
from robots.simulation.threads import Threads
from tests.adapt.mission.small import small_hexapod

GAITS, TABLE = small_hexapod()
SETTINGS = {"rehearsal": TABLE, "selector": "rehearsed", "refinement": 0, "seed": 1}
ON_ITS_BACK = (0.0, 1.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    world = SimulatedWorld(GAITS.robot, [], seed=1)
    entry = choose_selector("rehearsed", TABLE)
    settings = {
        "seed": 1,
        "episodes": 10,
        "refinement": None,
        "cores": 2,
        "healthy": None,
        "backend": Threads(1),
    }
    found = Knowledge(GAITS, entry, TABLE, world, **settings, on_refined=lambda _found, _row: None)
    found.prepare()
    return found


def thrown_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the robot lie on its back after every stretch."""
    drive = SimulatedWorld.drive

    def thrown(world: SimulatedWorld, row: int, *given: object, **options: object) -> Stretch:
        drive(world, row, *given, **options)
        world._root[2], world._root[3:] = 0.3, ON_ITS_BACK
        return drive(world, row, *given, **options)

    monkeypatch.setattr(SimulatedWorld, "drive", thrown)


@pytest.mark.parametrize("most", [1, 2])
def test_a_robot_that_fell_as_often_as_it_may_is_damped(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    thrown_down(monkeypatch)
    mission = surefoot.Mission(GAITS, goals=[(9, 0)], seconds=200.0, max_falls=most, **SETTINGS)
    closed: list[int] = []
    monkeypatch.setattr(mission._world, "close", lambda: closed.append(1))
    kinds, words = [], ""
    for event in mission:
        kinds.append(event.kind)
        words = event.words
        assert bool(closed) == (event.kind == "end"), "it is damped before the end is told"
    assert (kinds.count("fall"), kinds.count("assistance")) == (most, most - 1)
    times = "1 time," if most == 1 else "2 times,"
    assert words.startswith(
        f"It fell {times} which is as often as it may, and is damped. The mission is over"
    )
    assert mission.result.seconds < 100 * most


def test_help_takes_its_time_and_what_is_reached_with_it_counts_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fallen: list[float] = []
    drive = SimulatedWorld.drive

    def once(world: SimulatedWorld, row: int, *given: object, **options: object) -> Stretch:
        if world.clock > 6.0 and not fallen:
            world._root[2], world._root[3:] = 0.3, ON_ITS_BACK
            fallen.append(world.clock)
        return drive(world, row, *given, **options)

    monkeypatch.setattr(SimulatedWorld, "drive", once)
    mission = surefoot.Mission(GAITS, goals=[(0.5, 0), (3, 0)], seconds=120.0, **SETTINGS)
    events = list(mission)
    result = mission.result
    assert (result.reached, result.unaided, result.falls, result.assistances) == (2, 1, 1, 1)
    fall, up = (next(event for event in events if event.kind == kind) for kind in ("fall", "assistance"))
    assert up.time - fall.time == pytest.approx(ASSISTANCE, abs=1.0)
    assert up.facts["seconds"] == ASSISTANCE
    assert "reached 2 of 2 goals, 1 of them without help, in" in events[-1].words


@pytest.mark.parametrize(
    ("goals", "reached", "unaided", "words"),
    [
        (1, 0, 0, "reached 0 of 1 goal in 9.0 s"),
        (1, 1, 1, "reached 1 of 1 goal without help in 9.0 s"),
        (2, 2, 0, "reached 2 of 2 goals with help in 9.0 s"),
        (3, 2, 1, "reached 2 of 3 goals, 1 of them without help, in 9.0 s"),
        (0, 0, 0, "walked 4.0 m in 9.0 s"),
    ],
)
def test_how_it_went_says_what_was_reached_without_help(
    goals: int, reached: int, unaided: int, words: str
) -> None:
    counts = {"falls": 1, "assistances": 2, "trials": 0, "alarms": 0, "thinking": 1.0}
    result = MissionResult(reached, unaided, goals, 9.0, 4.0, **counts)
    assert result.words == f"{words}: 1 fall, 2 assistances, 0 trials, 1.0 s of thinking"


def test_no_budget_is_no_budget() -> None:
    with pytest.raises(InvalidValueError, match="max_falls must be a whole number of at least 1, not 0"):
        surefoot.Mission(GAITS, max_falls=0)


@pytest.mark.parametrize("name", ["ant", "half_cheetah", "hexapod", "hopper", "walker"])
def test_a_core_thinks_as_fast_as_one_was_measured(name: str) -> None:
    file = Path(__file__).parents[3] / "docs" / "benchmarks" / "simulation.json"
    measured = json.loads(file.read_text())[name]["closed_loop_steps_per_s_one_thread"]
    assert thinking_rate(load_robot(name)) == pytest.approx(measured, rel=0.12)


@pytest.mark.parametrize("text", ["left_front:dead", "left_front:lost"])
def test_motors_that_give_no_torque_tell_what_is_wrong(knowledge: Knowledge, text: str) -> None:
    robot, row = GAITS.robot, int(np.argmax(np.where(TABLE.falls.any(axis=0), 0, GAITS.elites.objectives)))
    twin = Twin(Thinking(GAITS, None, 10))
    damage = Dead("left_front") if text.endswith("dead") else Lost("left_front")
    whole, broken = (twin.run([Run(what, row, 5)], traced=True).traces[0] for what in (Combination(), damage))
    monitor = Monitor(twin, robot)
    monitor.begin(Combination(), row)
    assert not any(monitor.listen(whole[:made]) for made in range(50, len(whole) + 1, 25))
    assert monitor.watch(broken, 50) == "motors give no torque"
    assert set(monitor.silent) == set(robot.description.legs["left_front"].joints)
    assert str(knowledge.read_off(monitor.silent, broken)) == text
    assert knowledge.read_off(monitor.silent[:2], broken) is None, "not all motors of a leg"
    monitor.begin(damage, row)
    assert not monitor.listen(broken), "which is believed already"


def test_gaits_that_were_rehearsed_for_the_cause_are_tried_first(knowledge: Knowledge) -> None:
    belief, seconds = knowledge.know(Lost("left_rear"))
    assert (str(belief.damage), belief.trusted) == ("left_rear:lost", True)
    assert 0 < seconds < 2
    condition = TABLE.conditions.index("left_rear:lost")
    tried = knowledge.candidates(untried=True)
    assert len(tried) == 5
    assert not TABLE.falls[condition, tried].any()
    assert TABLE.objectives[condition, tried].min() > np.quantile(TABLE.objectives[condition], 0.8)
    assert set(tried) <= set(knowledge.rows)
    assert knowledge.candidates(untried=False) == knowledge.rows
    knowledge.be_whole()
    assert knowledge.candidates(untried=True) == knowledge.rows


def test_a_robot_that_is_expected_to_get_nowhere_is_said_to_hardly_walk(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge.know(Lost("right_rear"))
    assert knowledge.prospects == "a robot with this damage may stumble"
    path = np.tile([0.21, 0.0, 0.0], (10, 1))
    falls = np.tile([0.9, 0.0, 0.0], (10, 1))
    few = {Way(1): (path, np.inf), Way(2): (falls, 30.0)}
    monkeypatch.setitem(knowledge.outcomes._paths, str(knowledge.outcomes.damage), few)
    whole = max(float(path[-1, 0]) for path, fall in knowledge.outcomes.healthy.values() if np.isinf(fall))
    assert knowledge.prospects == (
        f"with this damage it hardly walks, its best gait 0.2 m in 5 s instead of {whole:.1f} m"
    )

"""Missions of a small repertoire, from the first step to the last."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import imageio.v3 as imageio
import numpy as np
import pytest

import surefoot
from adapt.mission.changes import read_changes
from adapt.mission.log import LogWriter, MissionResult, read_log
from adapt.mission.mission import Mission
from adapt.mission.monitor import Monitor
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.states import State
from adapt.mission.world import ASSISTANCE, Stretch
from adapt.requests import MissionRequest
from adapt.selectors.catalogue import find_selector
from repertoire.storage.repertoires import write_repertoire
from robots.errors import InvalidFileError, InvalidValueError
from robots.files.locks import locked
from tests.adapt.mission.conftest import GOAL

Throws = Callable[[float], bool]


class Watched(SimulatedWorld):
    """A world that notes what is asked of it, and may throw the robot on its back before a stretch."""

    def __init__(self, *given: object, throws: Throws, **options: Any) -> None:
        self.calls: list[tuple[str, float, Stretch | None, dict[str, Any]]] = []
        self.closed, self._throws = False, throws
        super().__init__(*given, **options)

    def drive(self, *given: Any, **options: Any) -> Stretch:
        if self._throws(self.clock):
            self._root[2], self._root[3:] = 0.3, (0.0, 1.0, 0.0, 0.0)
        found = super().drive(*given, **options)
        self.calls.append(("drive", self.clock, found, options))
        return found

    def set_upright(self, within: float) -> bool:
        self.calls.append(("set_upright", self.clock, None, {}))
        return super().set_upright(within)

    def close(self) -> None:
        self.closed = True


def mission(found, throws: Throws = lambda _: False, **more: Any) -> tuple[Mission, "Watched"]:
    """A mission, and its world, which notes what is asked of it."""
    gaits, table = found
    request = MissionRequest(**{"selector": "rehearsed", "refine": 0} | more)
    changes = read_changes(request.changes, gaits.robot)
    world = Watched(gaits.robot, changes, seed=1, throws=throws)
    return Mission(gaits, request, table=table, world=world), world


def test_a_leg_breaks_under_way_and_the_robot_reaches_its_goal(missions) -> None:
    for name in ("motors", "trial"):
        found = missions(name)
        assert (found.events[0].kind, found.events[-1].kind) == ("start", "end")
        assert all(a.time <= b.time for a, b in itertools.pairwise(found.events))
        noticed = next(event.time for event in found.events if event.kind in ("alarm", "fall"))
        assert 2.0 < noticed <= 4.0
        assert next(iter(found.first("thought").facts["believed"])).startswith("left_front")
        assert (found.result.reached, found.result.unaided, found.result.goals) == (1, 1, 1)
        assert found.events[-1].pose.distance(GOAL) <= 0.25
        assert found.result.trials == found.kinds().count("trial") == (name == "trial")


def test_a_mission_depends_on_no_number_of_threads(missions) -> None:
    lines = [[event.line() for event in missions("motors", *threads).events] for threads in ((), (1,))]
    assert lines[0] == lines[1]


def test_a_healthy_robot_raises_no_alarm_and_steers(missions) -> None:
    found = missions("whole")
    assert found.result.reached == 2
    assert not found.kinds("alarm", "trial", "thought")
    assert found.first("walk").facts["path"]


def test_after_a_fall_it_tries_what_gets_far_where_that_gait_falls(missions, hexapod) -> None:
    found, table = missions("fallen"), hexapod[1]
    fallen = next(i for i, event in enumerate(found.events) if event.kind == "fall")
    row = next(event.facts["row"] for event in reversed(found.events[:fallen]) if event.kind == "walk")
    tried = next(event for event in found.events[fallen:] if event.kind == "trial").facts["row"]
    expected = table.falls[:, row] @ table.objectives
    assert expected[tried] > 0.8 * expected.max() > expected[row]


def test_a_robot_that_fell_as_often_as_it_may_is_damped(hexapod) -> None:
    found, _ = mission(hexapod, lambda _: True, seconds=60.0, max_falls=2)
    events = list(found)
    assert (found.result.falls, found.result.assistances) == (2, 1)
    assert events[-1].words.startswith("It fell 2 times, which is as often as it may, and is damped.")
    fall, up = (next(event for event in events if event.kind == kind) for kind in ("fall", "assistance"))
    assert up.time - fall.time == pytest.approx(ASSISTANCE, abs=1.0)
    assert up.facts["seconds"] == ASSISTANCE


def test_a_repair_is_believed_at_once_and_the_second_time_looked_into(missions) -> None:
    found = missions("repaired")
    noticed = [event.time for event in found.events if "a motor works" in event.words]
    assert [time < at + 2 for time, at in zip(noticed[:2], (8, 20), strict=True)] == [True, True]
    kinds = [found.kinds("alarm", "stumble", "trial", "thought", after=time) for time in (8, 20)]
    assert kinds[0][:2] == ["alarm", "thought"]
    assert kinds[1][:3] == ["alarm", "trial", "thought"]


def test_a_mission_that_names_no_selector_thinks_by_the_self_model(hexapod) -> None:
    asked = {"goals": (GOAL,), "seconds": 12.0, "think_episodes": 20, "selector": None}
    found, _ = mission(hexapod, changes=["left_front:lost@2"], **asked)
    assert any(event.kind == "thought" for event in found)


def test_robots_to_compare_with_are_told_or_take_no_notice(missions) -> None:
    told, plain = missions("told"), missions("plain")
    assert not told.kinds("trial", "thought")
    assert not plain.kinds("trial", "thought", "stumble")
    assert plain.kinds("alarm", "fall")
    assert told.result.distance > plain.result.distance


def test_help_takes_its_time_and_what_is_reached_with_it_counts_apart(hexapod) -> None:
    falls = iter([True])
    found, world = mission(
        hexapod, lambda clock: clock > 6.0 and next(falls, False), goals=((0.5, 0), (3, 0))
    )
    for event in found:
        assert world.closed == (event.kind == "end"), "it is damped before the end is told"
    result = found.result
    assert (result.reached, result.unaided, result.falls, result.assistances) == (2, 1, 1, 1)
    assert found.state is State.ARRIVED
    assert "reached 2 of 2 goals, 1 of them without help, in" in event.words


@pytest.mark.parametrize(("rest", "helped"), [(0.1, 0), (0.6, 1)])
def test_a_mission_ends_in_time_though_the_robot_fell_just_before(hexapod, rest: float, helped: int) -> None:
    found, world = mission(hexapod, lambda _: True, seconds=0.02 + rest)
    list(found)
    assert (found.result.falls, found.state) == (1, State.OUT_OF_TIME)
    assert found.result.seconds == pytest.approx(0.02 + rest)
    assert len([name for name, *_ in world.calls if name == "set_upright"]) == helped


def test_after_a_false_alarm_it_tries_the_gait_and_goes_on_without_stopping(hexapod, monkeypatch) -> None:
    alarms = iter([None] * 30 + ["a false alarm"])
    monkeypatch.setattr(Monitor, "watch", lambda *_: next(alarms, None))
    found, world = mission(hexapod, seconds=9.0)
    events = list(found)
    kinds = [event.kind for event in events if event.kind in ("alarm", "trial", "stumble", "thought")]
    assert kinds == ["alarm", "trial", "stumble"]
    trial = next(event for event in events if event.kind == "trial")
    after = [options["abrupt"] for _, clock, _, options in world.calls if clock >= trial.time - 0.01]
    assert after[0]
    assert not any(after[1:])


def test_a_goal_that_is_reached_as_it_notices_something_ends_the_mission(hexapod, monkeypatch) -> None:
    found, world = mission(hexapod, goals=((1.0, 0.0),), seconds=20.0)
    near = lambda *_: "something" if world.pose.distance((1.0, 0.0)) <= 0.25 else None  # noqa: E731
    monkeypatch.setattr(Monitor, "watch", near)
    assert [event.kind for event in found][-3:] == ["alarm", "goal", "end"]
    assert found.result.trials == 0


def test_a_robot_that_sees_its_goal_is_told_it_every_half_second(ant) -> None:
    goal = (5.0, 30.0)
    found, world = mission(ant, goals=(goal,), seconds=6.0)
    list(found)
    calls = world.calls
    told = [(clock, drive.start.bearing(goal), options["towards"]) for _, clock, drive, options in calls]
    clocks, bearings, towards = np.array(told[:8]).T
    assert bearings[0] > 1.0
    np.testing.assert_allclose(towards[:4], bearings[:4], atol=1e-9)
    assert np.median(np.diff(clocks)) == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
def test_a_robot_that_would_tip_over_while_it_stands_sets_off_at_once() -> None:
    gaits = (surefoot.load("quadruped"), None)
    found, world = mission(gaits, changes=["back_left:lost@1"], seconds=30.0, selector=None)
    list(found)
    after = [call for before, call in itertools.pairwise(world.calls) if before[0] == "set_upright"]
    assert {(name, options.get("abrupt")) for name, _, _, options in after} == {("drive", True)}


@pytest.mark.parametrize(
    ("goals", "reached", "unaided", "words"),
    [
        (1, 0, 0, "reached 0 of 1 goal in 9.0 s"),
        (1, 1, 1, "reached 1 of 1 goal without help in 9.0 s"),
        (2, 2, 0, "reached 2 of 2 goals with help in 9.0 s"),
        (0, 0, 0, "walked 4.0 m in 9.0 s"),
    ],
)
def test_how_it_went_says_what_was_reached_without_help(goals, reached, unaided, words: str) -> None:
    counts = {"falls": 1, "assistances": 2, "trials": 0, "alarms": 0, "thinking": 1.0}
    result = MissionResult(reached, unaided, goals, 9.0, 4.0, **counts)
    assert result.words == f"{words}: 1 fall, 2 assistances, 0 trials, 1.0 s of thinking"


def test_the_command_writes_a_log_and_a_film(hexapod, run, works, tmp_path) -> None:
    file, log, film = tmp_path / "gaits.h5", tmp_path / "log.jsonl", tmp_path / "film.gif"
    write_repertoire(file, hexapod[0])
    arguments = ["mission", file, "--goal", "0.3,0", "--seconds", 20, "--log", log]
    out = works(*arguments, "--break", "left_front:lost@0.3", "--video", film)
    assert "Reached the goal at 0.3,0" in out
    facts, events = read_log(log)
    assert (facts.robot, facts.think_episodes, events[-1].kind) == ("hexapod", 400, "end")
    frames = imageio.imread(film)
    assert len(frames) == pytest.approx(20 * events[-1].time, abs=1)
    robot, way = frames[-1][:360, :480], frames[-1][:360, 480:]
    assert robot.std() > 20
    assert (way[:, :, 2].astype(int) - way[:, :, 0] > 80).sum() > 60, "the path is blue"
    with locked(log):
        code, _, err = run(*arguments, "--overwrite")
    assert (code, "log.jsonl is in use by process" in err) == (2, True)


def test_a_mission_in_python_writes_a_log(hexapod, tmp_path) -> None:
    log, clocks = tmp_path / "log.jsonl", []
    mission = surefoot.Mission(
        hexapod[0], seconds=1.0, log=log, on_step=lambda world: clocks.append(world.clock),
        think_episodes=20, refine=5, seed=3, selector=find_selector("self-model").kind,
    )  # fmt: skip
    assert not log.exists()
    events = list(mission)
    assert clocks[-1] == pytest.approx(1.0)
    asked, logged = read_log(log)
    assert (asked.seconds, asked.think_episodes, asked.refine, asked.seed) == (1.0, 20, 5, 3)
    assert asked.selector == "self-model", "a class goes by its name"
    assert [event.line() for event in logged] == [event.line() for event in events]
    full = tmp_path / "full.jsonl"
    full.symlink_to("/dev/full")
    with pytest.raises(InvalidFileError, match="cannot be written: no space left on device"):
        LogWriter(full, asked).add(events[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"selector": "map-bo"}, "map-bo does not find out what is wrong"),
        ({"cores": 1.5}, "cores: input should be a valid integer, not 1.5"),
        ({"seed": -1}, "seed: "),
        ({"max_falls": 0}, "max_falls: "),
        ({"seconds": math.nan}, "seconds: "),
        ({"within": -1.0}, "within: "),
        ({"seconds": 4000.0}, "seconds: input should be less than or equal to 3600"),
        ({"goals": [(math.inf, 0.0)]}, "at most 1000 m"),
        ({"goals": ["1,2,3"]}, "X,Y in metres"),
        ({"goals": [None]}, "X,Y in metres"),
    ],
)
def test_what_no_mission_can_be_is_refused_at_once(hexapod, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        surefoot.Mission(hexapod[0], **settings)
    nothing = replace(hexapod[0], elites=hexapod[0].elites.take(np.arange(0)))
    with pytest.raises(InvalidValueError, match="the repertoire is empty"):
        surefoot.Mission(nothing)

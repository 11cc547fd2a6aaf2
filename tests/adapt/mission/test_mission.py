"""Missions of a small repertoire, from the first step to the last."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import imageio.v3 as imageio
import numpy as np
import pytest

import surefoot
from adapt.damage.damage import Combination, Damage
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.damage.text import parse_damage
from adapt.mission import diagnosis, simulated
from adapt.mission import mission as mission_module
from adapt.mission.diagnosis import Diagnosis, Finding
from adapt.mission.events import Event, read_log
from adapt.mission.mission import Mission
from adapt.mission.monitor import ALLOWANCE, THRESHOLD, Monitor
from adapt.mission.outcomes import Outcomes, Way
from adapt.mission.pose import Pose
from adapt.mission.steering import HEADINGS
from adapt.mission.surprises import Surprises
from adapt.mission.world import Stretch
from adapt.rehearsal.table import Table
from adapt.self_model.twin import Run, Thinking, Twin
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import write_repertoire
from robots.backend import ModelBatch
from robots.errors import InvalidFileError, InvalidValueError
from robots.evaluations import Request
from robots.files.locks import locked
from robots.motors import Motors
from robots.randomization import randomised
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.threads import ALL_CORES, Threads
from robots.simulation.trace import SENSORS, TraceColumns
from surefoot.mission import _Log
from surefoot.shipped import repertoire_path
from tests.adapt.mission.small import note_calls, small_ant, small_hexapod


@pytest.fixture(scope="module")
def small() -> tuple[Repertoire, Table]:
    return small_hexapod()


@pytest.fixture(autouse=True)
def trials_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Motors do not tell that they give no torque, and help takes no time: `test_mission_falls` has these."""
    monkeypatch.setattr(Monitor, "listen", lambda *_: False)
    for module in (simulated, mission_module):
        monkeypatch.setattr(module, "ASSISTANCE", 0.0)


def walk(small: tuple[Repertoire, Table], **settings: object) -> tuple[list[Event], surefoot.Mission]:
    repertoire, table = small
    mission = surefoot.Mission(
        repertoire, rehearsal=table, selector="rehearsed", refinement=0, seed=1, max_falls=99, **settings
    )
    return list(mission), mission


def test_a_leg_breaks_under_way_and_the_robot_reaches_its_goal(small: tuple[Repertoire, Table]) -> None:
    settings = {"goals": [(2.5, 0.5)], "changes": ["left_front:lost@2"], "seconds": 60.0}
    events, mission = walk(small, **settings)
    kinds = [event.kind for event in events]
    assert (kinds[0], kinds[-1]) == ("start", "end")
    assert all(a.time <= b.time for a, b in itertools.pairwise(events))
    noticed = next(event.time for event in events if event.kind in ("alarm", "fall"))
    assert 2.0 < noticed <= 4.0
    thought = next(event for event in events if event.kind == "thought")
    assert next(iter(thought.facts["believed"])).startswith("left_front")
    result = mission.result
    assert (result.reached, result.goals) == (1, 1)
    assert events[-1].pose.distance((2.5, 0.5)) <= 0.25
    assert result.trials == kinds.count("trial") >= 1
    again, _ = walk(small, **settings, backend=Threads(1))
    assert [event.line() for event in again] == [event.line() for event in events]


def test_after_a_fall_it_tries_what_gets_far_where_that_gait_falls(small: tuple[Repertoire, Table]) -> None:
    events, _ = walk(small, changes=["left_rear:lost@2"], seconds=12.0)
    fallen = next(i for i, event in enumerate(events) if event.kind == "fall")
    row = next(event.facts["row"] for event in reversed(events[:fallen]) if event.kind == "walk")
    trial = next(event for event in events[fallen:] if event.kind == "trial")
    falls, objectives = small[1].falls[:, row], small[1].objectives
    assert falls.any()
    tried = trial.facts["row"]
    assert (falls @ objectives)[tried] > 0.8 * (falls @ objectives).max() > (falls @ objectives)[row]


def test_a_mission_ends_in_time_though_the_robot_fell_just_before(small: tuple[Repertoire, Table]) -> None:
    change = {"changes": ["left_rear:lost@2"]}
    fallen = next(event.time for event in walk(small, **change, seconds=6.0)[0] if event.kind == "fall")
    for rest in (0.1, 0.6):
        result = walk(small, **change, seconds=fallen + rest)[1].result
        assert result.falls == 1
        assert result.assistances == (rest > 0.5)
        assert result.seconds == pytest.approx(fallen + rest)


def test_a_robot_that_sees_its_goal_is_told_it_every_half_second_whole_or_damaged() -> None:
    goal = (5.0, 30.0)
    (gaits, table), settings = small_ant(), {"selector": "rehearsed", "refinement": 0, "seed": 1}
    mission = surefoot.Mission(
        gaits, goals=[goal], changes=["back_right:dead@5"], seconds=20.0, rehearsal=table, **settings
    )
    calls = note_calls(mission)
    events = list(mission)
    thought = next(event.time for event in events if event.kind == "thought")
    drives = [call for call in calls if call.name == "drive" and not call.abrupt]
    bearings = np.array([call.found.start.bearing(goal) for call in drives])
    told = np.array([call.towards for call in drives])
    assert abs(bearings).max() > np.pi / 3
    off = (told - bearings + np.pi) % (2 * np.pi) - np.pi
    assert abs(off).max() > 0.01, "less than how far it walked aside"
    np.testing.assert_allclose(off[:4], 0, atol=1e-9)
    clocks = np.array([call.clock for call in drives])
    for some in (clocks <= thought, clocks > thought):
        assert np.median(np.diff(clocks[some])) == pytest.approx(0.5, abs=0.01)
    walks = [event for event in events if event.kind == "walk" and event.time > thought]
    assert max(walk.facts["seconds"] for walk in walks) == pytest.approx(2.0, abs=0.05)
    assert {way.heading for way in mission._outcomes.ways} == set(HEADINGS)
    assert all(event.facts["path"] for event in walks if event.facts["seconds"] > 0.1)


def test_while_it_walks_it_simulates_all_gaits(
    small: tuple[Repertoire, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "_LISTED", 4)
    monkeypatch.setattr(diagnosis, "_TURNING", 4)
    repertoire, table = small
    mission = surefoot.Mission(
        repertoire,
        rehearsal=table,
        selector="rehearsed",
        changes=["right_front:lost@1"],
        seconds=30.0,
        refinement=0,
        seed=1,
    )
    known: list[int] = []
    for event in mission:
        if event.kind == "thought":
            known = [len(mission._outcomes.rows)]
        known += [len(mission._outcomes.rows)] if event.kind == "walk" and known else []
    assert known[0] <= 9 < known[-1] == len(repertoire), "those for the cause, and four others, come first"
    assert len(set(known)) > 3, "not all at once"


def test_a_robot_that_would_tip_over_while_it_stands_sets_off_at_once() -> None:
    gaits = surefoot.load("quadruped")
    mission = surefoot.Mission(gaits, changes=["back_left:lost@1"], seconds=12.0, refinement=0, seed=1)
    calls = note_calls(mission)
    events = list(mission)
    after = [call for before, call in itertools.pairwise(calls) if before.name == "set_upright"]
    assert after
    assert {(call.name, call.name == "drive" and call.abrupt) for call in after} == {("drive", True)}
    assert "thought" in {event.kind for event in events}


def test_a_whole_robot_walks_with_no_gait_that_was_made_for_a_damage() -> None:
    gaits = surefoot.load("quadruped")
    assert gaits.specialists is not None
    mission = surefoot.Mission(gaits, changes=["front_left:lost@1"], seconds=1.5, refinement=0, seed=1)
    next(iter(mission))
    knowledge, first = mission._knowledge, len(gaits.elites)
    assert knowledge.rows == list(range(first))
    knowledge.be_told(parse_damage("front_left:lost", gaits.robot))
    assert set(knowledge.rows) > set(range(first, len(gaits.gaits.solutions)))
    ant = surefoot.load("ant")
    mission = surefoot.Mission(ant, seconds=1.0, refinement=0, seed=1)
    next(iter(mission))
    made_for = [
        ant.specialists.damages[row - len(ant.elites)] for row in mission._knowledge.rows[len(ant.elites) :]
    ]
    assert made_for == [("healthy",)]
    steering = mission._knowledge.steering
    assert steering.choose(mission._knowledge.rows, None) == len(ant) - 1


def test_where_a_robot_leads_that_cannot_stand_is_a_mean_of_episodes() -> None:
    gaits, _ = small_ant()
    paths = {}
    for episodes in (1, 6):
        outcomes = Outcomes(Twin(Thinking(gaits, None, 10)), gaits.gaits.measures)
        outcomes.simulate([0], episodes)
        paths[episodes], _ = outcomes.predicted([Way(0)])
    twin, seeds = Twin(Thinking(gaits, None, 10)), derive_seeds(0, SeedFamily.MISSION, 0, 6)
    traces = twin.run([Run(Combination(), 0, int(seed)) for seed in seeds], traced=True).traces
    ends = [trace[-1, TraceColumns.of(gaits.robot).position] for trace in traces]
    assert len(set(map(len, traces))) == 1
    assert paths[6][0, -1, 0] == pytest.approx(np.mean(ends), abs=0.05)
    assert paths[1][0, -1, 0] == pytest.approx(ends[0], abs=0.05)
    assert abs(ends[0] - np.mean(ends)) > 0.1


def test_where_a_robot_that_sees_no_target_leads_depends_on_no_heading(
    small: tuple[Repertoire, Table],
) -> None:
    repertoire, _ = small
    outcomes = Outcomes(Twin(Thinking(repertoire, None, 10)), repertoire.gaits.measures)
    outcomes.simulate([0], headings=(0.0, 2.0, np.pi))
    ahead, turned = Way(0), Way(0, 2.0)
    assert (outcomes.ways, outcomes.rows) == ([ahead, turned, Way(0, np.pi)], [0])
    paths, _ = outcomes.predicted(outcomes.ways)
    assert paths[2] == pytest.approx(paths[0], abs=0.02)
    paths, _ = outcomes.predicted([ahead, turned])
    assert paths[1] == pytest.approx(paths[0], abs=0.02)
    assert abs(paths[0, -1]).max() > 0.5


def test_a_robot_that_cannot_stand_is_set_upright_where_it_fell_or_hardly_moves_alone() -> None:
    events, _ = walk(small_ant(), changes=["back_right:dead@1"], seconds=9.0)
    assert "trial" in {event.kind for event in events}
    for before, event in itertools.pairwise(events):
        assert event.kind != "assistance" or before.kind in ("fall", "alarm", "thought")
    walked = next(event for event in events if event.kind == "walk")
    assert walked.facts["moved"][0] > 0.5  # ahead is where the goal is
    assert abs(walked.facts["moved"][1]) < walked.facts["moved"][0]


def answer(monkeypatch: pytest.MonkeyPatch, *damages: Damage) -> list[int]:
    """Have diagnoses come out so, the last one again and again; returns how many trials each took in."""
    left, trials = list(damages), list[int]()

    def learn(_diagnosis: Diagnosis, _trial: Stretch) -> Finding:
        trials[-1] += 1
        damage = left.pop(0) if len(left) > 1 else left[0]
        return Finding(damage, {str(damage): 1.0}, str(damage), 0, False)

    monkeypatch.setattr(Diagnosis, "renew", lambda *_: trials.append(0))
    monkeypatch.setattr(Diagnosis, "learn", learn)
    monkeypatch.setattr(Diagnosis, "promising", lambda _: [list(range(5))])
    return trials


@pytest.mark.parametrize("explained", [True, False])
def test_a_whole_robot_that_gets_nowhere_again_after_a_usual_trial_looks_for_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, explained: bool
) -> None:
    monkeypatch.setattr(Monitor, "highest", 0.0)  # the monitor takes everything for usual
    monkeypatch.setattr(Monitor, "watch", lambda *_: None)
    trials = answer(monkeypatch, Lost("back_right") if explained else Combination())
    events, _ = walk(small_ant(), changes=["back_right:lost@1"], seconds=30.0)
    kinds = [event.kind for event in events if event.kind in ("trial", "stumble", "thought")]
    assert kinds[:4] == ["trial", "stumble", "trial", "thought"]
    first, second, *_ = (event.facts["row"] for event in events if event.kind == "trial")
    assert first != second
    if not explained:
        assert kinds[4:6] == ["trial", "thought"], "it is not cleared by every other trial"
        assert trials[0] > 1 == len(trials), "what it found out before still counts"


def test_after_a_trial_as_expected_it_goes_on_without_stopping_and_knows_what_the_gait_did(
    small: tuple[Repertoire, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    alarms = iter([None] * 30 + ["a false alarm"])
    monkeypatch.setattr(Monitor, "watch", lambda *_: next(alarms, None))
    monkeypatch.setattr(Monitor, "highest", 0.0)
    repertoire, table = small
    settings = {"rehearsal": table, "selector": "rehearsed", "refinement": 0, "seed": 1}
    mission = surefoot.Mission(repertoire, seconds=9.0, **settings)
    calls = note_calls(mission)
    events = list(mission)
    assert [event.kind for event in events if event.kind in ("alarm", "trial", "stumble", "thought")] == [
        "alarm",
        "trial",
        "stumble",
    ]
    (trial,) = (event for event in events if event.kind == "trial")
    tried = next(
        i for i, call in enumerate(calls) if call.name == "drive" and call.clock == pytest.approx(trial.time)
    )
    assert (calls[tried].abrupt, calls[tried + 1].name) == (True, "drive")
    seen = [(way.row, seconds) for way, _, seconds in mission._outcomes._residuals]
    assert (trial.facts["row"], trial.facts["seconds"]) in seen


def test_a_repair_is_believed_at_once_and_the_second_time_looked_into(
    small: tuple[Repertoire, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = answer(monkeypatch, Lost("left_front"), Lost("left_front"), Combination())
    changes = ["left_front:lost@2", "repaired@10", "left_front:lost@13", "repaired@33"]
    events, mission = walk(small, changes=changes, seconds=44.0)

    def after(time: float) -> list[str]:
        kinds = [event.kind for event in events if event.time > time]
        return [kind for kind in kinds if kind in ("alarm", "stumble", "trial", "thought")]

    noticed = [event for event in events if "a motor works" in event.words]
    assert [event.time < at + 2 for event, at in zip(noticed, (10, 33), strict=True)] == [True, True]
    assert after(10)[:2] == ["alarm", "thought"]
    assert after(33)[:3] == ["alarm", "trial", "thought"]
    assert trials == [1, 0, 1, 1], "at a repair it forgets what trials told"
    assert not mission._knowledge.damaged
    assert not mission._knowledge.searches.due(1.0)


def test_a_repair_in_the_middle_of_a_trial_is_believed_at_once(
    small: tuple[Repertoire, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, drive = answer(monkeypatch, Lost("left_front")), Mission._drive

    def driven(mission: Mission, kind: str, *arguments: Any) -> tuple[Stretch, str | None]:
        found = drive(mission, kind, *arguments)
        if kind == "trial" and mission._knowledge.damaged:
            mission._monitor._works = True
        return found

    monkeypatch.setattr(Mission, "_drive", driven)
    monkeypatch.setattr(Surprises, "walks_on", lambda *_, **__: False)
    events, _ = walk(small, changes=["left_front:lost@2", "right_rear:lost@12"], seconds=45.0)
    words = [event.words for event in events if event.kind == "thought"]
    assert words[1] == "It believes that it is whole again."
    assert trials[:4] == [1, 0, 1, 1], "it forgets what trials told, also where it does not believe it again"


def test_a_healthy_robot_raises_no_alarm_and_steers(small: tuple[Repertoire, Table]) -> None:
    events, mission = walk(small, goals=["1.5,0.8", "0.5,1.5"], seconds=90.0)
    assert mission.result.reached == 2
    assert not {"alarm", "trial", "thought"} & {event.kind for event in events}
    walks = [event for event in events if event.kind == "walk"]
    assert walks[-1].facts["path"]
    assert events[-1].time < 60


def test_what_breaks_at_once_is_told_in_the_log(small: tuple[Repertoire, Table]) -> None:
    events, _ = walk(small, changes=["left_front:lost@0"], seconds=0.2)
    assert next(event.time for event in events if event.kind == "change") == 0.0


def test_a_goal_that_is_reached_as_it_notices_something_ends_the_mission(
    small: tuple[Repertoire, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    repertoire, table = small
    mission = surefoot.Mission(
        repertoire, goals=[(1.0, 0.0)], seconds=20.0, rehearsal=table, selector="rehearsed"
    )
    near = lambda: mission._world.pose.distance((1.0, 0.0)) <= 0.25  # noqa: E731
    monkeypatch.setattr(mission._monitor, "watch", lambda *_: "something" if near() else None)
    kinds = [event.kind for event in mission]
    assert kinds[-3:] == ["alarm", "goal", "end"]
    assert mission.result.trials == 0


def test_time_runs_out(small: tuple[Repertoire, Table]) -> None:
    events, mission = walk(small, seconds=3.0)
    assert events[-1].time == pytest.approx(3.0)
    assert mission.result.distance > 0.5
    assert "walked" in mission.result.words


def test_the_monitor_knows_a_healthy_gait_from_a_damaged_robot(small: tuple[Repertoire, Table]) -> None:
    repertoire, _ = small
    twin = Twin(Thinking(repertoire, None, 10))
    row = int(np.argmax(repertoire.elites.objectives))
    alarms = {}
    for name, damage in (("healthy", Combination()), ("lost", Lost("left_middle"))):
        monitor = Monitor(twin, repertoire.robot)
        monitor.begin(Combination(), row)
        (trace,) = twin.run([Run(damage, row, 77)], traced=True).traces
        found = [monitor.watch(trace, made) for made in range(1, len(trace) + 1)]
        alarms[name] = next(
            (n * repertoire.robot.control_step for n, alarm in enumerate(found, 1) if alarm), None
        )
    assert alarms["healthy"] is None
    assert alarms["lost"] <= 3.0
    assert monitor.highest >= monitor.sums.max() >= THRESHOLD
    monitor.calm()
    assert not monitor.sums.any()
    assert monitor.highest == 0


def test_the_monitor_notices_a_slippery_floor_by_the_course_where_it_can(
    small: tuple[Repertoire, Table],
) -> None:
    repertoire, _ = small
    row, slippery = (
        int(np.argmax(repertoire.elites.objectives)),
        parse_damage("floor:friction@0.4", repertoire.robot),
    )
    blind = tuple(name for name in SENSORS if name != "odometry")
    found = []
    for believed, sensors in (
        (Combination(), SENSORS),
        (Combination(), blind),
        (Dead("left_front"), SENSORS),
    ):
        twin = Twin(Thinking(repertoire, None, 10, sensors=sensors))
        monitor = Monitor(twin, repertoire.robot)
        monitor.begin(believed, row)
        (trace,) = twin.run([Run(slippery, row, 77)], traced=True).traces
        said = {monitor.watch(trace, made) for made in range(1, len(trace) + 1)}
        found.append("the robot gets elsewhere than usual" in said)
    assert found == [True, False, False]


@pytest.mark.parametrize("damage", ["left_front:lost", "left_front:dead"])
def test_the_monitor_notices_at_once_that_a_motor_works_again(
    small: tuple[Repertoire, Table], damage: str
) -> None:
    repertoire, _ = small
    robot, twin = repertoire.robot, Twin(Thinking(repertoire, None, 10))
    believed, row = parse_damage(damage, robot), int(np.argmax(repertoire.elites.objectives))
    monitor, first = Monitor(twin, robot), round(1.5 / robot.control_step)
    repaired, still = twin.run([Run(Combination(), row, 77), Run(believed, row, 77)], traced=True).traces
    words = "a motor works that should give no torque"
    monitor.begin(believed, row)
    assert not any(monitor.watch(still, made) == words for made in range(1, len(still) + 1))
    monitor.calm()
    assert not any(monitor.watch(repaired, made) for made in range(1, first))
    assert monitor.watch(repaired, first) == words
    assert monitor.highest == THRESHOLD
    monitor.calm()
    monitor.trust(believed, row)  # of another alarm
    assert monitor.watch(repaired, first) == words
    assert monitor.works
    monitor.trust(believed, row)  # it believes so all the same
    monitor.calm()
    assert monitor.watch(repaired, first) != words
    monitor.begin(Lost("right_rear"), row)
    monitor.begin(believed, row)
    assert monitor.watch(repaired, first) == words


def test_the_monitor_takes_noise_or_a_jammed_motor_for_no_repair(small: tuple[Repertoire, Table]) -> None:
    repertoire, _ = small
    robot, twin = repertoire.robot, Twin(Thinking(repertoire, None, 10))
    row, at = int(np.argmax(repertoire.elites.objectives)), TraceColumns.of(robot)
    monitor, joint = Monitor(twin, robot), robot.description.joints[0]
    for text, torque, expected in (
        ("left_front:dead", 0.02, False),  # [N m] that a sensor tells
        ("left_front:dead", 2.0, True),
        ("all:dead", 0.02, False),
        (f"joint={joint}:locked", 2.0, False),  # its motor pushes
    ):
        believed = parse_damage(text, robot)
        (trace,) = twin.run([Run(believed, row, 77)], traced=True).traces
        (single,), parts = believed.singles, twin.parts
        broken = parts.joints(parts.find(single.target))
        trace[:, [at.torque + robot.description.joints.index(name) for name in broken]] = torque
        monitor.calm()
        monitor.begin(believed, row)
        for made in range(1, round(1.5 / robot.control_step) + 1):
            monitor.watch(trace, made)
        assert monitor.works is expected, text


def test_the_monitor_takes_no_robot_that_differs_from_its_model_for_a_damaged_one(
    small: tuple[Repertoire, Table],
) -> None:
    repertoire, _ = small
    twin = Twin(Thinking(repertoire, None, 10))
    monitor, row = Monitor(twin, repertoire.robot), int(np.argmax(repertoire.elites.objectives))
    monitor.begin(Combination(), row)
    bodies = [randomised(repertoire.robot, seed) for seed in range(100, 106)]
    walked = ALL_CORES.run(
        ModelBatch(*bodies),
        twin.solutions([row] * 6),
        np.arange(6),
        models=np.arange(6),
        request=Request(traces=True),
    )
    for trace in walked.traces:
        assert not any(monitor.watch(trace, made) for made in range(1, len(trace) + 1))
        monitor.calm()


def test_the_monitor_reads_errors_of_servos_and_progress_off_a_window(
    small: tuple[Repertoire, Table],
) -> None:
    robot = small[0].robot
    monitor = Monitor(Twin(Thinking(small[0], None, 10)), robot)
    at, joints = TraceColumns.of(robot), robot.action_dim
    window = np.zeros((5, at.end), np.float32)
    window[:, at.angle : at.torque] = 0.5  # of the way from the middle of its range to the end
    window[:, at.attitude + 2] = np.pi / 2
    window[-1, at.position + 1] = 0.3  # to the left in the trace is ahead of the robot
    features = monitor._features(window)
    low, high = robot.joint_ranges.T
    targets = Motors.of(robot.physics, robot.description.joints).targets(0.0)
    assert features[:joints] == pytest.approx(low + 0.75 * (high - low) - targets, abs=1e-6)
    assert features[4 * joints + 4 : 4 * joints + 7] == pytest.approx([0.3, 0.0, 0.0], abs=1e-6)


def test_the_monitor_notices_an_encoder_that_stands_still(small: tuple[Repertoire, Table]) -> None:
    repertoire, _ = small
    robot, twin = repertoire.robot, Twin(Thinking(repertoire, None, 10))
    row, at = int(np.argmax(repertoire.elites.objectives)), TraceColumns.of(robot)
    monitor, second = Monitor(twin, robot), round(1 / robot.control_step)
    monitor.begin(Combination(), row)
    (walked,) = twin.run([Run(Combination(), row, 77)], traced=True).traces
    for joint in [name for name in robot.description.joints if name.endswith("coxa")]:
        trace, column = walked.copy(), at.angle + robot.description.joints.index(joint)
        trace[2 * second :, column] = trace[2 * second, column]
        monitor.calm()
        noticed = next(made for made in range(1, len(trace) + 1) if monitor.watch(trace, made))
        assert 2 * second < noticed <= 4 * second, joint


@pytest.mark.parametrize(
    ("ahead", "aside", "turned", "course"),
    [(-2, 0, 0, 2), (2, 0, 0, 0), (0, 3, 0, 0), (2, 0, -3, 3), (-3, 3, 4, 5)],
)
def test_a_course_is_unusual_by_what_is_lacking_ahead_and_by_the_turn(
    small: tuple[Repertoire, Table], ahead: float, aside: float, turned: float, course: float
) -> None:
    monitor = Monitor(Twin(Thinking(small[0], None, 10)), small[0].robot)
    monitor.begin(Combination(), 0)
    usual, features = monitor._usual, monitor._usual.mean.copy()
    moved = slice(4 * small[0].robot.action_dim + 4, 4 * small[0].robot.action_dim + 7)
    features[moved] += usual.scale[moved] * (ahead, aside, turned)
    mean, joint, size = monitor._statistics(features, usual)
    assert mean == pytest.approx((abs(ahead) + aside + abs(turned)) / len(features))
    assert (joint, size) == (0, pytest.approx(course / np.sqrt(2)))


def test_twice_as_much_variety_is_expected_of_a_gait_whose_alarm_was_false(
    small: tuple[Repertoire, Table],
) -> None:
    monitor = Monitor(Twin(Thinking(small[0], None, 10)), small[0].robot)
    monitor.begin(Combination(), 0)
    means, deviations = monitor._usual.levels
    monitor.trust(Combination(), 0)
    monitor.begin(Combination(), 0)
    assert monitor._usual.levels.tolist() == [means.tolist(), (2 * deviations).tolist()]


def test_stretches_correct_what_gaits_like_theirs_are_expected_to_do(small: tuple[Repertoire, Table]) -> None:
    repertoire, _ = small
    twin, measures = Twin(Thinking(repertoire, None, 10)), repertoire.gaits.measures
    outcomes = Outcomes(twin, measures)
    outcomes.simulate([0, 1, 2])
    ways = [Way(0), Way(1), Way(2)]
    before, falls = outcomes.predicted(ways)
    assert np.isinf(falls).all()
    assert before[:, -1, 0] == pytest.approx(repertoire.elites.objectives[:3], abs=0.4)
    slow = Pose(float(before[0, 3, 0]) - 0.4, float(before[0, 3, 1]), float(before[0, 3, 2]))
    for _ in range(3):
        outcomes.observe(Way(0), slow, 4 * outcomes.every, going=False)
    after, _ = outcomes.predicted(ways)
    assert after[0, 3, 0] == pytest.approx(slow.x, abs=0.06)
    assert (after[1:, 3, 0] < before[1:, 3, 0] - 0.1).all()
    assert after[:, :, 1:] == pytest.approx(before[:, :, 1:], abs=1e-6)
    continued, _ = outcomes.predicted([Way(0)], going=0)
    first, last = (Pose(*before[0, sample]) for sample in (1, 5))
    corrected = continued[0, 3] - (after[0, 3] - before[0, 3])
    assert corrected == pytest.approx(last.seen_from(first), abs=1e-6)
    outcomes.believe(Lost("left_front"))
    assert outcomes.rows == []


def test_the_shorter_a_stretch_the_less_it_tells(small: tuple[Repertoire, Table]) -> None:
    repertoire, _ = small
    corrections = []
    for places in (1, 4, 10):
        outcomes = Outcomes(Twin(Thinking(repertoire, None, 10)), repertoire.gaits.measures)
        outcomes.simulate([0])
        before = outcomes.predicted([Way(0)])[0][0]
        slow = Pose(float(before[places - 1, 0]) - 0.05 * places, *map(float, before[places - 1, 1:]))
        outcomes.observe(Way(0), slow, places * outcomes.every, going=False)
        corrections.append((outcomes.predicted([Way(0)])[0][0, 0, 0] - before[0, 0]) / -0.05)
    # one observation of variance s^2, where what the model is off by has 0.3^2: 1 / (1 + (s / 0.3)^2)
    assert corrections == pytest.approx([1 / (1 + (0.1 * 4 / n / 0.3) ** 2) for n in (1, 4, 10)], abs=1e-6)


@pytest.mark.parametrize("length", [74, 110])
def test_a_gait_that_does_what_is_expected_corrects_nothing(
    small: tuple[Repertoire, Table], length: int
) -> None:
    repertoire, _ = small
    outcomes = Outcomes(Twin(Thinking(repertoire, None, 10)), repertoire.gaits.measures)
    outcomes.simulate([0])
    path = np.vstack([np.zeros(3), outcomes.known[Way(0)][0]])
    x, y, yaw = (np.interp(length / outcomes.every, range(len(path)), column) for column in path.T)
    before, _ = outcomes.predicted([Way(0)])
    outcomes.observe(Way(0), Pose(x, y, yaw + 2 * np.pi), length, going=False)
    np.testing.assert_allclose(outcomes.predicted([Way(0)])[0], before, atol=1e-6)


def test_corrections_hold_as_long_as_the_belief_does(small: tuple[Repertoire, Table]) -> None:
    repertoire, _ = small
    outcomes = Outcomes(Twin(Thinking(repertoire, None, 10)), repertoire.gaits.measures)
    lost = Lost("left_front")
    outcomes.believe(lost)
    outcomes.simulate([0])
    before, _ = outcomes.predicted([Way(0)])
    outcomes.observe(Way(0), Pose(3.0), 100, going=False)
    outcomes.believe(lost)
    assert outcomes.predicted([Way(0)])[0][0, -1, 0] > before[0, -1, 0] + 0.5
    outcomes.forget()
    outcomes.simulate([0])
    np.testing.assert_array_equal(outcomes.predicted([Way(0)])[0], before)


def test_a_gait_on_its_way_falls_as_much_sooner_as_its_path_is_shorter(
    small: tuple[Repertoire, Table],
) -> None:
    outcomes = Outcomes(Twin(Thinking(small[0], None, 10)), small[0].gaits.measures)
    outcomes.simulate([0, 1])
    for row, fall in ((0, 150), (1, 30)):
        outcomes.healthy[Way(row)] = outcomes.healthy[Way(row)][0], fall
    ways = [Way(0), Way(1)]
    assert outcomes.predicted(ways)[1].tolist() == [150, 30]
    assert outcomes.predicted(ways, 0)[1].tolist() == [150 - 2 * outcomes.every, 30]
    assert outcomes.predicted(ways, 1)[1].tolist() == [150, 1]


@pytest.mark.parametrize("some", [small_hexapod, small_ant])
def test_a_rehearsal_counts_for_as_much_as_the_robot_walks_in_a_trial(some) -> None:
    repertoire, table = some()
    mission = surefoot.Mission(repertoire, rehearsal=table, selector="self-model")
    mission._knowledge.prepare()
    known = mission._knowledge.diagnosis
    assert known._table.objectives.min() == pytest.approx(known.thinking.objective.least), "a fall at once"
    if table.distances is not None:
        stood, share = table.falls == 0, known.trial_steps / repertoire.robot.description.episode_steps
        np.testing.assert_allclose(known._table.objectives[stood], share * table.distances[stood], atol=1e-3)


def test_the_command_writes_a_log_and_a_picture(small: tuple[Repertoire, Table], run, tmp_path: Path) -> None:
    file, log, plot = tmp_path / "gaits.h5", tmp_path / "log.jsonl", tmp_path / "path.png"
    write_repertoire(file, small[0])
    arguments = ["mission", file, "--goal", "1,0", "--seconds", 20, "--log", log, "--plot", plot]
    code, out, err = run(*arguments)
    assert code == 0, err
    assert "Reached the goal at 1,0" in out
    facts, events = read_log(log)
    assert (facts.robot, events[-1].kind) == ("hexapod", "end")
    assert plot.stat().st_size > 10_000
    code, _, err = run(*arguments)
    assert (code, "log.jsonl exists already: choose another --log, or" in err) == (2, True)
    with locked(log):
        code, _, err = run(*arguments, "--overwrite")
    assert (code, "log.jsonl is in use by process" in err) == (2, True)
    code, _, err = run("mission", file, "--robot", "tcp://127.0.0.1:6000", "--mcap", log)
    assert (code, "choose another --mcap" in err) == (2, True)


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.symlink_to("/dev/full")
    with pytest.raises(InvalidFileError, match="cannot be written: no space left on device"):
        _Log(log).add(Event(0.0, "start", "It sets off.", Pose()))


def test_a_mission_in_python_writes_a_log(small: tuple[Repertoire, Table], tmp_path: Path) -> None:
    log, clocks = tmp_path / "log.jsonl", []
    ways = {"episodes": np.int64(20), "refinement": 5, "seed": 3}
    mission = surefoot.Mission(
        small[0], seconds=1.0, log=log, on_step=lambda world: clocks.append(world.clock), **ways
    )
    assert not log.exists()
    events = list(mission)
    assert clocks[-1] == pytest.approx(1.0)
    asked, logged = read_log(log)
    assert (asked.seconds, asked.think_episodes, asked.refine, asked.seed) == (1.0, 20, 5, 3)
    assert [event.line() for event in logged] == [event.line() for event in events]


def test_a_film_shows_the_robot_and_its_way(small: tuple[Repertoire, Table], run, tmp_path: Path) -> None:
    file, video = tmp_path / "gaits.h5", tmp_path / "film.gif"
    write_repertoire(file, small[0])
    code, _, err = run("mission", file, "--seconds", 0.6, "--break", "left_front:lost@0.3", "--video", video)
    assert code == 0, err
    frames = imageio.imread(video)
    assert len(frames) in (12, 13)  # 20 a second
    robot, way = frames[-1][:360, :480], frames[-1][:360, 480:]
    assert robot.std() > 20
    blue = (way[:, :, 2].astype(int) - way[:, :, 0] > 80).sum()
    assert blue > 60
    assert abs(frames[0][:360, :480].astype(int) - robot).mean() > 1


def test_what_the_command_refuses(refused, tmp_path: Path) -> None:
    refused(
        [
            (["hexapod", "--break", "left_front:lost@200"], "does not happen during the mission"),
            (["hexapod", "--break", "left_front:lost@-1"], "does not happen during the mission"),
            (["hexapod", "--break", "left_front:lost"], "DAMAGE@SECONDS"),
            (["hexapod", "--goal", "5"], "X,Y in metres"),
            (["hexapod", "--goal", "5,1e9"], "at most 1000 m"),
            (["hexapod", "--selector", "fox"], "unknown selector 'fox'"),
            (["ant", "--rehearsal", repertoire_path("ant")], "rehearsal"),
            (["hexapod", "--plot", tmp_path / "no" / "x.png"], "no"),
        ],
        "mission",
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"selector": "map-bo"}, "map-bo does not find out what is wrong"),
        ({"selector": "oracle"}, "oracle does not find out what is wrong"),
        ({"cores": 0}, "cores must be a whole number of at least 1, not 0"),
        ({"cores": 1.5}, "cores must be a whole number of at least 1, not 1.5"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"seed": 1.5}, "seed must be a whole number of at least 0, not 1.5"),
    ],
)
def test_what_no_mission_can_be_is_refused_at_once(
    small: tuple[Repertoire, Table], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=message):
        surefoot.Mission(small[0], **settings)


def test_an_empty_repertoire_is_refused(small: tuple[Repertoire, Table]) -> None:
    nothing = replace(small[0], elites=small[0].elites.take(np.arange(0)))
    with pytest.raises(InvalidValueError, match="empty"):
        surefoot.Mission(nothing)


class PageHinkley:
    """The test of Page (1954) and Hinkley (1971) for a mean that rises, as `river` has it: the reference."""

    def __init__(self, delta: float, threshold: float) -> None:
        self.delta, self.threshold = delta, threshold
        self.count, self.mean, self.sum, self.least = 0, 0.0, 0.0, 0.0

    def rises(self, value: float) -> bool:
        self.count += 1
        self.mean += (value - self.mean) / self.count
        self.sum += value - self.mean - self.delta
        self.least = min(self.least, self.sum)
        return self.sum - self.least > self.threshold


def test_the_monitor_is_about_as_quick_as_page_and_hinkley(small: tuple[Repertoire, Table]) -> None:
    repertoire, _ = small
    twin, row = Twin(Thinking(repertoire, None, 10)), int(np.argmax(repertoire.elites.objectives))
    for damage in (Combination(), Lost("left_middle"), Lost("right_middle")):
        monitor, reference = Monitor(twin, repertoire.robot), PageHinkley(ALLOWANCE, THRESHOLD)
        monitor.begin(Combination(), row)
        mean, deviation = monitor._usual.levels
        assert not any(reference.rises(0.0) for _ in range(40))  # a healthy robot so far
        (trace,) = twin.run([Run(damage, row, 77)], traced=True).traces
        ours = theirs = np.inf
        for made in range(75, len(trace) + 1, 25):
            z = monitor._statistics(monitor._features(trace[made - 50 : made]), monitor._usual)
            if reference.rises(float(((z - mean) / deviation).max().clip(0, 10))):
                theirs = min(theirs, made)
            if monitor.watch(trace, made):
                ours = min(ours, made)
        healthy = not damage.singles
        assert np.isinf(ours) == np.isinf(theirs) == healthy
        assert healthy or abs(ours - theirs) <= 25  # a window

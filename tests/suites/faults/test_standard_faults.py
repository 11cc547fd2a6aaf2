"""Studies of faults: protocols, episodes in which something breaks and heals, and their tables."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest

from robots.controllers.foreign import POLICIES
from robots.deployment.deployment import open_film
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.files.records import validate
from robots.importing.policies import with_policy
from robots.pose import Pose
from robots.robot import Robot, load_robot
from suites.faults.protocol import Protocol, read_protocol
from suites.faults.report import FaultRecord, runs_table
from suites.faults.suite import FaultSuite, Walker, gait_walker, policy_walker, settled
from suites.study import Study, keep_identity, run_trial
from surefoot.commands.main import cli
from tests.adapt.self_model.small_minds import short_gaits
from tests.robots.controllers.test_policy import policy
from tests.suites.paper.made_results import row


def protocol_of(*faults: dict, seconds: float = 1.0) -> Protocol:
    return validate(Protocol, {"seconds": seconds, "faults": faults})


@pytest.mark.parametrize(("name", "legs"), [("quadruped", 4), ("hexapod", 6), ("walker", 2)])
def test_the_standard_protocol_suits_robots_of_any_number_of_legs(name: str, legs: int) -> None:
    robot, protocol = load_robot(name), read_protocol()
    cases = protocol.cases(robot)
    assert len(cases) == 1 + 11 * legs + 9
    assert len({case.name for case in cases}) == len(cases)
    if robot.moves_freely:
        assert all(case.changes(robot) for case in cases[1:])


def test_a_fault_that_comes_again_heals_in_between() -> None:
    robot = load_robot("hexapod")
    fault = {"kind": "weak", "part": "all", "strength": 0.4, "onset": 2.0, "duration": 0.5, "every": 3.0}
    _, case = protocol_of(fault, seconds=8.2).cases(robot)
    assert case.name == "all:weak@0.4 at 2 s for 0.5 s, 3 times"
    changes = [(change.time, bool(change.damage.singles)) for change in case.changes(robot)]
    assert changes == [(2, True), (2.5, False), (5, True), (5.5, False), (8, True)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "faults"),
        ("seconds: 0\nfaults: [{kind: dead, part: all}]", "seconds"),
        ("[{kind: dead, part: all, every: 2.0}]", "has a duration"),
        ("[{kind: dead, part: all, onset: .nan}]", "onset"),
        ("[{kind: weak, part: all, strength: [0.9, 0.5]}]", "two strengths"),
        ("[{kind: weak, part: all, strength: [0.9, 0.5], grows: 2, duration: 1}]", "longer duration"),
    ],
)
def test_protocols_that_cannot_be(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "p.yaml").write_text(content)
    with pytest.raises(InvalidFileError, match=said):
        read_protocol(tmp_path / "p.yaml")
    with pytest.raises(InvalidValueError, match="is over"):
        protocol_of({"kind": "dead", "part": "all", "onset": 1.0}).cases(load_robot("hexapod"))
    with pytest.raises(UnknownNameError, match="unknown kind of damage"):
        protocol_of({"kind": "eaten", "part": "all", "onset": 0.0}).cases(load_robot("hexapod"))


def test_a_gait_walks_less_far_while_its_motors_are_dead_and_its_table_says_so(tmp_path: Path) -> None:
    faults = protocol_of(
        {"kind": "dead", "part": "all", "onset": 0.5, "duration": 0.5},
        {"kind": "dead", "part": "all", "onset": 0.0},
        seconds=2.0,
    )
    suite = FaultSuite(walkers={"gait": gait_walker(short_gaits())}, protocol=faults, seeds=1)
    study = Study(suite, tmp_path)
    assert [trial.command for trial in study.trials] == 3 * ["ahead"]
    for trial in study.trials:
        run_trial(suite, tmp_path, trial, lambda _: None)
    found = study.all_results()
    intact, healed, dead = (one.made for one in found)
    assert found[0].power > 1.01 * found[1].power > 100 * found[2].power
    assert intact > 1.1 * healed > 1.1 * abs(dead)
    runs = runs_table(found)
    assert runs["of_intact"].tolist() == pytest.approx([100, 100 * healed / intact, 100 * dead / intact])
    csv, report, page = study.report(found)
    assert len(csv.read_text().splitlines()) == 4
    assert "[gait](gait.md)" in report.read_text()
    worst = page.read_text().split("## Worst episodes")[1]
    assert worst.index("all:dead at 0 s") < worst.index("all:dead at 0.5 s for 0.5 s")
    other = FaultSuite(
        walkers=suite.walkers, protocol=protocol_of({"kind": "dead", "part": "all", "onset": 0.0}), seeds=1
    )
    with pytest.raises(InvalidFileError, match="not of"):
        other.read(study.path_of(found[1]))
    keep_identity(tmp_path, suite.identity())
    standing = gait_walker(short_gaits())._replace(parameters=np.zeros_like(suite.walkers["gait"].parameters))
    renamed = FaultSuite(walkers={"gait": standing}, protocol=faults, seeds=1)
    with pytest.raises(InvalidValueError, match="another study"):
        Study(renamed, tmp_path)


def test_the_worst_episode_is_filmed_as_it_was_until_the_robot_fell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gait, shown, filmed, film = gait_walker(short_gaits()), list[Any](), {}, FaultSuite.film

    @contextmanager
    def noting(path: Path, robot: Robot) -> Iterator[Callable[..., None]]:
        with open_film(path, robot) as add:
            yield lambda *given: (shown.append(given), add(*given))

    monkeypatch.setattr("suites.faults.suite.open_film", noting)
    monkeypatch.setattr(FaultSuite, "film", lambda *of: filmed.setdefault(of[2], film(*of)))
    faults = protocol_of(
        {"kind": "friction", "part": "floor", "strength": 0.9, "onset": 0.1},
        {"kind": "payload", "part": "torso", "strength": 100.0, "onset": 0.1},
    )
    walkers = {"gait": gait, "recovers": gait._replace(repertoire=short_gaits())}
    suite = FaultSuite(walkers=walkers, protocol=faults, seeds=1, films=True)
    ran = [suite.run(one, tmp_path, lambda _: None) for one in suite.plan() if one.method == "gait"]
    recovered = [one.model_copy(update={"method": "recovers"}) for one in ran]
    *_, page, video, other = suite.report([*ran, *recovered], tmp_path)
    _, friction, payload = ran
    assert payload.fell_after
    assert payload.made < friction.made
    assert filmed == {video: payload}  # to the last bit, while it is looked at
    assert "[gait-worst.mp4](gait-worst.mp4)" in page.read_text()
    assert "film" not in other.read_text()
    steps, rest = round(payload.fell_after / gait.robot.control_step), round(1 / gait.robot.control_step)
    assert imageio_ffmpeg.count_frames_and_secs(video)[0] == (steps + rest) // 3
    words = [f"told to walk ahead, now\u00a0{wrong}" for wrong in ("healthy", "torso:payload@100")]
    assert [caption for _, caption, *_ in shown] == [words[number >= 5] for number in range(steps + rest)]
    assert [moment.fell for *_, moment in shown] == steps * [False] + rest * [True]
    assert shown[-1][-1].time == payload.fell_after
    assert shown[-1][-1].ahead == pytest.approx(payload.made, abs=1e-3)


def test_what_recovers_walks_on_from_the_onset_with_the_gait_that_was_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repertoire, asked = short_gaits(), []
    gait = gait_walker(repertoire)

    def found(*given, **_) -> SimpleNamespace:
        asked.append(given)
        stands = SimpleNamespace(row=len(repertoire), solution=np.zeros_like(gait.parameters))
        return SimpleNamespace(refined=[stands], row=stands.row, incumbent=0, trials=5 * [None], falls=2)

    monkeypatch.setattr("suites.faults.suite.recover", found)
    faults = protocol_of(
        {"kind": "weak", "part": "left_front", "strength": [0.9, 0.8], "grows": 1.0, "onset": 2.0},
        {"kind": "dead", "part": "all", "onset": 2.0, "duration": 0.5},
        seconds=5.0,
    )
    walkers = {"gait": gait, "recovers": Walker(*gait[:3], repertoire, None, 5)}
    suite = FaultSuite(walkers=walkers, protocol=faults, seeds=1)
    plan = {(trial.method, trial.fault.name): trial for trial in suite.plan()}
    assert len(plan) == 3 + 2  # nothing recovers from what heals
    old, new = (suite.run(one, Path(), lambda _: None) for (_, name), one in plan.items() if "weak" in name)
    assert [(str(damage), request.trials) for _, damage, request in asked] == [("left_front:weak@0.8", 5)]
    assert (old.trials, new.trials, new.trial_falls) == (None, 5, 2)
    assert 0.2 * old.made < new.made < 0.6 * old.made
    assert old.settled is not None
    assert new.settled is None  # of one that stands in the end


def test_the_time_until_a_robot_is_about_as_fast_as_in_the_end() -> None:
    speeds = np.repeat([1.0, 0.2, 0.8, 0.75, 0.8], [100, 100, 100, 100, 200])  # of 100 control steps a second
    way = [Pose(0.0, y, np.pi / 2) for y in np.cumsum([0.0, *speeds]) / 100]
    # of means over a second, from the step on in which 0.2 is in it for less than an eighth
    assert settled(way, 100, 0.01) == pytest.approx(1 - 0.08 / 0.6, abs=0.02)
    assert settled(way, 450, 0.01) is None
    assert settled(way[::-1], 100, 0.01) is None


def test_a_policy_is_told_to_walk_to_turn_and_to_stand(tmp_path: Path) -> None:
    (tmp_path / "policy.onnx").write_bytes(policy(48))
    robot = with_policy(load_robot("quadruped"), tmp_path / "policy.onnx")
    faults = protocol_of({"kind": "delay", "part": "all", "onset": 0.1}, seconds=0.4)
    suite = FaultSuite(walkers={"policy": policy_walker(robot)}, protocol=faults, seeds=1)
    found = {}
    for trial in suite.plan():
        if trial.fault.stages:
            found[trial.command] = suite.run(trial, tmp_path, lambda _: None)
    asked = {command: one.asked for command, one in found.items()}
    assert asked == pytest.approx({"ahead": 0.4, "turn": 0.6 * 0.4, "stand": 0.4, "path": 0.4})
    assert found["stand"].made in (0.0, pytest.approx(found["stand"].fell_after or 0.4))


def test_the_table_of_policies_has_the_worst_tenth(tmp_path: Path) -> None:
    walkers = {"one": gait_walker(short_gaits())}
    suite = FaultSuite(walkers=walkers, protocol=protocol_of({"kind": "dead", "part": "all", "onset": 0.0}))
    known = {"method": "one", "seed": 1, "command": "ahead"}
    results = [
        FaultRecord(**known, case="ahead-000", number=0, damage="intact", made=2.0, asked=4.0, power=5.0)
    ]
    results += [
        FaultRecord(
            **known, case="ahead-001", number=n, damage="all:dead at 2 s", made=0.1 * n, asked=4.0, power=n
        )
        for n in range(20)
    ]
    _, report, _ = suite.report(results, tmp_path)
    cells = row(report.read_text(), "one")
    assert (cells[1], cells[3][:6], cells[7], cells[-1]) == ("20", "47.5 (", "9.5", "2.5")


def test_a_fault_that_grows_does_so_in_steps_and_heals_at_once() -> None:
    robot = load_robot("hexapod")
    fault = {
        "kind": "weak",
        "part": "all",
        "strength": [0.9, 0.5],
        "grows": 2.0,
        "onset": 1.0,
        "duration": 3.0,
    }
    _, case = protocol_of(fault, seconds=8.0).cases(robot)
    assert case.name == "all:weak@0.9 at 1 s, growing to 0.5 within 2 s for 3 s"
    times, texts = zip(*case.stages, strict=True)
    assert times == pytest.approx([*np.linspace(1.0, 3.0, 21), 4.0])
    assert (texts[0], texts[10], *texts[-2:]) == ("all:weak@0.9", "all:weak@0.7", "all:weak@0.5", "healthy")


def test_on_a_path_a_robot_is_told_to_turn_to_both_sides_and_back() -> None:
    told: list[float] = []

    def stands(observations: np.ndarray) -> np.ndarray:
        told.append(float(observations[0, 47]))
        return np.zeros((1, 12))

    robot = with_policy(load_robot("quadruped"), stands)
    suite = FaultSuite(
        walkers={"policy": policy_walker(robot)},
        protocol=protocol_of({"kind": "delay", "part": "all", "onset": 3.9}, seconds=4.0),
    )
    intact = next(trial for trial in suite.plan() if trial.command == "path")
    told.clear()
    found = suite.run(intact, Path(), lambda _: None)
    quarters = np.array(told[-round(4.0 / robot.control_step) :]).reshape(4, -1)[:, -10:].mean(axis=1)
    assert quarters == pytest.approx([0.0, 0.7, -0.7, 0.0], abs=0.1)
    assert abs(found.made) < 0.3
    assert found.asked == 4.0
    assert 0 <= found.power < 20


def test_the_command_plans_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "policy.onnx").write_bytes(policy(48))
    file, out = str(tmp_path / "policy.onnx"), ["--out", str(tmp_path / "study"), "--dry-run"]
    with pytest.raises(SystemExit) as ended:
        cli(["suite", "faults", file, "--robot", "quadruped", "--seeds", "1", *out])
    assert ended.value.code == 0
    assert "216 trials, 216 of them" in capsys.readouterr().out
    POLICIES["still"] = lambda seen: np.zeros((len(seen), 18))  # as a plugin does
    compared = ["still", "hexapod", "--robot", "hexapod", "--recover", "5", "--seeds", "1"]
    cli(["suite", "faults", *compared, *out], standalone_mode=False)
    POLICIES.pop("still")
    assert "436 trials" in capsys.readouterr().out
    for given, said in (
        ([file], "name its robot"),
        ([file, file, "--robot", "quadruped"], "different names"),
        ([file, "hexapod", "--robot", "quadruped"], "one robot"),
    ):
        with pytest.raises(InvalidValueError, match=said):
            cli(["suite", "faults", *given, *out], standalone_mode=False)

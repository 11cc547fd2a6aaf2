"""`surefoot recover` with a choice of selector, as a user types it."""

import json
import shlex
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adapt.confirmation import ConfirmationSettings
from adapt.damage.text import parse_damage
from adapt.records import Trial, diagnosis_words
from adapt.recovery import recover
from adapt.rehearsal.rehearsal import quick_rehearsal
from adapt.requests import RecoveryRequest
from repertoire.archives.archive import Elites
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from robots.files.locks import locked
from robots.simulation.threads import Threads
from surefoot import progress
from tests.adapt.rehearsal.small import save_rehearsal, small_repertoire

CONDITIONS = ["healthy", "front_left:lost", "back_right:dead"]


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A small repertoire."""
    write_repertoire(tmp_path / "gaits.h5", small_repertoire())
    return tmp_path / "gaits.h5"


@pytest.fixture
def file(alone: Path) -> Path:
    """A small repertoire with its rehearsal next to it."""
    save_rehearsal(RunFiles(alone).rehearsal, read_repertoire(alone), CONDITIONS, episodes=2)
    return alone


def broken(file: Path) -> list[object]:
    return ["recover", file, "--damage", "front_left:lost", "--threads", 1]


def again(file: Path) -> list[object]:
    return [*broken(file), "--overwrite"]


def record(file: Path) -> dict:
    return json.loads(file.with_name("recovery.json").read_text())


def test_a_rehearsal_beside_the_repertoire_is_used(run, file: Path) -> None:
    code, out, err = run(*broken(file), "--trials", 3, "--selector", "rehearsed")
    assert (code, err) == (0, "")
    assert out.startswith(
        f"selector: rehearsed, with 3 conditions of {RunFiles(file).rehearsal} trial 1 cell "
    )
    found = record(file)
    assert found["selector"] == "rehearsed"
    for trial in found["trials"]:
        words = diagnosis_words(trial["diagnosis"].items())
        assert words
        went = f"expected {trial['predicted']:.2f} m went {trial['distance']:.2f} m "
        assert f"{went}{'fell ' * trial['fell']}{words}" in out
    assert f"stopped after {len(found['trials'])} trial" in out


def test_an_interrupt_ends_the_search_with_what_is_confirmed(run, file: Path, monkeypatch) -> None:
    def interrupting(trial: Trial, **_: str) -> None:
        if trial.number == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("surefoot.commands.recover.print_trial", interrupting)
    code, out, _ = run(*broken(file), "--think-episodes", 30, "--refine", 60)
    assert code == 0
    assert "Stopping with the best gait so far (interrupt again to stop at once)." in out
    assert "stopped after 2 trials" in out
    found = record(file)
    assert (found["stop"], len(found["trials"])) == ("it was interrupted", 2)
    assert found["row"] == found["incumbent"], "nothing was confirmed yet"


def test_a_robot_that_nothing_helps_is_told_so(run, file: Path, monkeypatch) -> None:
    monkeypatch.setattr("adapt.confirmation.CONFIRMATION", ConfirmationSettings(hopeless=3))
    monkeypatch.setattr("adapt.objective.LIMPING", 100.0)
    monkeypatch.setattr("surefoot.commands.recover.LIMPING", 100.0)
    code, out, err = run(*broken(file), "--selector", "best-first", "--trials", 20)
    assert (code, err) == (0, "")
    assert "stopped after 3 trials" in out
    assert "none of the 3 gaits that were tried got anywhere" in out
    assert "nothing that was tried walks; what may help: surefoot rehearse and surefoot strengthen" in out


def test_the_user_chooses_selector_and_rehearsal(run, file: Path) -> None:
    elsewhere = file.with_name("elsewhere.h5")
    code, out, _ = run(*broken(file), "--selector", "best-first", "--trials", 2)
    assert (code, record(file)["selector"]) == (0, "best-first")
    assert out.startswith("selector: best-first trial 1 cell ")
    RunFiles(file).rehearsal.rename(elsewhere)
    rehearsed = ("--trials", 2, "--selector", "rehearsed")
    assert run(*again(file), *rehearsed, "--rehearsal", elsewhere)[0] == 0
    assert record(file)["selector"] == "rehearsed"


def test_bad_input_ends_in_one_sentence_and_leaves_nothing(run, file: Path) -> None:
    folder = file.parent
    repertoire = read_repertoire(file)
    fewer = Elites(*(column[:-1] for column in vars(repertoire.elites).values()))
    write_repertoire(folder / "other.h5", replace(repertoire, elites=fewer))
    (folder / "copy").mkdir()
    (folder / "copy" / "gaits.h5").write_bytes(file.read_bytes())
    nothing = Elites(*(column[:0] for column in vars(repertoire.elites).values()))
    cells = np.prod(repertoire.grid)
    write_repertoire(folder / "empty.h5", replace(repertoire, elites=nothing, thresholds=np.zeros(cells)))
    before = sorted(folder.rglob("*"))
    table = RunFiles(file).rehearsal
    there, alone = [file, "--out", folder / "new"], [folder / "copy" / "gaits.h5", "--out", folder / "new"]
    cases = [
        ([*there, "--selector", "magic"], "unknown selector 'magic'; available: best-first, gp-ucb, map-bo"),
        (
            [*alone, "--selector", "rehearsed", "--no-rehearsal"],
            "the rehearsed selector needs a rehearsal of the repertoire",
        ),
        ([*there, "--rehearsal", table, "--no-rehearsal"], "--no-rehearsal cannot go together"),
        (
            [*there, "--selector", "map-bo", "--rehearsal", table],
            "map-bo selector makes no use of a rehearsal",
        ),
        ([folder / "other.h5", "--rehearsal", table], "it is the rehearsal of another repertoire"),
        ([*there, "--rehearsal", file], "it is no rehearsal file"),
        ([folder / "empty.h5"], "the repertoire is empty"),
    ]
    for arguments, message in cases:
        code, out, err = run("recover", *arguments, "--damage", "front_left:lost")
        assert (code, out, message in err) == (2, "", True), f"{arguments}: exit {code}, {out!r}, {err!r}"
        assert err.count("\n") == 1, f"{arguments}: more than one line: {err!r}"
    assert sorted(folder.rglob("*")) == before


def test_what_a_folder_holds_is_replaced_only_if_told_so(run, alone: Path) -> None:
    picture = alone.with_name("recovery.png")
    picture.write_bytes(b"mine")
    options = ("--selector", "best-first", "--trials", 1)
    code, out, err = run(*broken(alone), *options)
    assert (code, out) == (2, "")
    assert "recovery.png exists already: choose another --out, or use --overwrite" in err
    assert picture.read_bytes() == b"mine"
    assert not alone.with_name("recovery.json").exists()
    assert run(*again(alone), *options)[0] == 0
    before = record(alone)
    code, _, err = run(*broken(alone), *options, "--seed", 2)
    assert (code, record(alone)) == (2, before)
    assert "recovery.json exists already" in err
    assert run(*broken(alone), *options, "--out", alone.parent / "other")[0] == 0


def test_what_takes_time_is_told(alone: Path) -> None:
    told: list[tuple[str, float]] = []
    repertoire = read_repertoire(alone)
    recover(
        repertoire,
        parse_damage("front_left:lost", repertoire.robot),
        RecoveryRequest(trials=1, objective="reward", oracle=True, think_episodes=40, refine=0),
        backend=Threads(1),
        on_progress=lambda what, share: told.append((what, share)),
    )
    for what in ("trying every gait", "thinking"):
        shares = [share for phase, share in told if phase == what]
        assert shares == sorted(shares)
        assert shares[-1] == 1
        assert 0 < shares[0] < 1


def test_a_bar_lasts_as_long_as_its_phase(monkeypatch) -> None:
    opened: list[str] = []

    class Bar:
        def __init__(self, phase: str, **_: object) -> None:
            self.phase, self.shares = phase, []

        def __enter__(self) -> "Bar":
            opened.append(self.phase)
            return self

        def __exit__(self, *_: object) -> None:
            opened.append(f"{self.phase} until {self.shares[-1]}")

        def __call__(self, share: float) -> None:
            self.shares.append(share)

    monkeypatch.setattr(progress, "ProgressBar", Bar)
    with progress.phase_bars() as show:
        for phase, share in (("a", 0.1), ("a", 0.5), ("b", 0.2), ("b", 1.0), ("b", 1.0), ("b", 0.3)):
            show(phase, share)
    assert opened == ["a", "a until 0.5", "b", "b until 0.2", "b", "b until 0.3"]


def test_one_process_at_a_time_recovers_into_a_folder(run, file: Path) -> None:
    with locked(file.with_name("recovery.json")):
        code, out, err = run(*broken(file), "--trials", 3)
    assert (code, out) == (2, "")
    assert "recovery.json is in use by process" in err
    assert not file.with_name("recovery.json").exists()


def test_a_self_model_thinks_between_trials_and_tells_what_it_found(run, file: Path) -> None:
    options = ("--selector", "self-model", "--think-episodes", 40, "--sensors", "encoders,imu", "--trials", 2)
    code, out, err = run(*broken(file), *options, "--confirmations", 0, "--refine", 0)
    assert (code, err) == (0, "")
    assert record(file)["refined"] == []
    assert out.startswith(
        f"selector: self-model, with 3 conditions of {RunFiles(file).rehearsal} trial 1 cell "
    )
    first = record(file)["trials"][0]
    assert first["thought"]["episodes"] >= 40
    assert f"(explains {first['thought']['explained']:.0%}, thought " in out


def test_the_folder_holds_the_gaits_and_the_last_line_plays_the_one_handed_over(run, file: Path) -> None:
    options = ("--think-episodes", 60, "--refine", 150, "--trials", 3, "--confirmations", 0)
    code, out, err = run(*broken(file), *options, "--out", file.parent / "my gaits")
    assert (code, err) == (0, "")
    told = json.loads((file.parent / "my gaits" / "recovery.json").read_text())
    assert told["objective"] == "progress"
    assert told["refined"], "what the trial showed is explained, so gaits are refined"
    kept = file.parent / "my gaits" / "recovery.h5"
    line = f"surefoot deploy '{kept}' --row {told['row']} --damage front_left:lost"
    assert out.rstrip().endswith(f"see its gait: {line}")
    code, out, err = run(*shlex.split(line)[1:], "--seconds", 1)
    assert (code, err) == (0, "")
    found = read_repertoire(kept)
    assert len(found) == len(read_repertoire(file)) + len(told["refined"])
    assert [list(texts) for texts in found.specialists.damages] == [
        gait["believed"] for gait in told["refined"]
    ]
    code, _, err = run(*broken(file), "--out", file.parent / "my gaits")
    assert code == 2
    assert "recovery.json exists already: choose another --out, or use --overwrite" in err


def test_without_a_rehearsal_each_leg_is_rehearsed_dead_and_lost_first(run, alone: Path, monkeypatch) -> None:
    rehearsed: list[tuple[str, ...]] = []

    def watched(*arguments, **settings):
        table = quick_rehearsal(*arguments, **settings)
        rehearsed.append(table.conditions)
        return table

    monkeypatch.setattr("adapt.recovery.quick_rehearsal", watched)
    short = ("--trials", 1, "--refine", 0, "--think-episodes", 20)
    code, out, err = run(*broken(alone), *short)
    assert (code, err) == (0, "")
    assert "without a rehearsal of other damage than dead and lost legs: surefoot rehearse would make" in out
    legs = ("front_left", "front_right", "back_left", "back_right")
    (conditions,) = rehearsed
    assert set(conditions) == {"healthy", *(f"{leg}:{kind}" for leg in legs for kind in ("dead", "lost"))}
    assert "front_left:lost" in record(alone)["trials"][0]["diagnosis"]
    code, out, _ = run(*again(alone), *short, "--no-rehearsal")
    assert (code, len(rehearsed)) == (0, 1)
    assert out.startswith("selector: self-model, without a rehearsal trial 1")
    assert run(*again(alone), "--trials", 1, "--selector", "rehearsed")[0] == 0
    assert run(*again(alone), "--trials", 1, "--selector", "map-bo")[0] == 0
    assert len(rehearsed) == 2, "a selector that makes no use of a rehearsal needs none"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--objective", "speed"), "'speed' is not one of"),
        (
            ("--refine", "9", "--selector", "map-bo-tuned"),
            "the map-bo-tuned selector does not think between trials",
        ),
        (("--think", "0"), "0.0 is not in the range: it must be above 0"),
        (("--sensors", "sonar"), "unknown sensor 'sonar'; available: encoders, currents, imu"),
    ],
)
def test_options_that_cannot_be(run, alone: Path, options: tuple[str, ...], message: str) -> None:
    code, _, err = run(*broken(alone), *options)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert not alone.with_name("recovery.json").exists()


def test_that_workers_differed_is_recorded(run, file: Path, monkeypatch) -> None:
    monkeypatch.setattr(Threads, "differences", {"workers": "numpy 0.1 instead of 2.3"})
    assert run(*broken(file), "--trials", 2, "--selector", "rehearsed")[0] == 0
    assert record(file)["workers"] == "numpy 0.1 instead of 2.3"

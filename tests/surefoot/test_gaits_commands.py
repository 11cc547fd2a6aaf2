"""`surefoot evaluate`, `rehearse`, `merge` and `calibrate` as a user types them."""

import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot
from adapt.rehearsal.storage import read_table
from repertoire.evaluation.merging import merge
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire
from robots.description import Randomization
from robots.files.locks import locked
from robots.randomization import read_randomization
from surefoot.shipped import best_known
from tests.adapt.rehearsal.small import STEPS
from tests.repertoire.conftest import SMALL
from tests.surefoot.conftest import names


def test_evaluate_reports_and_saves(run, works, work: Path) -> None:
    out = works("evaluate ant --episodes 2 --threads 1 --seed 9 --out c.h5")
    before, after = read_repertoire(Path("ant", FILE_NAME)), read_repertoire(Path("c.h5"))
    a, b = before.metrics, after.metrics
    assert f"elites {a.elites} {b.elites} {a.elites - b.elites} " in out
    assert f"QD score {a.qd_score:,.1f} {b.qd_score:,.1f} {a.qd_score - b.qd_score:,.1f} " in out
    assert after.spread.episodes == 2
    assert "means over 2 episodes, seed 9" in run("show c.h5")[1]
    works("deploy c.h5 --best --seconds 0.2")
    works("evaluate gaits.h5 --episodes 2 --keep 2 --out few.h5")
    assert len(read_repertoire(Path("few.h5"))) == 2


def test_the_best_gait_is_not_one_of_an_earlier_run(run, work: Path) -> None:
    file = work / "ant" / FILE_NAME
    assert run("evaluate ant --episodes 1 --threads 1")[0] == 0
    assert names(file.parent) == ["repertoire-corrected.h5", FILE_NAME]
    now = read_repertoire(file)
    assert best_known(file, now)[0].spread
    later = replace(now, settings=now.settings.model_copy(update={"seed": 99}))
    other = replace(now, elites=replace(now.elites, solutions=now.elites.solutions + 0.01))
    for changed in (later, other):
        assert best_known(file, changed)[0] is changed


def test_rehearse_reports_and_saves(run, works, work: Path) -> None:
    few = "rehearse gaits.h5 --damages few.yaml --threads 1"
    out = works(f"{few} --out other.h5 --randomization mass=0.8:1.2,models=2")
    assert "rehearsed on 2 models: mass 0.8 to 1.2" in out
    assert re.search(r"3 conditions x 5 gaits x 2 episodes = 30 episodes: about \d+ s on 1 thread", out)
    out = works(f"{few} --episodes 3")
    table = read_table(work / "gaits-rehearsal.h5", read_repertoire(work / "gaits.h5"))
    assert (table.conditions, table.episodes) == (("healthy", "front_left:lost", "back_right:dead"), 3)
    best = table.objectives.max(axis=1)
    for condition, value in zip(table.conditions[1:], best[1:], strict=True):
        assert f"{condition} {value:,.4g} {value / best[0]:.0%} " in out


def test_merged_files_are_like_any_other_but_cannot_be_resumed(run, works, work: Path) -> None:
    surefoot.train("ant", "sep-cma-mae", out="b", **SMALL | {"seed": 4})
    assert run("merge ant b --out both/repertoire.h5")[0] == 2, "there is no folder"
    Path("both").mkdir()
    out = works("merge ant b --out both/repertoire.h5")
    one, other, both = (read_repertoire(Path(name, FILE_NAME)) for name in ("ant", "b", "both"))
    expected = merge([one, other])
    np.testing.assert_array_equal(both.elites.solutions, expected.elites.solutions)
    assert f"{len(both)} gaits, best" in out
    assert "192 of 192" in run("show both --picture picture.png")[1]
    assert "has finished already" in run("train --resume both")[1]
    works("evaluate both --episodes 1")
    works("merge ant --archive 2,1,2,3 --out few.h5")
    assert read_repertoire(Path("few.h5")).grid == (2, 1, 2, 3)


def test_what_calibrate_finds_lies_next_to_the_repertoire_and_is_used(run, works, work: Path, gaits) -> None:
    surefoot.deploy(gaits, seconds=STEPS * gaits.robot.control_step, csv=work / "1.csv")
    out = works("calibrate gaits.h5 --traces 1.csv --prior friction=0.5:1.5 --models 6 --threads 1")
    assert "friction 0.55 to 1.45" in out
    assert "exists already" in run("calibrate gaits.h5 --traces 1.csv --models 6")[2]
    recover = "recover gaits.h5 --damage front_left:lost --threads 1 --selector map-bo --trials 1"
    out = works(recover)
    assert "models of the calibration" in out
    assert "calibration" in run(f"{recover} --overwrite --calibration gaits.h5")[2]
    found = "--randomization gaits-calibration.h5 --out again.h5"
    works(f"evaluate gaits.h5 --episodes 1 {found}")
    ranges = Randomization(friction=(0.5, 1.5))
    assert read_randomization(ranges, gaits.robot) is ranges


COMMANDS = {"evaluate gaits.h5": "gaits-corrected", "rehearse gaits.h5 --damages few.yaml": "gaits-rehearsal"}


@pytest.fixture(params=COMMANDS)
def command(request) -> str:
    return request.param


@pytest.fixture
def out(command: str, work: Path) -> Path:
    """Where a command saves its result by default."""
    return work / f"{COMMANDS[command]}.h5"


@pytest.fixture
def unfinished(out: Path) -> Path:
    """Where it keeps what is finished."""
    return out.with_name(f"{out.stem}-unfinished.h5")


@pytest.mark.slow
def test_after_an_interruption_the_same_command_goes_on(works, command: str, out: Path, unfinished) -> None:
    evaluates = command.startswith("evaluate")
    line = f"{command} --episodes {300 if evaluates else 40} --threads 1"
    works(f"{line} --out whole.h5")
    program = [sys.executable, "-m", "surefoot", *line.split()]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not unfinished.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT if evaluates else signal.SIGTERM)
        output, complaints = process.communicate(timeout=60)
    assert process.returncode == 130, complaints
    assert f"Stopped and saved to {unfinished.name}. The same command goes on." in output
    assert not out.exists()
    printed = works(line)
    assert "going on after " in printed
    assert not unfinished.exists()
    assert out.read_bytes() == Path("whole.h5").read_bytes()


def test_what_another_process_left_is_replaced_only_when_asked_to(run, command: str, out, unfinished) -> None:
    unfinished.write_bytes(b"something")
    assert unfinished.name in run(f"{command} --episodes 1")[2]
    assert unfinished.read_bytes() == b"something"
    assert run(f"{command} --episodes 1 --overwrite")[0] == 0
    assert len(out.read_bytes()) > 100
    assert not unfinished.exists()


def test_one_process_at_a_time_works_on_an_output(run, work: Path, monkeypatch) -> None:
    out, line = work / "gaits-corrected.h5", "evaluate gaits.h5 --episodes 1"
    with locked(out):
        assert "is in use by" in run(line)[2]

    @contextmanager
    def late(path: Path):
        path.write_bytes(b"its result")
        yield

    monkeypatch.setattr("robots.files.locks.locked", late)  # another one ends just before
    code, _, err = run(line)
    assert (code, out.read_bytes()) == (2, b"its result")
    assert "exists already" in err

"""`surefoot evaluate` as a user types it."""

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from repertoire.archives.archive import Elites
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from repertoire.training.runs import start_training
from robots.simulation.threads import Threads
from robots.words import short
from surefoot.shipped import best_known
from tests.repertoire.conftest import SMALL
from tests.repertoire.storage.test_storage import seal


@pytest.fixture
def trained(small_run: bytes, tmp_path: Path) -> Path:
    """The file of a small run, in a folder of its own."""
    (tmp_path / FILE_NAME).write_bytes(small_run)
    return tmp_path / FILE_NAME


@pytest.fixture(scope="module")
def small_run(tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("run") / "ant"
    with start_training("ant", "sep-cma-mae", out=folder, backend=Threads(1), **SMALL) as training:
        training.run(folder / FILE_NAME)
    return (folder / FILE_NAME).read_bytes()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_evaluates_reports_saves_and_draws(run, trained: Path) -> None:
    picture = trained.with_name("both.png")
    code, out, err = run("evaluate", trained, "--episodes", 4, "--picture", picture, "--threads", 1)
    assert (code, err) == (0, "")
    saved = trained.with_name("repertoire-corrected.h5")
    before, after = read_repertoire(trained), read_repertoire(saved)
    a, b = before.metrics, after.metrics
    assert "before corrected loss" in out
    assert f"elites {a.elites} {b.elites} {a.elites - b.elites} " in out
    assert f"QD score {a.qd_score:,.1f} {b.qd_score:,.1f} {a.qd_score - b.qd_score:,.1f} " in out
    assert f"best {short(a.best)} {short(b.best)} {short(a.best - b.best)} mean" in out
    for kind in ("objective std", "measure std", "reproducibility"):
        assert f"{kind} " in out
    assert out.endswith(f"saved {saved} drawn to {picture}")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert names(trained.parent) == ["both.png", "repertoire-corrected.h5", "repertoire.h5"]
    assert after.spread.episodes == 4
    assert after.history.keys() == before.history.keys()


def test_the_best_gait_is_not_one_of_an_earlier_run(run, trained: Path) -> None:
    assert run("evaluate", trained, "--episodes", 2, "--threads", 1)[0] == 0
    now = read_repertoire(trained)
    assert "corrected objectives" in best_known(trained, now)[1]
    later = replace(now, settings=now.settings.model_copy(update={"seed": 99}))
    other = replace(now, elites=replace(now.elites, solutions=now.elites.solutions + 0.01))
    for changed in (later, other):
        known, note = best_known(trained, changed)
        assert known is changed
        assert "corrected objectives of" not in note
        assert "correct them with" in note


def test_what_it_saves_is_a_repertoire_like_any_other(run, trained: Path) -> None:
    corrected = trained.with_name("c.h5")
    assert run("evaluate", trained, "--episodes", 2, "--seed", 9, "--out", corrected)[0] == 0
    code, out, _ = run("show", corrected)
    assert code == 0
    assert "objectives and measures are means over 2 episodes, seed 9" in out
    assert "spread medians over the elites: objective ±" in out
    assert "spread" not in run("show", trained)[1]
    assert run("deploy", corrected, "--best", "--seconds", "0.2")[0] == 0
    assert (
        run("recover", corrected, "--damage", "front_left:lost", "--selector", "map-bo", "--trials", 1)[0]
        == 0
    )


def test_only_the_best_are_kept(run, trained: Path) -> None:
    few, everything = trained.with_name("few.h5"), trained.with_name("all.h5")
    picture = trained.with_name("few.png")
    choice = ["evaluate", trained, "--episodes", 2]
    code, out, err = run(*choice, "--keep", 5, "--out", few, "--picture", picture)
    assert (code, err) == (0, "")
    assert "kept the best 5 of " in out
    assert f"QD score {read_repertoire(few).metrics.qd_score:,.1f} saved {few}" in out
    assert run(*choice, "--out", everything)[0] == 0
    kept, corrected = read_repertoire(few), read_repertoire(everything)
    best = np.sort(np.argsort(-corrected.elites.objectives)[:5])
    assert kept.elites.cells.tolist() == corrected.elites.cells[best].tolist()
    assert np.array_equal(kept.elites.solutions, corrected.elites.solutions[best])
    assert np.array_equal(kept.spread.measure_std, corrected.spread.measure_std[best])
    assert np.isfinite(kept.thresholds).sum() == 5
    more = run(*choice, "--keep", 9999, "--out", few, "--overwrite")[1]
    assert f"kept the best {len(corrected)} of {len(corrected)} gaits" in more
    assert "0 is not in the range" in run(*choice, "--keep", 0, "--out", few, "--overwrite")[2]


def test_bad_input_ends_in_one_sentence_and_changes_nothing(refused, trained: Path) -> None:
    folder = trained.parent
    repertoire = read_repertoire(trained)
    nothing = replace(repertoire, elites=Elites(*(column[:0] for column in vars(repertoire.elites).values())))
    write_repertoire(folder / "empty.h5", nothing)
    (folder / "there.h5").write_text("")
    (folder / "other-unfinished.h5").write_bytes(trained.read_bytes())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    cases = [
        ([folder / "empty.h5"], "the repertoire is empty: there is nothing to evaluate"),
        ([trained, "--threads", 10**5], "threads must be at least 1 and at most 1024"),
        ([folder / "none.h5"], "none.h5 cannot be read: no such file"),
        ([trained, "--out", trained, "--overwrite"], "is the repertoire to be read"),
        ([trained, "--out", folder / "there.h5"], "there.h5 exists already: choose another --out, or use"),
        ([trained, "--out", folder / "other.h5"], "or use --overwrite"),
        ([trained, "--out", folder / "no" / "x.h5"], "there is no folder"),
        ([trained, "--out", "/"], "/ cannot be written: it is the root of all folders"),
        ([trained, "--picture", folder / "x.jpg"], "x.jpg must end in .png"),
        ([trained, "--picture", folder / "x.png", "--out", folder / "x.png"], "x.png is named twice"),
        ([trained, "--picture", folder / "no" / "x.png"], "there is no folder"),
    ]
    refused(cases, "evaluate")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_controllers_of_another_robot_are_refused_when_read(run, trained: Path) -> None:
    with h5py.File(trained, "r+") as file:
        del file["controller"]
        file["controller"] = np.bytes_(b"mlp-22-128-128-6")
        seal(file)
    code, _, err = run("evaluate", trained)
    assert code == 2
    assert "its controllers are 'mlp-22-128-128-6', but those of its robot, ant, are" in err

"""`surefoot strengthen` as a user types it."""

import json
import re
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adapt import strengthening
from adapt.damage.text import parse_damage
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.rehearsal.storage import read_table, write_table
from adapt.relearning.refinement import RefinementSettings
from repertoire.storage import repertoires
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from robots.errors import InvalidFileError
from robots.randomization import read_randomization
from tests.adapt.rehearsal.small import save_rehearsal
from tests.adapt.self_model.small_minds import short_gaits

LOST, DEAD = "right_rear:lost", "left_front:dead"


@pytest.fixture(autouse=True)
def _searches_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is told here is of one search; mirror images have tests of their own."""
    monkeypatch.setattr(strengthening, "mirror_images", lambda *_: None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A few gaits and their rehearsal, and a list of one damage that leaves none of them."""
    gaits = short_gaits(6)
    thresholds = np.full_like(gaits.thresholds, -np.inf)
    gaits = replace(gaits, spread=None, thresholds=thresholds)
    write_repertoire(tmp_path / "gaits.h5", gaits)
    save_rehearsal(RunFiles(tmp_path / "gaits.h5").rehearsal, gaits, [LOST, DEAD], episodes=2)
    (tmp_path / "few.yaml").write_text(f"- {LOST}\n")
    return tmp_path / "gaits.h5"


def options(file: Path, out: str = "strong.h5") -> list[object]:
    return [file, "--out", file.with_name(out), "--episodes-per-damage", 160, "--threads", 1]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def no_room(path: Path, _) -> None:
    raise InvalidFileError(f"{path} cannot be written")


def stopping(monkeypatch: pytest.MonkeyPatch, interruption: signal.Signals) -> None:
    """Have the second round of a search be interrupted."""
    make: Callable = RefinementSettings.make

    def interrupted(*arguments, number, **settings):
        if number % 4 == 1:
            signal.raise_signal(interruption)
        return make(*arguments, number=number, **settings)

    monkeypatch.setattr(RefinementSettings, "make", interrupted)


@pytest.mark.slow
def test_strengthens_reports_saves_and_goes_on_where_it_was(run, file: Path, monkeypatch) -> None:
    code, out, err = run("strengthen", *options(file), "--dry-run")
    assert (code, err) == (0, "")
    assert out.startswith("damages that leave less than 50% of 0.4")
    assert "up to 160 episodes for each: at most about" in out
    few = "--damages", file.with_name("few.yaml")
    assert " m: 1 of 2, with up to" in out
    assert " m: 1 of 1, with up to" in run("strengthen", *options(file), *few, "--dry-run")[1]
    before = names(file.parent)
    with monkeypatch.context() as patch:
        stopping(patch, signal.SIGTERM)
        code, out, err = run("strengthen", *options(file))
    assert code == 130, err
    assert "strong-unfinished.h5. The same command goes on." in out
    assert names(file.parent) == sorted([*before, "strong-unfinished.h5"])
    code, out, err = run("strengthen", *options(file))
    assert (code, err) == (0, "")
    assert re.search(r"going on after [1-9]\d+ of 160 episodes", out)
    assert names(file.parent) == sorted([*before, "strong.h5", "strong-rehearsal.h5"])
    with monkeypatch.context() as patch:  # when its rehearsal is saved, but not yet the file
        patch.setattr(repertoires, "write_repertoire", no_room)
        assert run("strengthen", *options(file, "whole.h5"), *few)[0] == 2
    assert {"whole-rehearsal.h5", "whole-unfinished.h5"} < {*names(file.parent)} - {"whole.h5"}
    assert run("strengthen", *options(file, "whole.h5"), *few)[0] == 0
    for name in ("", "-rehearsal"):
        one, other = (file.with_name(f"{start}{name}.h5").read_bytes() for start in ("strong", "whole"))
        assert one == other
    strong, old = read_repertoire(file.with_name("strong.h5")), read_repertoire(file)
    table, known = (
        read_table(RunFiles(path).rehearsal, gaits)
        for path, gaits in ((file.with_name("strong.h5"), strong), (file, old))
    )
    assert strong.specialists.damages == ((LOST,),)
    assert table.conditions == known.conditions == ("healthy", LOST, DEAD)
    assert table.objectives.shape == (3, 7)
    np.testing.assert_allclose(table.objectives[:, :6], known.objectives, atol=1e-3)
    assert (table.episodes, table.seed) == (2, 0), "episodes have the seeds of the rehearsal that there was"
    assert table.distances[1, 6] > table.distances[1, :6].max() + 0.02
    code, out, _ = run("show", file.with_name("strong.h5"))
    assert f"specialists 1, which are no part of the archive, for damages: row 6 {LOST}, refined from" in out
    code, out, err = run(
        *("recover", file.with_name("strong.h5"), "--damage", LOST, "--out", file.with_name("r")),
        *("--selector", "rehearsed"),
    )
    assert (code, err) == (0, "")
    assert "trial 2 row 6 expected" in out
    trials = json.loads((file.with_name("r") / "recovery.json").read_text())["trials"]
    assert [trial["specialist"] for trial in trials[:2]] == ["", LOST]
    assert "recovered: with the new gait" in out


def test_bad_input_ends_in_one_sentence_and_changes_nothing(refused, file: Path) -> None:
    folder, gaits = file.parent, read_repertoire(file)
    (folder / "other.yaml").write_text("- left_rear:lost\n")
    (folder / "dead.yaml").write_text(f"- {DEAD}\n")
    (folder / "healthy.yaml").write_text("- healthy\n")
    (folder / "there-rehearsal.h5").write_text("")
    (folder / "old-unfinished.h5").write_bytes(file.read_bytes())
    write_repertoire(folder / "alone.h5", read_repertoire(file))
    varied = {"seed": 1, "randomization": read_randomization("friction=0.5:1,models=2", gaits.robot)}
    evaluation = rehearsal(gaits, [parse_damage(LOST, gaits.robot)], episodes=2, **varied)
    evaluation.run()
    table = rehearsed_table(evaluation)
    write_table(folder / "varied.h5", table, evaluation.identity)
    assert read_table(folder / "varied.h5", gaits).randomization == table.randomization != "none"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    cases = [
        ([*options(file), "--damages", folder / "dead.yaml"], "there is nothing to strengthen"),
        ([*options(file), "--below", 0], "above 0"),
        ([*options(file), "--episodes-per-damage", 0], "at least 1"),
        ([*options(file), "--damages", folder / "other.yaml"], "unknown condition of the rehearsal"),
        ([*options(file), "--damages", folder / "healthy.yaml"], "the library holds no damage"),
        ([*options(file), "--randomization", "much"], "randomization must be"),
        (
            [*options(file), "--rehearsal", folder / "varied.h5"],
            "the rehearsal is of other models (2 models:",
        ),
        (options(folder / "alone.h5"), "make one with `surefoot rehearse`"),
        ([file], "Missing option '--out'"),
        (options(file, "gaits.h5"), "is the repertoire to be read"),
        (options(file, "alone.h5"), "alone.h5 exists already: choose another --out, or use --overwrite"),
        (options(file, "there.h5"), "there-rehearsal.h5 exists already"),
        (options(file, "old.h5"), "or use --overwrite"),
    ]
    refused(cases, "strengthen")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

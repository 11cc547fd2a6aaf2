"""`surefoot strengthen` as a user types it."""

import json
import re
import signal
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from adapt import strengthening
from adapt.rehearsal.storage import read_table
from adapt.relearning.refinement import RefinementSettings
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from robots.errors import InvalidFileError
from surefoot import api
from tests.adapt.rehearsal.small import save_rehearsal
from tests.adapt.self_model.small_minds import short_gaits
from tests.surefoot.conftest import names

LOST, DEAD = "right_rear:lost", "left_front:dead"
LINE = "strengthen gaits.h5 --episodes-per-damage 160 --threads 1 --out"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current one: some gaits, their rehearsal, and a list of the damage that leaves none of them."""
    monkeypatch.setattr(strengthening, "mirror_images", lambda *_: None)  # they have tests of their own
    gaits = short_gaits(6)
    gaits = replace(gaits, spread=None, thresholds=np.full_like(gaits.thresholds, -np.inf))
    write_repertoire(tmp_path / "gaits.h5", gaits)
    save_rehearsal(tmp_path / "gaits-rehearsal.h5", gaits, [LOST, DEAD], episodes=2)
    (tmp_path / "few.yaml").write_text(f"- {LOST}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_where_no_search_finds_a_better_gait_the_output_is_what_there_was(
    works, folder: Path, monkeypatch
) -> None:
    monkeypatch.setattr(strengthening.Strengthening, "found", ())
    out = works(f"{LINE} same.h5 --damages few.yaml")
    assert "saved same.h5 with 0 specialists" in out
    same, old = read_repertoire(Path("same.h5")), read_repertoire(Path("gaits.h5"))
    np.testing.assert_array_equal(same.gaits.solutions, old.gaits.solutions)
    known = read_table(Path("gaits-rehearsal.h5"), old)
    np.testing.assert_array_equal(read_table(Path("same-rehearsal.h5"), same).falls, known.falls)


@pytest.mark.slow
def test_strengthens_reports_saves_and_goes_on_where_it_was(run, works, folder: Path, monkeypatch) -> None:
    before, make = names(folder), RefinementSettings.refine

    def interrupted(*arguments, number, **settings):
        if number % 4 == 1:  # in the second round of the search
            signal.raise_signal(signal.SIGTERM)
        return make(*arguments, number=number, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(RefinementSettings, "refine", interrupted)
        code, out, err = run(f"{LINE} strong.h5")
    assert code == 130, err
    assert "strong-unfinished.h5. The same command goes on." in out
    assert names(folder) == sorted([*before, "strong-unfinished.h5"])
    out = works(f"{LINE} strong.h5")
    assert re.search(r"going on after [1-9]\d+ of 160 episodes", out)
    assert names(folder) == sorted([*before, "strong.h5", "strong-rehearsal.h5"])
    with monkeypatch.context() as patch:  # when its rehearsal is saved, but not yet the file
        patch.setattr(api, "write_repertoire", Mock(side_effect=InvalidFileError("no room")))
        assert run(f"{LINE} whole.h5 --damages few.yaml")[0] == 2
    assert {"whole-rehearsal.h5", "whole-unfinished.h5"} < {*names(folder)} - {"whole.h5"}
    works(f"{LINE} whole.h5 --damages few.yaml")
    for end in (".h5", "-rehearsal.h5"):
        assert Path(f"strong{end}").read_bytes() == Path(f"whole{end}").read_bytes()
    strong, old = (read_repertoire(Path(name)) for name in ("strong.h5", "gaits.h5"))
    table, known = (
        read_table(Path(f"{name}-rehearsal.h5"), one) for name, one in (("strong", strong), ("gaits", old))
    )
    assert strong.specialists.damages == ((LOST,),)
    assert table.conditions == known.conditions == ("healthy", LOST, DEAD)
    np.testing.assert_allclose(table.objectives[:, :6], known.objectives, atol=1e-3)
    assert table.distances[1, 6] > table.distances[1, :6].max() + 0.02
    assert f"row 6 {LOST}, refined from" in run("show strong.h5")[1]
    works(f"recover strong.h5 --damage {LOST} --out r --selector rehearsed")
    recovery = json.loads(Path("r/recovery.json").read_text())
    assert [trial["specialist"] for trial in recovery["trials"][:2]] == ["", LOST]
    assert recovery["row"] == 6

"""The benchmark of recoveries runs every kind of robot, goes on where it was, and judges fairly."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import recoveries
from robots.errors import UnknownNameError


@pytest.mark.slow
def test_it_runs_included_trained_and_drafted_robots_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copy(recoveries.MODELS / "lizard.xml", tmp_path)
    for name, value in {
        "MODELS": tmp_path,
        "TRAINED": ("hopper",),
        "included": lambda: ["hexapod"],
        "_EVALUATIONS": 60,
        "_SELECTORS": ("rehearsed", "thompson"),
        "_SEEDS": (1,),
        "_damages": lambda _: ["all:weak@0.9"],
    }.items():
        monkeypatch.setattr(recoveries, name, value)
    out, said = tmp_path / "all.csv", []
    counts = recoveries.run_recoveries(out, tmp_path / "trained", say=said.append)
    rows = pd.read_csv(out)
    assert rows[["robot", "selector"]].to_numpy().tolist() == [
        ["hexapod", "rehearsed"],
        ["hexapod", "thompson"],
        ["hopper", "thompson"],
        ["lizard", "thompson"],
    ]
    assert counts["handed over"]["hexapod"]["All"] == counts["found"]["hexapod"]["All"] == 2
    assert rows["new mean"].iloc[0] > 0.5, "the Hexapod walks"
    out.write_text("".join(out.read_text().splitlines(keepends=True)[:-1]))
    said.clear()
    recoveries.run_recoveries(out, tmp_path / "trained", say=said.append)
    assert [text for text in said if ":" in text] == [
        f"lizard all:weak@0.9 thompson 1: {rows['handed over'].iloc[3]}"
    ]
    pd.testing.assert_frame_equal(pd.read_csv(out), rows)


def test_every_rehearsed_damage_is_recovered_from_in_metres(monkeypatch, tmp_path: Path) -> None:
    (hexapod,) = recoveries._included(["hexapod"])
    few = replace(hexapod, table=hexapod.table.take(["healthy", "left_rear:lost"]))
    monkeypatch.setattr(recoveries, "_included", {("hexapod",): [few]}.__getitem__)
    monkeypatch.setattr(recoveries, "_SEEDS", (1,))
    counts = recoveries.run_library(("hexapod",), tmp_path / "all.csv", say=lambda _: None)
    (row,) = pd.read_csv(tmp_path / "all.csv").to_dict("records")
    assert (row["damage"], row["handed over"]) == ("left_rear:lost", "better")
    assert row["healthy distance"] > row["new distance"] > 1.0 > row["old distance"]
    assert row["new mean"] == pytest.approx(row["new distance"]), "no fall, no price"
    assert row["old mean"] < row["old distance"], "falls have a price"
    assert counts["handed over"]["hexapod"]["better"] == 1


def test_a_library_of_no_included_repertoire_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown included repertoire 'mule'"):
        recoveries.run_library(["mule"], tmp_path / "all.csv", say=lambda _: None)
    assert not (tmp_path / "all.csv").exists()


@pytest.mark.parametrize(
    ("gain", "verdict"), [(-1.0, "worse"), (-0.3, "as good"), (0.3, "as good"), (1.0, "better")]
)
def test_a_difference_counts_from_two_standard_errors_on(gain: float, verdict: str) -> None:
    old = np.tile([-1.0, 1.0], 10)  # whose mean has a standard error of 0.23, and the difference one of 0.32
    assert recoveries._verdict(old + gain, old) == verdict

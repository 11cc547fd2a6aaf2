"""The report of a recovery study, from results with known numbers."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from suites.recovery.metrics import metrics
from suites.recovery.report import report_text, write_report
from suites.videos import Video, film_videos
from tests.suites.paper.made_results import row
from tests.suites.recovery.made_recoveries import (
    DAMAGES,
    TRACKS,
    make_oracle,
    make_recovery,
    make_results,
    make_trial,
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    film_videos([Video("a.mp4", "something", lambda path: path.touch())], folder, lambda _: None)
    paths = write_report(make_results(), folder, notes=["A note."])
    return folder, paths, (folder / "report.md").read_text()


def test_the_files(report):
    _, paths, text = report
    assert [path.name for path in paths] == ["faults.csv", "recoveries.csv", "curves.png", "report.md"]
    assert all(path.stat().st_size > 100 for path in paths)
    assert text.startswith("# Recovery of the hexapod\n")
    assert "* A note." in text
    assert "* videos/a.mp4: something" in text
    assert "$" not in text


def test_every_recovery_is_in_the_csv_once(report):
    folder, _, _ = report
    with (folder / "recoveries.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 5 * 4
    assert {one["track"] for one in rows if one["selector"] == "map-bo"} == {"T0 T3"}
    assert float(rows[0]["rr_20"]) == pytest.approx(make_results().recoveries["rr_20"].iloc[0], abs=1e-4)


def test_a_track_in_numbers(report):
    _, _, text = report
    runs = make_results().of(TRACKS[1])
    found = metrics(20)["RR@10"].of(runs[runs["selector"] == "rehearsed"])
    assert (
        row(text, "rehearsed", "| T3 | RR@1 |")[4]
        == f"**{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]**"
    )
    assert row(text, "random", "| T3 | T90 |")[0] == "- [-, -]"
    assert row(text, "random", "| T3 | T90 |")[-1] == "0.0 [0.0, 0.0]"
    assert "T3, the library lacks every damage of its family: 6 damages, 5 of them binding." in text
    header = "| family | damages | random RR@5 |"
    assert row(text, "lost", header)[0] == "2"
    assert float(row(text, "lost", header)[-1]) == pytest.approx(0.91, abs=0.01)


def test_damages_and_rivals(report):
    _, _, text = report
    assert row(text, "left:lost", "| T3 | headroom | RR_0 |")[:2] == ["0.80", "0.20"]
    assert "## rehearsed and each rival" in text
    rival = row(text, "random", "| T3, RR@10 |")
    assert rival[0].startswith("+0.5")
    assert rival[1] == "100%"


def test_what_exceeds_the_oracle_is_printed(tmp_path):
    pairs = [make_oracle(0), make_oracle(1)]
    for fault, last in ((0, 1.15), (1, 0.8)):
        trial = make_trial(TRACKS, "listed", fault, "random")
        pairs.append((trial, make_recovery(trial, [0.5, last])))
    text = report_text(make_results(pairs), tmp_path, [])
    assert "In 1 of 2 recoveries the last gait does better than the oracle" in text
    assert "exceed 1 by 0.150 as a mean" in text
    assert "## random and each rival" not in text  # there is none


def test_without_binding_damages_there_are_no_tables(tmp_path):
    fault = DAMAGES.index("all:weak@0.5")
    results = make_results([make_oracle(fault), make_oracle(0, score=-1.0)])
    assert [path.name for path in write_report(results, tmp_path, notes=[])][2:] == ["report.md"]
    text = (tmp_path / "report.md").read_text()
    assert (
        "T0, no library, only the healthy robot was rehearsed: 2 damages, 0 of them binding; excluded" in text
    )
    assert "## Damages" not in text
    assert "RR@5" not in text


def test_a_reality_gap_is_described(tmp_path):
    gap = replace(TRACKS[0], name="T1", gap=True)
    results = replace(make_results(), tracks=(gap,))
    assert "mass 0.8 to 1.2" in report_text(results, tmp_path, [])


def test_a_track_that_lacks_the_compared_selector_is_reported(tmp_path):
    pairs = [make_oracle(0), make_oracle(1)]
    for tracks, name in ((TRACKS[:1], "self-model"), (TRACKS[1:], "map-bo"), (TRACKS[1:], "random")):
        for fault in (0, 1):
            trial = make_trial(tracks, tracks[0].name, fault, name)
            pairs.append((trial, make_recovery(trial, np.linspace(0.5, 1.0, 20))))
    results = make_results(pairs)
    assert results.subject == "self-model"
    assert "and each rival" not in report_text(results, tmp_path, [])

"""The report of a benchmark with known numbers."""

import csv
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from suites.recovery.metrics import metrics
from suites.recovery.report import is_reached, write_report
from tests.suites.recovery.made_recoveries import DAMAGES, SELECTORS, make_results

SIMULATED = pd.DataFrame(
    {
        "selector": "rehearsed",
        "damage": ["left:lost", "left:dead"],
        "trials": [5, 6],
        "replayed_trials": [4.5, 5],
        "ratio": [0.91, 0.93],
        "replayed_ratio": 0.94,
    }
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    paths = write_report(
        make_results(), folder, notes=["A note."], simulated=SIMULATED, videos=["videos/a.mp4: something"]
    )
    return folder, paths, (folder / "report.md").read_text()


def row(text: str, first: str, start: str) -> list[str]:
    """Cells of the row that begins with a text, in the table that comes after another."""
    after = text[text.index(start) :]
    line = next(line for line in after.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_the_files(report):
    _, paths, text = report
    assert [path.name for path in paths] == [*("recoveries.csv", "curves.png", "damages.png", "report.md")]
    assert all(path.stat().st_size > 500 for path in paths)
    assert text.startswith("# Recovery of the hexapod\n")
    assert "* A note." in text
    assert "videos/a.mp4: something" in text
    assert text.count("](") == 2


def test_every_recovery_is_in_the_csv_once(report):
    folder, _, _ = report
    with (folder / "recoveries.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == (len(SELECTORS) + 1) * len(DAMAGES) * 4
    assert {one["track"] for one in rows if one["selector"] == "map-bo"} == {"T0 T3"}
    assert {one["track"] for one in rows if one["selector"] == "rehearsed"} == {"T0", "T3"}
    results = make_results()
    runs = results.of(results.main_track, "rehearsed")
    found = [one for one in rows if (one["track"], one["selector"]) == ("T3", "rehearsed")]
    assert [one["damage"] for one in found[::4]] == list(DAMAGES)
    np.testing.assert_allclose([float(one["rr_10"]) for one in found], runs["rr_10"], atol=6e-5)
    assert [int(one["falls"]) for one in found] == runs["falls"].tolist()
    assert [one["binding"] for one in found[::4]] == ["1", "1", "1", "0", "1", "1"]


def test_a_track_in_numbers(report):
    _, _, text = report
    results = make_results()
    runs = results.of(results.main_track, "rehearsed")
    found = metrics(20)["RR@10"].of(runs[runs["binding"] == 1])
    cell = row(text, "rehearsed", "| T3 | RR@1 |")[3]
    assert cell == f"**{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]**"
    assert row(text, "random", "| T3 | T90 |")[0] == "- [-, -]"
    assert "6 damages, 5 of them binding." in text


def test_targets_are_next_to_what_was_reached(report):
    _, _, text = report
    cells = row(text, "T3, RR@20, binding damages", "## Targets")
    assert cells[:3] == ["0.88", "0.94", "at least 0.96"]
    assert cells[-1] == "yes"
    assert "T2, RR@3" not in text  # the track did not run
    assert "T3-limb" not in text


def test_other_robots_have_no_targets(tmp_path):
    write_report(make_results("ant"), tmp_path, notes=["n"])
    text = (tmp_path / "report.md").read_text()
    assert "## Targets" not in text
    assert "Simulated recoveries" not in text


def test_damages_rivals_and_simulation(report):
    _, _, text = report
    cells = row(text, "left:lost", "| damage | binding |")
    assert cells[:3] == ["yes", "0.80", "0.08"]  # headroom 1.2 / 1.5
    header = next(line for line in text.splitlines() if line.startswith("| damage | binding |"))
    assert "| map-bo RR@10 |" in header
    assert "| rehearsed T0 RR@10 | rehearsed T3 RR@10 | retention of rehearsed T3 |" in header
    assert cells[-1] == "0.80"
    rival = row(text, "random", "| T3, RR@10 |")
    assert rival[0].startswith("+0.5")
    assert rival[2:4] == ["1.00", "100%"]
    assert row(text, "rehearsed", "| selector | damage |") == ["left:lost", "5.0", "4.5", "0.91", "0.94"]
    assert "| rehearsed | mean of these | 5.5 | 4.8 | 0.92 | 0.94 |" in text


def test_a_report_can_be_made_from_its_csv(report, tmp_path):
    folder, _, text = report
    results = replace(make_results(), recoveries=pd.read_csv(folder / "recoveries.csv"))
    write_report(
        results, tmp_path, notes=["A note."], simulated=SIMULATED, videos=["videos/a.mp4: something"]
    )
    again = (tmp_path / "report.md").read_text()
    metric_tables = [one[: one.index("## Damages")] for one in (text, again)]
    numbers = [np.array(re.findall(r"-?\d+\.\d+", one), float) for one in metric_tables]
    np.testing.assert_allclose(*numbers, rtol=2e-3, atol=0.011)  # by the digits that the CSV has


def test_a_target_is_reached_to_the_digits_that_are_shown():
    known = metrics(20)
    assert is_reached(0.9549, 0.95, known["RR@10"])
    assert is_reached(0.946, 0.95, known["RR@10"])
    assert not is_reached(0.944, 0.95, known["RR@10"])
    assert is_reached(7, 7, known["T90"])
    assert not is_reached(np.inf, 7, known["T90"])

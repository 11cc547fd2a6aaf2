"""The report of a recovery study, from results with known numbers."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from robots.errors import InvalidValueError
from suites.recovery.metrics import metrics
from suites.recovery.report import report_text, write_report
from tests.suites.paper.made_results import row
from tests.suites.recovery.made_recoveries import (
    BOUND,
    DAMAGES,
    SELECTORS,
    TRACKS,
    make_oracle,
    make_pairs,
    make_recovery,
    make_results,
    make_trial,
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    paths = write_report(make_results(), folder, notes=["A note."])
    return folder, paths, (folder / "report.md").read_text()


def test_the_files_have_every_recovery_once(report):
    folder, paths, text = report
    assert [path.name for path in paths] == ["faults.csv", "recoveries.csv", "curves.png", "report.md"]
    assert all(path.stat().st_size > 100 for path in paths)
    assert "* A note." in text
    with (folder / "recoveries.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 5 * 4
    assert {one["track"] for one in rows if one["selector"] == "map-bo"} == {"T0 T3"}
    assert float(rows[0]["rr_20"]) == pytest.approx(make_results().recoveries["rr_20"].iloc[0], abs=1e-4)


def test_a_track_its_damages_and_rivals_in_numbers(report):
    _, _, text = report
    runs = make_results().of(TRACKS[1])
    found = metrics(20)["RR@10"].of(runs[runs["selector"] == "rehearsed"])
    assert row(text, "rehearsed", "| T3 | RR@1 |")[4] == f"**{found.text(2)}**"
    assert row(text, "random", "| T3 | T90 |")[0] == "- [-, -]"
    assert row(text, "random", "| T3 | T90 |")[-1] == "0.0 [0.0, 0.0]"
    assert "6 damages, 5 of them binding." in text
    assert row(text, "left:lost", "| T3 | headroom | RR_0 |")[:2] == ["0.80", "0.20"]
    rival = row(text, "random", "| T3, RR@10 |")
    assert rival[0].startswith("+0.5")
    assert rival[1] == "100%"


def test_what_exceeds_the_oracle_is_printed(tmp_path):
    pairs = [make_oracle(0), make_oracle(1)]
    for fault, last in ((0, 1.15), (1, 0.8)):
        trial = make_trial(TRACKS, "listed", fault, "random")
        pairs.append((trial, make_recovery(trial, [0.5, last])))
    text = report_text(make_results(pairs), [])
    assert "In 1 of 2 recoveries the last gait does better than the oracle" in text
    assert "exceed 1 by 0.150 as a mean" in text
    assert "## random and each rival" not in text  # there is none


def test_without_binding_damages_there_are_no_tables(tmp_path):
    fault = DAMAGES.index("all:weak@0.5")
    results = make_results([make_oracle(fault), make_oracle(0, score=-1.0, incumbent=-2.0)])
    assert results.faults["binding"].tolist() == [False, False]
    assert np.isnan(results.faults["rr_0"][1]), "nothing scores"
    assert [path.name for path in write_report(results, tmp_path, notes=[])][2:] == ["report.md"]
    text = (tmp_path / "report.md").read_text()
    assert "2 damages, 0 of them binding" in text
    assert "RR@5" not in text


def test_a_track_that_lacks_the_compared_selector_is_reported(tmp_path):
    pairs = [make_oracle(0), make_oracle(1)]
    for tracks, name in ((TRACKS[:1], "self-model"), (TRACKS[1:], "map-bo"), (TRACKS[1:], "random")):
        for fault in (0, 1):
            trial = make_trial(tracks, tracks[0].name, fault, name)
            pairs.append((trial, make_recovery(trial, np.linspace(0.5, 1.0, 20))))
    results = make_results(pairs)
    assert results.subject == "self-model"
    assert "and each rival" not in report_text(results, [])


def test_a_track_has_all_selectors_and_each_recovery_once():
    results = make_results()
    assert results.faults["damage"].tolist() == list(DAMAGES)
    assert (results.trials, results.selectors) == (20, list(SELECTORS))
    for track in TRACKS:
        runs = results.of(track)
        assert runs.groupby("selector").size().tolist() == [5 * 4] * 3
        for _, own in runs.groupby("selector"):
            assert own["damage"].tolist() == [one for one in DAMAGES if one != BOUND for _ in range(4)]
            assert own["seed"].tolist() == [0, 1, 2, 3] * 5
    rehearsed = [results.of(track).query("selector == 'rehearsed'")["rr_20"].mean() for track in TRACKS]
    assert rehearsed[0] < rehearsed[1] - 0.03


def test_what_a_selector_ended_with_is_the_oracle_if_it_wins_by_the_oracles_own_episodes():
    trial = make_trial(TRACKS, "listed", 0, "random")
    better = make_recovery(trial, np.array([0.5, 1.25]), final=2.1)
    results = make_results([make_oracle(0), (trial, better)])
    assert results.recoveries[["oracle", "rr_1", "rr_2", "rr_0"]].to_numpy().tolist() == [[2.5, 0.4, 1, 0.16]]
    assert results.faults["oracle"].tolist() == [2.5]


@pytest.mark.parametrize(("score", "oracle", "rr_0"), [(0.42, 0.42, 0.4 / 0.42), (0.0, 2.0, 0.2)])
def test_a_fault_from_which_selectors_recovered_stays_binding(score: float, oracle: float, rr_0: float):
    trial = make_trial(TRACKS, "listed", 0, "random")
    worse = make_recovery(trial, np.array([0.5, score / 2]), final=2.1)
    results = make_results([make_oracle(0), (trial, worse)])
    assert results.faults[["oracle", "rr_0", "binding"]].to_numpy().tolist() == [[oracle, rr_0, True]]
    assert len(results.recoveries) == 1


def test_only_what_all_selectors_have_is_compared():
    pairs = make_pairs(seeds=2)
    results = make_results(pairs[:-1])  # the last recovery, in T3, is missing
    assert results.of(TRACKS[1])["seed"].unique().tolist() == [0]
    assert results.of(TRACKS[0])["seed"].nunique() == 2
    first = make_results(pairs[:12])  # the oracles, and all selectors from the first fault alone
    assert first.of(TRACKS[1])["damage"].unique().tolist() == [DAMAGES[0]]


def test_a_recovery_waits_for_the_oracle_of_its_fault_and_without_any_there_is_no_report():
    trials = [make_trial(TRACKS, "listed", fault, "random") for fault in (0, 1)]
    pairs = [make_oracle(1), *((trial, make_recovery(trial, np.array([0.5, 1.0]))) for trial in trials)]
    assert make_results(pairs).recoveries["damage"].tolist() == [DAMAGES[1]]
    with pytest.raises(InvalidValueError, match="there are no results to report"):
        make_results([(replace(make_oracle(0)[0], fault=3), make_oracle(0)[1])])

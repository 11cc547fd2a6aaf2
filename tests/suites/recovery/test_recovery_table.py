"""The tables of a recovery study: what ratios are shares of, and which recoveries are compared."""

from dataclasses import replace

import numpy as np
import pytest

from robots.errors import InvalidValueError
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


def test_faults_and_recoveries_have_a_row_each():
    results = make_results()
    assert results.faults["damage"].tolist() == list(DAMAGES)
    assert results.faults["rr_0"].tolist() == [0.2, 0.2, 0.2, 0.95, 0.2, 0.2]
    assert results.faults["binding"].tolist() == [damage != BOUND for damage in DAMAGES]
    assert results.faults["headroom"].tolist() == [0.8] * 6
    assert len(results.recoveries) == 4 * 5 * 4
    assert set(results.recoveries["track"]) == {"T0 T3", "T0", "T3"}
    assert (results.trials, results.selectors) == (20, list(SELECTORS))


def test_a_track_has_all_selectors_and_each_recovery_once():
    results = make_results()
    for track in TRACKS:
        runs = results.of(track)
        assert runs.groupby("selector").size().tolist() == [5 * 4] * 3
        for _, own in runs.groupby("selector"):
            assert own["damage"].tolist() == [
                damage for damage in DAMAGES if damage != BOUND for _ in range(4)
            ]
            assert own["seed"].tolist() == [0, 1, 2, 3] * 5
    rehearsed = [results.of(track).query("selector == 'rehearsed'")["rr_20"].mean() for track in TRACKS]
    assert rehearsed[0] < rehearsed[1] - 0.03


def test_a_gait_that_exceeds_the_oracle_is_not_cut_off():
    trial = make_trial(TRACKS, "listed", 0, "random")
    results = make_results([make_oracle(0), (trial, make_recovery(trial, np.array([0.5, 1.2])))])
    assert results.recoveries["rr_2"].tolist() == [1.2]


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


def test_faults_under_which_nothing_scores_are_told_apart():
    results = make_results([make_oracle(0), make_oracle(1, score=-0.1, incumbent=-0.3)])
    assert np.isnan(results.faults["rr_0"][1])
    assert results.faults["binding"].tolist() == [True, False]


def test_only_what_all_selectors_have_is_compared():
    pairs = make_pairs(seeds=2)
    results = make_results(pairs[:-1])  # the last recovery, in T3, is missing
    assert results.of(TRACKS[1])["seed"].unique().tolist() == [0]
    assert results.of(TRACKS[0])["seed"].nunique() == 2
    first = make_results(pairs[:12])  # the oracles, and all selectors from the first fault alone
    assert first.of(TRACKS[1])["damage"].unique().tolist() == [DAMAGES[0]]


def test_a_seed_that_a_selector_lacks_altogether_is_not_compared():
    pairs = [make_oracle(0)]
    for seed, name in ((0, "random"), (1, "random"), (0, "map-bo")):
        trial = replace(make_trial(TRACKS, "listed", 0, name), number=seed)
        pairs.append((trial, make_recovery(trial, np.array([0.5, 1.0]))))
    kept = make_results(pairs).of(TRACKS[0])
    assert sorted(kept["selector"]) == ["map-bo", "random"]
    assert set(kept["seed"]) == {0}


def test_a_recovery_waits_for_the_oracle_of_its_fault():
    trials = [make_trial(TRACKS, "listed", fault, "random") for fault in (0, 1)]
    pairs = [make_oracle(1), *((trial, make_recovery(trial, np.array([0.5, 1.0]))) for trial in trials)]
    assert make_results(pairs).recoveries["damage"].tolist() == [DAMAGES[1]]


def test_nothing_to_report_is_refused():
    with pytest.raises(InvalidValueError, match="there are no results to report"):
        make_results([(replace(make_oracle(0)[0], fault=3), make_oracle(0)[1])])

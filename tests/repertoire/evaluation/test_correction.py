"""What a correction makes of episodes: examples by hand."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.archives.archive import Elites
from repertoire.evaluation.correction import Correction, correct
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from robots.simulation.threads import ONE_THREAD
from tests.adapt.rehearsal.small import small_repertoire

GRID = (2, 2, 1, 1)
LOW, HIGH = 0.25, 0.75  # measures in the lower and the upper half


def repertoire(cells: list[int]):
    """A repertoire of elites in some cells, with objectives 100, 200, ..."""
    k, made = len(cells), small_repertoire(len(cells))
    settings = {"evaluations": 100, "seed": 0, "archive": GRID, "min_objective": -10.0}
    solutions = np.zeros_like(made.elites.solutions)
    solutions[:, 0] = np.arange(k)
    return replace(
        made,
        settings=ALGORITHMS.find("cma-mae").settings(settings),
        elites=Elites(np.array(cells), solutions, 100.0 * np.arange(1, k + 1), np.full((k, 4), 0.5)),
        thresholds=np.zeros(math.prod(GRID)),
        history={"evaluations": np.array([40])},
    )


def corrected(cells: list[int], objectives: list[list[float]], firsts: list[list[float]]) -> Correction:
    """Correct elites from their objectives and first two measures, an episode after the other."""
    table = np.array(objectives, float)
    measures = np.full((*table.shape, 4), 0.5)
    measures[..., :2] = np.array(firsts, float).reshape(*table.shape, 2)
    measures[np.isnan(table)] = np.nan
    results = SimpleNamespace(objectives=table.ravel(), measures=measures.reshape(table.size, -1))
    done = SimpleNamespace(
        repertoire=repertoire(cells),
        episodes=table.shape[1],
        seed=7,
        results=lambda: results,
        evaluator=SimpleNamespace(backend=ONE_THREAD),
    )
    return correct(done)


def test_means_enter_and_the_best_mean_of_a_cell_stays() -> None:
    # the first two elites end up in cell 1 (low, high), the third stays in cell 3
    correction = corrected(
        [0, 1, 3],
        [[10, 30], [26, 26], [5, -3]],
        [[LOW, HIGH, LOW, HIGH], [LOW, HIGH, LOW, LOW + 0.4], [HIGH, HIGH, HIGH, LOW + 0.3]],
    )
    elites, spread = correction.repertoire.elites, correction.repertoire.spread
    assert elites.cells.tolist() == [1, 3]
    assert elites.solutions[:, 0].tolist() == [1, 2]
    assert elites.objectives.tolist() == [26, 1]
    assert elites.measures[0].tolist() == pytest.approx([LOW, (HIGH + LOW + 0.4) / 2, 0.5, 0.5])
    assert correction.repertoire.thresholds.tolist() == [-np.inf, 26, -np.inf, 1]
    assert (spread.episodes, spread.seed) == (2, 7)
    assert spread.objective_std.tolist() == [0, 4]
    assert spread.measure_std[1].tolist() == pytest.approx([0, 0.1, 0, 0])
    assert spread.reproducibility.tolist() == [1, 1]
    assert correction.spread.objective_std.tolist() == [10, 0, 4]
    assert correction.spread.reproducibility.tolist() == [0, 1, 1]
    assert correction.left_out == 0


def test_an_elite_of_which_an_episode_diverged_stays_out() -> None:
    correction = corrected([0, 3], [[np.nan, 1000], [2, 4]], [[LOW] * 4, [HIGH] * 4])
    assert correction.repertoire.elites.cells.tolist() == [3]
    assert correction.left_out == 1
    assert correction.diverged.tolist() == [1, 0]
    assert np.isnan(correction.spread.objective_std).tolist() == [True, False]
    assert correction.spread.reproducibility.tolist() == [0.5, 1]
    summaries = correction.spread.summaries()
    assert summaries["objective std"][0] == 1
    assert summaries["reproducibility"][0] == 1


def test_when_everything_diverged_nothing_is_left_and_that_is_saved(tmp_path) -> None:
    correction = corrected([0, 3], [[np.nan, np.nan], [2, np.nan]], [[LOW] * 4] * 2)
    assert len(correction.repertoire) == 0
    assert correction.losses["elites"] == 2
    assert math.isnan(correction.losses["best"])
    write_repertoire(tmp_path / "a.h5", correction.repertoire)
    read = read_repertoire(tmp_path / "a.h5")
    assert len(read) == 0
    assert read.facts()["spread"] == "none"
    assert all(math.isnan(median) for median, _ in read.spread.summaries().values())


def test_summaries_tell_the_median_and_the_worst_decile() -> None:
    spread = corrected([0], [[1, 2]], [[LOW] * 4]).spread
    spread = replace(
        spread,
        objective_std=np.arange(11.0),
        measure_std=np.arange(11.0)[:, None] + [-1.0, 1.0],
        reproducibility=np.arange(11) / 10,
    )
    summaries = spread.summaries()
    assert list(summaries.values()) == [(5, 9), (5, 9), (0.5, 0.1)]

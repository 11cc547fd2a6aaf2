"""`merge` and `keep_best`, on made-up elites."""

from dataclasses import replace

import numpy as np
import pytest

from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.archives.archive import Archive
from repertoire.archives.grid import GridSpec
from repertoire.evaluation.correction import keep_best
from repertoire.evaluation.merging import merge
from repertoire.problems.locomotion import walking_record
from repertoire.problems.record import ProblemRecord
from repertoire.repertoire import Repertoire, Spread
from robots.errors import InvalidValueError
from robots.robot import load_robot

HOPPER = load_robot("hopper")
P = HOPPER.controller.parameter_count


def made(objectives: list[float], places: list[float], *, first: float = 0.0) -> Repertoire:
    """Hopper's gaits with one measure; the first parameter of the i-th is `first` + i."""
    archive = Archive(GridSpec((10,)), solution_dim=P, ranges=((0, 1),))
    solutions = np.zeros((len(objectives), P), np.float32)
    solutions[:, 0] = first + np.arange(len(objectives))
    archive.add(solutions, np.array(objectives, float), np.array(places, float)[:, None])
    settings = {"evaluations": 400, "seed": 1, "sigma0": 0.1, "archive": (10,), "min_objective": 0.0}
    return Repertoire(
        problem=walking_record(HOPPER),
        settings=ALGORITHMS.find("cma-mae").settings(settings),
        elites=archive.elites(),
        thresholds=archive.thresholds,
        history={name: np.array([100, 300]) for name in ("evaluations", "steps", "diverged")},
    )


def test_the_best_stay_and_of_equals_the_first() -> None:
    a = made([1.0, 5.0, 2.0], [0.05, 0.15, 0.25])
    b = made([3.0, 5.0, 9.0], [0.05, 0.15, 0.95], first=100)
    merged = merge([a, b])
    assert merged.elites.cells.tolist() == [0, 1, 2, 9]
    assert merged.elites.objectives.tolist() == [3.0, 5.0, 2.0, 9.0]
    assert merged.elites.solutions[:, 0].tolist() == [100, 1, 2, 102]
    assert merged.settings.evaluations == 600
    assert (a.evaluations, merged.evaluations) == (300, 600)
    assert merged.history["qd_score"].tolist() == [19.0]
    assert merge([merged, a]).history["runs"].tolist() == [3]


def test_cells_can_change() -> None:
    merged = merge([made([1.0, 5.0, 2.0], [0.05, 0.15, 0.95])], archive=(2,))
    assert merged.grid == (2,)
    assert merged.elites.objectives.tolist() == [5.0, 2.0]
    for archive, message in (
        ((2, 2), "has cells along 2 measures, but there are 1"),
        ((2_000, 1_000), "at most 1,000,000 cells"),
    ):
        with pytest.raises(InvalidValueError, match=message):
            merge([merged], archive=archive)


def test_what_differs_is_refused_by_name() -> None:
    a = made([1.0], [0.5])
    ant, walker = load_robot("ant"), load_robot("walker")

    def of(problem: ProblemRecord) -> Repertoire:
        return replace(a, problem=problem)

    lower = a.settings.model_copy(update={"min_objective": -5.0})
    cases = [
        (of(walking_record(ant)), "repertoire 2 has the problem ant, but repertoire 1 has hopper"),
        (of(replace(a.problem, controller="mlp-1-1")), "has the controller mlp-1-1, but repertoire 1"),
        (replace(a, settings=lower), "has the minimum objective -5.0, but repertoire 1 has 0.0"),
        (of(walking_record(replace(HOPPER, xml=walker.xml))), "have the same name, but differ"),
    ]
    for other, message in cases:
        with pytest.raises(InvalidValueError, match=message):
            merge([a, other])
    with pytest.raises(InvalidValueError, match=r"^y has the problem ant, but x has hopper"):
        merge([a, of(walking_record(ant))], names=["x", "y"])


def test_only_the_best_of_a_corrected_repertoire_are_kept() -> None:
    raw = made([4.0, 1.0, 4.0, 9.0, 4.0], [0.05, 0.15, 0.25, 0.35, 0.45])
    std = np.arange(5.0)
    spread = Spread(std, std[:, None], std / 5, episodes=3, seed=0)
    corrected = replace(raw, spread=spread)
    kept = keep_best(corrected, 3)
    assert kept.elites.cells.tolist() == [0, 2, 3]  # of equals the first
    assert kept.spread.objective_std.tolist() == [0, 2, 3]
    assert np.isfinite(kept.thresholds).nonzero()[0].tolist() == [0, 2, 3]
    assert keep_best(corrected, 99).elites.cells.tolist() == raw.elites.cells.tolist()

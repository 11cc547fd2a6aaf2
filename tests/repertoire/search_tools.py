"""What the tests of archives, strategies, emitters and searches share."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.archives.grid import GridSpec
from repertoire.emitters.emitter import Emitter
from repertoire.problems.benchmarks import Sphere
from repertoire.problems.problem import Problem
from robots.evaluations import OBJECTIVES_AND_MEASURES, Evaluations


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def grid(*sizes: int, dim: int, ranges: Any, **thresholds: Any) -> Archive:
    return Archive(GridSpec(sizes), solution_dim=dim, ranges=ranges, **thresholds)


def assert_same_state(actual: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> None:
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, err_msg=name)


def improved(improvements: object) -> Evaluations:
    """Evaluations of which only the improvements matter."""
    improvements = np.asarray(improvements)
    nothing = np.zeros(improvements.shape)
    return Evaluations(
        nothing, nothing[..., None], nothing > 0, nothing, improvements=improvements, opened=nothing > 0
    )


def add_offered(emitter: Emitter, archive: Archive, solutions: np.ndarray, found: Evaluations) -> Evaluations:
    """Add what is offered and did not diverge, as a scheduler does; returns what the emitter is told."""
    rows = np.arange(len(solutions))[emitter.offered]
    rows = rows[~found.diverged[rows]]
    improvements, opened = np.full(len(solutions), -np.inf), np.zeros(len(solutions), bool)
    entered = np.zeros(len(rows), bool)
    improvements[rows] = archive.add(
        solutions[rows], found.objectives[rows], found.measures[rows], opened=entered
    )
    opened[rows] = entered
    return dataclasses.replace(found, improvements=improvements, opened=opened)


def batch(problem: Problem, emitter: Emitter, archive: Archive) -> tuple[np.ndarray, Evaluations]:
    """Have a batch evaluated and tell the emitter; returns its solutions and what it was told."""
    solutions = emitter.ask(archive)
    found = problem.evaluate(solutions, np.zeros(len(solutions), int), request=emitter.request)
    outcomes = add_offered(emitter, archive, solutions, found)
    emitter.tell(outcomes, archive)
    return solutions, outcomes


class Strolling(Sphere):
    """The sphere of 12 parameters, which are also those of a network; its transitions are made up of them."""

    policy_layers = (2, 2, 2)

    def __init__(self) -> None:
        super().__init__(12)

    def evaluate(self, solutions, seeds, *, request=OBJECTIVES_AND_MEASURES, on_finished=None):
        known = dataclasses.replace(request, transitions=False)
        found = super().evaluate(solutions, seeds, request=known, on_finished=on_finished)
        if not request.transitions:
            return found
        parts = np.asarray(solutions, np.float32).reshape(-1, 3, 4)
        rewards = np.repeat(found.objectives[:, None, None] / 100, 3, axis=1)
        ends = np.zeros((len(parts), 3, 2))
        ends[:, -1] = 1
        rows = np.concatenate([parts, parts[..., :2], rewards, ends], axis=2).astype(np.float32)
        transitions = np.empty(len(rows), object)
        for row, part in enumerate(rows):
            transitions[row] = part
        return dataclasses.replace(found, transitions=transitions)

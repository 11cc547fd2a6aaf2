"""The contract of `Problem`, for every kind."""

import numpy as np
import pytest

from repertoire.problems.catalogue import PROBLEMS, make_problem
from repertoire.problems.locomotion import Locomotion
from repertoire.problems.problem import Problem
from robots.errors import InvalidValueError, UnknownNameError
from robots.evaluations import Request, TransitionColumns
from robots.robot import load_robot
from robots.simulation.threads import Threads

BENCHMARKS = ("sphere-2", "sphere-101", *(name.replace("-N", "-7") for name in PROBLEMS))


@pytest.fixture(scope="module", params=[*BENCHMARKS, "ant"])
def problem(request: pytest.FixtureRequest):
    if request.param != "ant":
        made = make_problem(request.param)
        assert made.name == request.param
        return made
    return Locomotion(load_robot("ant").with_episode_steps(5), backend=Threads(1))


def solutions_of(problem: Problem, count: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    initial = np.stack([problem.initial(rng) for _ in range(count)])
    return initial + rng.normal(0, 0.5, initial.shape).astype(np.float32)


def assert_equal(actual, expected, rows=slice(None)) -> None:
    for name in ("objectives", "measures", "diverged", "steps"):
        assert np.array_equal(getattr(actual, name), getattr(expected, name)[rows]), name


def test_the_initial_solution(problem: Problem) -> None:
    initial = problem.initial(np.random.default_rng(4))
    assert initial.shape == (problem.solution_dim,)
    assert initial.dtype == np.float32
    assert np.array_equal(initial, problem.initial(np.random.default_rng(4)))


def test_evaluations(problem: Problem) -> None:
    numbers: list[int] = []
    evaluations = problem.evaluate(solutions_of(problem, 7), np.arange(7), on_finished=numbers.append)
    assert numbers[-1] == 7
    if not problem.stochastic:
        assert_equal(problem.evaluate(solutions_of(problem, 7), np.zeros(7, int)), evaluations)
    nothing = problem.evaluate(np.empty((0, problem.solution_dim)), np.empty(0, int))
    assert nothing.measures.shape == (0, len(problem.measure_ranges))
    assert evaluations.objectives.shape == evaluations.diverged.shape == evaluations.steps.shape == (7,)
    assert evaluations.measures.shape == (7, len(problem.measure_ranges))
    assert evaluations.diverged.dtype == bool
    assert not evaluations.diverged.any()
    assert (evaluations.steps > 0).all()
    assert len(np.unique(evaluations.objectives)) == 7


def test_the_rest_of_the_batch_does_not_matter(problem: Problem) -> None:
    """To the last bit: neither which solutions are evaluated with one, nor where it stands among them."""
    solutions, seeds = solutions_of(problem, 45), np.arange(45)
    everything = problem.evaluate(solutions, seeds)
    order = np.random.default_rng(0).permutation(45)
    assert_equal(problem.evaluate(solutions[order], seeds[order]), everything, order)
    for row in range(0, 45, 4):
        assert_equal(problem.evaluate(solutions[[row]], seeds[[row]]), everything, [row])


def test_wrong_solutions_are_refused(problem: Problem) -> None:
    solutions, seeds = solutions_of(problem, 5), np.arange(5)
    with pytest.raises(InvalidValueError, match=r"must have shape .*\(5, 1\)$"):
        problem.evaluate(solutions[:, :1], seeds)
    with pytest.raises(InvalidValueError, match="must have shape"):
        problem.evaluate(solutions[0], seeds)
    for value in (np.nan, np.inf, -np.inf):
        solutions[[1, 3], -1] = value
        with pytest.raises(InvalidValueError, match=r"must be finite.* not at .*1, 3\]?$"):
            problem.evaluate(solutions, seeds)


def test_observations_are_summed_if_requested_and_there_are_any(problem: Problem) -> None:
    solutions, seeds = solutions_of(problem, 2), np.arange(2)
    request = Request(observed=np.array([True, False]))
    if problem.normaliser is None:
        refusal = f"^observations were requested, but {problem.name} has no observations$"
        with pytest.raises(InvalidValueError, match=refusal):
            problem.evaluate(solutions, seeds, request=request)
    else:
        assert problem.evaluate(solutions, seeds, request=request).moments.count > 0


def test_transitions_are_told_if_asked_for_and_there_are_any(problem: Problem) -> None:
    solutions, seeds = solutions_of(problem, 3), np.arange(3)
    request = Request(transitions=True)
    if not problem.policy_layers:
        refusal = f"^transitions were requested, but {problem.name} has no transitions$"
        with pytest.raises(InvalidValueError, match=refusal):
            problem.evaluate(solutions, seeds, request=request)
        return
    plain, found = problem.evaluate(solutions, seeds), problem.evaluate(solutions, seeds, request=request)
    assert plain.transitions is None
    assert_equal(found, plain)
    columns = TransitionColumns(problem.policy_layers[0], problem.policy_layers[-1])
    for rows, steps, objective in zip(found.transitions, found.steps, found.objectives, strict=True):
        assert (rows.shape, rows.dtype) == ((steps, columns.count), np.float32)
        assert rows[:, columns.reward].sum() == pytest.approx(objective, rel=1e-5)


@pytest.mark.parametrize(
    "name",
    ["", "sphere", "sphere-", "sphere-x", "sphere--3", "sphere-1.5", "sphere-٣", "ball-3", "maze-3", "Maze"],
)
def test_unknown_names_are_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown problem .*; available: arm-N, maze, sphere-N$"):
        make_problem(name)


@pytest.mark.parametrize("name", ["sphere-1", "arm-1", "arm-1000001", "sphere-999999999999999999999"])
def test_impossible_dimensions_are_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match=r"dim of the (sphere|arm) must be a whole number from 2 to "):
        make_problem(name)

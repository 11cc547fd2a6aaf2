import math

import numpy as np
import pytest

from repertoire.problems.arm import Arm
from repertoire.problems.problem import Request
from robots.errors import InvalidValueError


def published(solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Objectives and measures as they are defined, in float64."""
    x = solutions.astype(np.float64)
    angles = np.cumsum(x, axis=1)
    measures = np.stack([np.cos(angles).sum(axis=1), np.sin(angles).sum(axis=1)], axis=1)
    return 100 * (1 - np.var(x, axis=1)), measures


def evaluate(solutions: np.ndarray):
    return Arm(solutions.shape[1]).evaluate(solutions, np.zeros(len(solutions), int))


@pytest.mark.parametrize("dim", [2, 3, 7, 16, 100, 1000])
@pytest.mark.parametrize("scale", [0.02, 1.0, 100.0])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
def test_the_published_definition(dim: int, scale: float, count: int) -> None:
    solutions = np.random.default_rng(dim).normal(0, scale, (count, dim)).astype(np.float32)
    evaluations = evaluate(solutions)
    objectives, measures = published(solutions)
    np.testing.assert_allclose(evaluations.objectives, objectives, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(evaluations.measures, measures, rtol=0, atol=1e-11)


def test_variance_does_not_cancel() -> None:
    """The mean is far larger than the deviations from it."""
    solutions = (1000 + np.random.default_rng(0).uniform(-0.01, 0.01, (3, 100))).astype(np.float32)
    np.testing.assert_allclose(evaluate(solutions).objectives, published(solutions)[0], rtol=1e-12)


def test_simple_poses() -> None:
    right = math.pi / 2
    solutions = np.array(
        [[0, 0, 0, 0], [right, 0, 0, 0], [right, right, right, right], [-right, 0, right, 0]]
    )
    evaluations = evaluate(solutions)
    np.testing.assert_allclose(evaluations.measures, [[4, 0], [0, 4], [0, 0], [2, -2]], atol=1e-6)
    np.testing.assert_allclose(evaluations.objectives[[0, 2]], 100, atol=1e-10)
    assert evaluations.objectives[1] == pytest.approx(100 - 100 * 3 / 16 * right**2, abs=1e-4)


def test_settings_of_the_paper() -> None:
    arm = Arm(1000)
    assert arm.name == "arm-1000"
    assert arm.measure_ranges == ((-1000.0, 1000.0), (-1000.0, 1000.0))
    assert (arm.learning_rate, arm.min_objective, arm.archive) == (0.001, 0.0, (100, 100))
    assert not arm.initial(np.random.default_rng(0)).any()


@pytest.mark.parametrize("dim", [-1, 0, 1, 1_000_001])
def test_wrong_dimensions_are_refused(dim: int) -> None:
    with pytest.raises(InvalidValueError, match=f"arm must have 2 to 1,000,000 parameters, not {dim:,}$"):
        Arm(dim)


@pytest.mark.parametrize("dim", [2, 3, 7, 100])
@pytest.mark.parametrize("scale", [0.02, 1.0])
def test_gradients_equal_finite_differences(dim: int, scale: float) -> None:
    solutions = np.random.default_rng(dim).normal(0, scale, (5, dim)).astype(np.float32)
    problem, step = Arm(dim), 1e-5
    found = problem.evaluate(solutions, np.zeros(5, int), request=Request(gradients=True)).gradients
    for j in range(dim):
        moved = step * np.eye(dim)[j]
        ahead, behind = published(solutions + moved), published(solutions - moved)
        objectives, measures = ((a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True))
        np.testing.assert_allclose(found[:, 0, j], objectives, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[:, 1:, j], measures, rtol=1e-5, atol=1e-6)

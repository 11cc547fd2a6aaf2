import numpy as np
import pytest

from repertoire.problems.problem import Request
from repertoire.problems.sphere import Sphere
from robots.errors import InvalidValueError


def published(solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Objectives and measures as they are defined, in float64."""
    x = solutions.astype(np.float64)
    n = x.shape[1]
    objectives = 100 * (1 - np.sum((x - 2.048) ** 2, axis=1) / (7.168**2 * n))
    with np.errstate(divide="ignore"):
        folded = np.where(np.abs(x) > 5.12, 5.12 / x, x)
    measures = np.stack([folded[:, : n // 2].sum(axis=1), folded[:, n // 2 :].sum(axis=1)], axis=1)
    return objectives, measures


def evaluate(solutions: np.ndarray):
    return Sphere(solutions.shape[1]).evaluate(solutions, np.zeros(len(solutions), int))


@pytest.mark.parametrize("dim", [2, 3, 7, 16, 100, 1000])
@pytest.mark.parametrize("scale", [0.02, 4.0, 1e6])
def test_the_published_definition(dim: int, scale: float) -> None:
    solutions = np.random.default_rng(dim).normal(0, scale, (9, dim)).astype(np.float32)
    evaluations = evaluate(solutions)
    objectives, measures = published(solutions)
    np.testing.assert_allclose(evaluations.objectives, objectives, rtol=1e-13, atol=1e-11)
    np.testing.assert_allclose(evaluations.measures, measures, rtol=0, atol=2.4e-7 * dim / 2)


def test_the_optimum_the_farthest_corner_and_beyond() -> None:
    solutions = np.array([[2.048] * 10, [-5.12] * 10, [-6.0] * 10], np.float32)
    best, corner, beyond = evaluate(solutions).objectives
    assert best == pytest.approx(100, abs=1e-10)
    assert corner == pytest.approx(0, abs=1e-5)
    assert beyond < -10


def test_coordinates_outside_the_bounds_are_folded_back() -> None:
    edge = np.float32(5.12)
    coordinates = np.array(
        [5.0, edge, np.nextafter(edge, np.float32(6)), 10.24, -51.2, 3e38, 0.0], np.float32
    )
    solutions = np.stack([coordinates, np.zeros(7, np.float32)], axis=1)
    measures = evaluate(solutions).measures
    np.testing.assert_allclose(measures[:, 0], [5.0, 5.12, 1.0, 0.5, -0.1, 0.0, 0.0], atol=2.4e-7)
    assert not measures[:, 1].any()


@pytest.mark.parametrize("dim", [2, 5, 100])
def test_the_ranges_are_reached_and_not_left(dim: int) -> None:
    sphere = Sphere(dim)
    lows, highs = np.array(sphere.measure_ranges).T
    corners = np.array([[-5.12] * dim, [5.12] * dim], np.float32)
    np.testing.assert_allclose(evaluate(corners).measures, [lows, highs], rtol=1e-6)
    wild = np.random.default_rng(0).standard_cauchy((1000, dim)).astype(np.float32) * 5
    measures = evaluate(wild).measures
    assert (measures >= lows * (1 + 1e-6)).all()
    assert (measures <= highs * (1 + 1e-6)).all()


def test_of_an_odd_number_the_second_half_is_larger() -> None:
    assert Sphere(3).measure_ranges == ((-5.12, 5.12), (-10.24, 10.24))
    assert evaluate(np.array([[1.0, 2.0, 4.0]])).measures.tolist() == [[1.0, 6.0]]


def test_settings_of_the_paper() -> None:
    sphere = Sphere(100)
    assert sphere.name == "sphere-100"
    assert sphere.measure_ranges == ((-256.0, 256.0), (-256.0, 256.0))
    assert (sphere.learning_rate, sphere.min_objective, sphere.archive) == (0.001, 0.0, (100, 100))
    assert not sphere.initial(np.random.default_rng(0)).any()


@pytest.mark.parametrize("dim", [-1, 0, 1, 1_000_001])
def test_wrong_dimensions_are_refused(dim: int) -> None:
    with pytest.raises(InvalidValueError, match=f"sphere must have 2 to 1,000,000 parameters, not {dim:,}$"):
        Sphere(dim)


@pytest.mark.parametrize("dim", [2, 3, 7, 100])
@pytest.mark.parametrize("scale", [0.02, 8.0])
def test_gradients_equal_finite_differences(dim: int, scale: float) -> None:
    solutions = np.random.default_rng(dim).normal(0, scale, (5, dim)).astype(np.float32)
    problem, step = Sphere(dim), 1e-5
    found = problem.evaluate(solutions, np.zeros(5, int), request=Request(gradients=True)).gradients
    for j in range(dim):
        moved = step * np.eye(dim)[j]
        ahead, behind = published(solutions + moved), published(solutions - moved)
        objectives, measures = ((a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True))
        np.testing.assert_allclose(found[:, 0, j], objectives, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[:, 1:, j], measures, rtol=1e-5, atol=1e-6)

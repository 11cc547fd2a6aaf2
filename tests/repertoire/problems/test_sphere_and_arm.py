"""The sphere and the arm against their published definitions."""

import math

import numpy as np
import pytest

from repertoire.problems.benchmarks import cosine_ratio, cosine_sine, tanh
from repertoire.problems.catalogue import make_problem
from robots.evaluations import Evaluations


def sphere(solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Objectives and measures as they are defined, in float64."""
    x = solutions.astype(np.float64)
    n = x.shape[1]
    objectives = 100 * (1 - np.sum((x - 2.048) ** 2, axis=1) / (7.168**2 * n))
    with np.errstate(divide="ignore"):
        folded = np.where(np.abs(x) > 5.12, 5.12 / x, x)
    measures = np.stack([folded[:, : n // 2].sum(axis=1), folded[:, n // 2 :].sum(axis=1)], axis=1)
    return objectives, measures


def arm(solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of the arm."""
    x = solutions.astype(np.float64)
    angles = np.cumsum(x, axis=1)
    measures = np.stack([np.cos(angles).sum(axis=1), np.sin(angles).sum(axis=1)], axis=1)
    return 100 * (1 - np.var(x, axis=1)), measures


DIMS = pytest.mark.parametrize("dim", [2, 3, 7, 16, 100, 1000])


def evaluate(name: str, solutions: np.ndarray) -> Evaluations:
    problem = make_problem(f"{name}-{solutions.shape[1]}")
    return problem.evaluate(solutions, np.zeros(len(solutions), int))


@DIMS
@pytest.mark.parametrize("scale", [0.02, 4.0, 1e6])
def test_the_sphere_is_the_published_one(dim: int, scale: float) -> None:
    solutions = np.random.default_rng(dim).normal(0, scale, (9, dim)).astype(np.float32)
    evaluations, (objectives, measures) = evaluate("sphere", solutions), sphere(solutions)
    np.testing.assert_allclose(evaluations.objectives, objectives, rtol=1e-13, atol=1e-11)
    np.testing.assert_allclose(evaluations.measures, measures, rtol=0, atol=2.4e-7 * dim / 2)


@DIMS
@pytest.mark.parametrize("scale", [0.02, 1.0, 100.0])
@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_the_arm_is_the_published_one(dim: int, scale: float, count: int) -> None:
    solutions = np.random.default_rng(dim).normal(0, scale, (count, dim)).astype(np.float32)
    evaluations, (objectives, measures) = evaluate("arm", solutions), arm(solutions)
    np.testing.assert_allclose(evaluations.objectives, objectives, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(evaluations.measures, measures, rtol=0, atol=1e-11)


def test_coordinates_outside_the_bounds_are_folded_back() -> None:
    edge = np.float32(5.12)
    coordinates = [5.0, edge, np.nextafter(edge, np.float32(6)), 10.24, -51.2, 9e29, 0.0]
    solutions = np.stack([np.array(coordinates, np.float32), np.zeros(7, np.float32)], axis=1)
    measures = evaluate("sphere", solutions).measures
    np.testing.assert_allclose(measures[:, 0], [5.0, 5.12, 1.0, 0.5, -0.1, 0.0, 0.0], atol=2.4e-7)
    assert not measures[:, 1].any()


def test_variance_of_angles_does_not_cancel() -> None:
    """The mean is far larger than the deviations from it."""
    solutions = (1000 + np.random.default_rng(0).uniform(-0.01, 0.01, (3, 100))).astype(np.float32)
    np.testing.assert_allclose(evaluate("arm", solutions).objectives, arm(solutions)[0], rtol=1e-12)


@pytest.mark.parametrize("largest", [0.1, math.pi, 1e4, 6e6])
def test_cosine_and_sine(largest: float) -> None:
    angles = np.random.default_rng(0).uniform(-largest, largest, 20_000)
    values = np.array([cosine_sine(angle) for angle in angles])
    assert np.abs(values - np.stack([np.cos(angles), np.sin(angles)], axis=1)).max() < 3e-14


def test_cosine_and_ratio() -> None:
    angles = np.linspace(0, math.pi, 20_001)
    values = np.array([cosine_ratio(angle**2) for angle in angles])
    assert np.abs(values - np.stack([np.cos(angles), np.sinc(angles / math.pi)], axis=1)).max() < 3e-14


def test_hyperbolic_tangent() -> None:
    x = np.concatenate([np.linspace(-25, 25, 20_001), np.geomspace(1e-12, 1e30, 1001), [0, np.inf, -np.inf]])
    assert np.abs(np.array([tanh(value) for value in x]) - np.tanh(x)).max() < 1e-14

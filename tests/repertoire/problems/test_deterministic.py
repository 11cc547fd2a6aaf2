import math

import numpy as np
import pytest

from repertoire.problems.deterministic import cosine_ratio, cosine_sine, tanh


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
    x = np.concatenate(
        [np.linspace(-25, 25, 20_001), np.geomspace(1e-12, 1e30, 1001), [0.0, math.inf, -math.inf]]
    )
    assert np.abs(np.array([tanh(value) for value in x]) - np.tanh(x)).max() < 1e-14


def test_exact_at_zero() -> None:
    assert cosine_sine(0.0) == (1, 0)
    assert cosine_ratio(0.0) == (1, 1)
    assert tanh(0.0) == 0

"""The maze: compared with Kheperax itself, and with what is known of it.

`kheperax.npz` holds the fitness and final positions that kheperax 0.2.0 gives in float64 for 1,000
controllers: episodes of 250 steps, hidden layers of 8 and 8 units, and no controller so chaotic that a start
1e-9 further left ends elsewhere. Half are random, half descend from those that ended in different places.
"""

from pathlib import Path

import numpy as np
import pytest

from repertoire.problems.maze import Maze

KHEPERAX = Path(__file__).with_name("kheperax.npz")
MAZE = Maze()
_BIASES = slice(136, 138)  # of the wheels


@pytest.fixture(scope="module")
def kheperax() -> dict[str, np.ndarray]:
    with np.load(KHEPERAX) as file:
        return dict(file)


def evaluate(controllers: np.ndarray):
    return MAZE.evaluate(controllers, np.zeros(len(controllers), int))


def steady(left: float, right: float) -> np.ndarray:
    """The controller whose wheels always move that much of their most."""
    controller = np.zeros((1, 138))
    controller[0, _BIASES] = np.arctanh([left, right])
    return controller


def test_kheperax_says_the_same(kheperax: dict[str, np.ndarray]) -> None:
    evaluations = evaluate(kheperax["controllers"])
    fitness = (evaluations.objectives / 100 - 1) / 2
    assert len(fitness) == 1000
    assert np.abs(evaluations.measures - kheperax["positions"]).max() < 1e-4
    assert np.abs(fitness - kheperax["fitness"]).max() < 1e-4


@pytest.mark.parametrize(
    ("wheels", "objective", "position"),
    [
        ((0.0, 0.0), 100.0, (0.15, 0.15)),
        ((0.04, 0.04), 100 - 200 * 250 * 2 * 0.001**2, (0.15, 0.15 + 249 * 0.001)),  # before the last step
        ((-0.99999999, 0.99999999), 37.5, (0.15, 0.15)),  # on the spot, at full speed
    ],
)
def test_simple_ways(wheels: tuple[float, float], objective: float, position: tuple[float, float]) -> None:
    evaluations = evaluate(steady(*wheels))
    assert evaluations.objectives[0] == pytest.approx(objective, abs=1e-4)
    np.testing.assert_allclose(evaluations.measures, [position], atol=1e-8)
    assert evaluations.steps[0] == 250
    np.testing.assert_array_equal(MAZE.trajectories(steady(*wheels))[:, -1], evaluations.measures)


def test_the_initial_network_is_lecun_uniform() -> None:
    rng = np.random.default_rng(0)
    initial = np.stack([MAZE.initial(rng) for _ in range(2000)])
    assert not initial[:, [*range(40, 48), *range(112, 120), 136, 137]].any(), "biases"
    for weights, inputs in ((slice(0, 40), 5), (slice(48, 112), 8), (slice(120, 136), 8)):
        assert initial[:, weights].var() == pytest.approx(1 / inputs, rel=0.05)
        assert np.abs(initial[:, weights]).max() == pytest.approx(np.sqrt(3 / inputs), rel=1e-3)

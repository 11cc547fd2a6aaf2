"""The maze: compared with Kheperax itself, with plain NumPy, and with what is known of it."""

from pathlib import Path

import maze_reference
import numpy as np
import pytest

from repertoire.problems.maze import SLOTS, Maze, feel, look

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
    """Of 1,000 controllers; see `make_kheperax_fixture.py`."""
    evaluations = evaluate(kheperax["controllers"])
    fitness = (evaluations.objectives / 100 - 1) / 2
    assert len(fitness) == 1000
    assert np.abs(evaluations.measures - kheperax["positions"]).max() < 1e-4
    assert np.abs(fitness - kheperax["fitness"]).max() < 1e-4


def test_stepping_on_to_the_end_gives_the_same(kheperax: dict[str, np.ndarray]) -> None:
    """The reference does all 250 steps, ours end two after the contact with a wall."""
    controllers = kheperax["controllers"][::5]
    paths, energies = maze_reference.episodes(controllers)
    evaluations = evaluate(controllers)
    np.testing.assert_allclose(evaluations.objectives, 100 - 200 * energies, rtol=0, atol=1e-6)
    np.testing.assert_allclose(evaluations.measures, paths[:, -1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(MAZE.trajectories(controllers), paths, rtol=0, atol=1e-8)
    moves = (np.diff(paths, axis=1) != 0).any(axis=2)
    last = 249 - np.argmax(moves[:, ::-1], axis=1)  # index of the last place that a robot came to
    hit = np.linalg.norm(maze_reference.to_walls(paths[:, -1]), axis=-1).min(axis=1) <= 0.015
    assert hit.sum() > 20
    assert np.array_equal(evaluations.steps[hit], np.minimum(last[hit] + 2, 250))
    assert (evaluations.steps[~hit] == 250).all()


@pytest.mark.parametrize("bumper", [3, 4])
def test_bumpers_count_from_the_step_after_contact(bumper: int) -> None:
    """A pressed bumper stops wheels that else drive ahead: one step of contact is paid, the rest is free."""
    controller = np.zeros((1, 138))
    controller[0, bumper * 8] = -1.0  # to unit 0 of the first hidden layer: 1 unless pressed
    controller[0, 48] = 1.0  # on to unit 0 of the second
    controller[0, 120:122] = np.arctanh([0.96, 0.97])  # and to both wheels
    evaluations, path = evaluate(controller), MAZE.trajectories(controller)[0]
    steps = int(np.argmax((path == path[-1]).all(axis=1))) + 1
    right, left = maze_reference.bumpers(
        path[-1:], np.full(1, np.pi / 2 + (steps - 1) * 0.01 / 0.03 * 0.025)
    )[0]
    pays = steps if (right, left)[bumper - 3] == 1 else 250
    assert evaluations.objectives[0] == pytest.approx(
        100 - 200 * pays * 0.025**2 * (0.96**2 + 0.97**2), abs=1e-4
    )


def test_what_a_robot_sees_from_anywhere() -> None:
    rng = np.random.default_rng(0)
    inputs, gap2 = np.zeros(8 * SLOTS), np.zeros(SLOTS)
    for _ in range(100):
        positions, headings = rng.uniform(-0.01, 1.01, (SLOTS, 2)), rng.uniform(-np.pi, np.pi, SLOTS)
        look(np.concatenate([*positions.T, np.cos(headings), np.sin(headings)]), inputs, gap2)
        expected = maze_reference.lasers(positions, headings).T
        np.testing.assert_allclose(inputs.reshape(8, SLOTS)[:3], expected, rtol=0, atol=1e-10)
        gaps = np.linalg.norm(maze_reference.to_walls(positions), axis=-1).min(axis=1)
        np.testing.assert_allclose(np.sqrt(gap2), gaps, rtol=0, atol=1e-12)


def test_what_a_robot_feels_near_walls() -> None:
    rng = np.random.default_rng(0)
    a, b = MAZE.walls[rng.integers(len(MAZE.walls), size=2000)].swapaxes(0, 1)
    positions = a + rng.uniform(0, 1, (2000, 1)) * (b - a) + rng.uniform(-0.02, 0.02, (2000, 2))
    headings = rng.uniform(-np.pi, np.pi, 2000)
    expected = maze_reference.bumpers(positions, headings)
    poses = zip(*positions.T, np.cos(headings), np.sin(headings), strict=True)
    assert np.array_equal([feel(*pose) for pose in poses], expected)
    assert len(np.unique(expected, axis=0)) == 4


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


def test_the_initial_network_is_lecun_uniform() -> None:
    rng = np.random.default_rng(0)
    initial = np.stack([MAZE.initial(rng) for _ in range(2000)])
    assert not initial[:, [*range(40, 48), *range(112, 120), 136, 137]].any(), "biases"
    for weights, inputs in ((slice(0, 40), 5), (slice(48, 112), 8), (slice(120, 136), 8)):
        assert initial[:, weights].var() == pytest.approx(1 / inputs, rel=0.05)
        assert np.abs(initial[:, weights]).max() == pytest.approx(np.sqrt(3 / inputs), rel=1e-3)

"""TD3 with its networks, Adam and replay buffer, against finite differences and publications."""

import itertools

import numpy as np
import pytest
from search_tools import generator

from repertoire.emitters.pga_me import PGAMESettings
from repertoire.networks.td3 import TD3, Adam, Network, ReplayBuffer
from robots.controllers.mlp import MLP

LAYERS = (4, 7, 2)  # 4 observations, 2 actions
COLUMNS = 2 * 4 + 2 + 3
RNG = np.random.default_rng(0)


def learner(*, time_limit: str = "terminal", critic_updates: int = 300, **options) -> TD3:
    settings = PGAMESettings(buffer_size=2000, time_limit=time_limit, critic_updates=critic_updates)
    return TD3(settings, LAYERS, generator(1), critic_units=(9, 8), dtype=np.float64, **options)


def random_rows(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, COLUMNS)).astype(np.float32)
    rows[:, 4:6] = np.tanh(rows[:, 4:6])
    rows[:, -2] = rng.random(count) < 0.2
    rows[:, -1] = np.maximum(rows[:, -2], rng.random(count) < 0.2)
    return rows


def layer(x, parameters, sizes, hidden, output):
    """A network, written out."""
    for number, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
        weights, parameters = np.split(parameters, [inputs * outputs])
        biases, parameters = np.split(parameters, [outputs])
        x = x @ weights.reshape(inputs, outputs) + biases
        x = (output if number == len(sizes) - 2 else hidden)(x)
    return x


def act(x: np.ndarray, actor: np.ndarray) -> np.ndarray:
    return layer(x, actor, LAYERS, np.tanh, np.tanh)


def value(x: np.ndarray, action: np.ndarray, critic: np.ndarray) -> np.ndarray:
    pairs = np.concatenate([x, action], axis=1)
    return layer(pairs, critic, (6, 9, 8, 1), lambda sums: np.maximum(sums, 0), lambda sums: sums)[:, 0]


def goals(state: dict[str, np.ndarray], rows: np.ndarray, noise: np.ndarray, end: int) -> np.ndarray:
    """Fujimoto et al. 2018, Algorithm 1: what the critics of a state should say of transitions."""
    following = rows[:, 6:10]
    action = np.clip(act(following, state["target_actor"]) + np.clip(0.2 * noise, -0.5, 0.5), -1, 1)
    least = np.minimum(*(value(following, action, critic) for critic in state["target_critics"]))
    return rows[:, 10] + 0.99 * (1 - rows[:, end]) * least


def slope(function, at: np.ndarray, index: tuple[int, ...]) -> float:
    step = np.zeros_like(at)
    step[index] = 1e-6
    return (function(at + step) - function(at - step)) / 2e-6


@pytest.mark.parametrize(("time_limit", "end"), [("terminal", -1), ("bootstrapped", -2)])
def test_gradients_are_those_of_finite_differences(time_limit, end):
    td3, twin = learner(time_limit=time_limit, critic_updates=30), learner()
    td3.add([random_rows(300)], 1)
    td3.train()  # so that targets are not what they track
    state, rows = td3.state(), random_rows(40, seed=1)
    twin.restore(state)
    noise = twin._rng.standard_normal((40, 2))
    wanted, critics = goals(state, rows, noise, end), state["critics/parameters"]

    def fit(critics: np.ndarray) -> float:
        errors = [((value(rows[:, :4], rows[:, 4:6], critic) - wanted) ** 2).mean() for critic in critics]
        return -sum(errors)

    def worth(actor: np.ndarray) -> float:
        return float(value(rows[:, :4], act(rows[:, :4], actor), critics[0]).mean())

    for gradient, function, at in (
        (td3._critic_gradient(rows), fit, critics),
        (td3._policy_gradient(td3.actor, rows), worth, td3.actor.copy()),
    ):
        assert gradient.shape == at.shape
        for index in np.ndindex(at.shape):
            assert gradient[index] == pytest.approx(slope(function, at, index), abs=1e-6)


def test_targets_follow_what_they_track_at_every_second_update():
    td3 = learner(critic_updates=2)
    td3.add([random_rows(300)], 1)
    before = td3.state()
    td3.train()
    after = td3.state()
    for target, tracked in (("target_actor", "actor/parameters"), ("target_critics", "critics/parameters")):
        step = after[target] - before[target]
        np.testing.assert_allclose(step, 0.005 * (after[tracked] - before[target]), atol=1e-12)
        assert step.any()


def test_a_solution_climbs_the_critic_and_the_objectives_gradient_points_up():
    td3 = learner(critic_updates=100, samples=1000)
    td3.add([random_rows(1000)], 1)
    td3.train()
    seen, critic = random_rows(1000)[:, :4], td3.state()["critics/parameters"][0]
    solution = Network(LAYERS, "tanh", "tanh").initial(np.random.default_rng(5))

    def worth(solution: np.ndarray) -> float:
        return value(seen, act(seen, solution), critic).mean()

    steps = [worth(td3.improved(solution, count)) for count in (0, 10, 100)]
    assert steps == sorted(steps)
    assert steps[0] == worth(solution)
    gradient = td3.gradient(solution)
    assert worth(solution + 0.01 * gradient / np.linalg.norm(gradient)) > steps[0]
    assert not learner().gradient(solution).any(), "there is nothing to tell a direction from"


def test_the_buffer_keeps_the_latest_in_order():
    buffer, rows = ReplayBuffer(10, 2), np.arange(70, dtype=np.float32).reshape(35, 2)
    expected: list[float] = []
    for part in np.split(rows, [4, 4, 9, 11, 34]):  # none, past the end, more than there is room for
        buffer.add(part)
        expected = [*expected, *part[:, 0]][-10:]
        assert len(buffer) == len(expected)
        assert sorted(buffer.state()["transitions"][:, 0]) == expected
    drawn = buffer.sample(10_000, generator(1))[:, 0]
    assert np.array_equal(drawn, buffer.sample(10_000, generator(1))[:, 0])
    counts = np.array([np.count_nonzero(drawn == value) for value in expected])
    assert counts.sum() == 10_000
    assert (abs(counts - 1000) < 150).all()


def test_parameters_mean_to_a_controller_what_they_mean_to_a_network():
    controller = MLP((5, 16, 8, 3))
    network = Network(controller.layers, "tanh", "tanh")
    parameters, inputs = controller.initial(RNG), RNG.normal(size=(9, 5)).astype(np.float32)
    outputs = network.forward(parameters, inputs)[-1]
    assert outputs.dtype == np.float32
    for row, expected in zip(inputs, outputs, strict=True):
        np.testing.assert_allclose(controller.act(parameters, row, 0), expected, atol=2e-6)


def test_adam_follows_its_publication():
    """Kingma & Ba 2015, Algorithm 1, one parameter at a time."""
    gradients, start = RNG.normal(size=(20, 6)), RNG.normal(size=6)
    adam = Adam(start.copy(), 0.01)
    for gradient in gradients:
        adam.climb(gradient)
    for j in range(6):
        m, v, x = 0.0, 0.0, start[j]
        for t, g in enumerate(-gradients[:, j], start=1):
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            x -= 0.01 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)) ** 0.5 + 1e-8)
        assert adam.parameters[j] == pytest.approx(x, rel=1e-12)

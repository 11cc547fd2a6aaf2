"""TD3: its gradients, its replay buffer, agreement with PyTorch, and a pendulum that it swings up."""

import itertools
from typing import Any

import numpy as np
import pytest
from search_tools import assert_same_state, generator

from repertoire.emitters.pga_me import PGAMESettings
from repertoire.execution.resources import one_blas_thread
from repertoire.networks.network import Network
from repertoire.networks.td3 import BATCH, TD3, ReplayBuffer

LAYERS = (4, 7, 2)  # 4 observations, 2 actions
COLUMNS = 2 * 4 + 2 + 3


def learner(seed: int = 1, layers: tuple[int, ...] = LAYERS, **options: Any) -> TD3:
    names = [name for name in options if name in PGAMESettings.model_fields]
    settings = PGAMESettings(**{"buffer_size": 2000, **{name: options.pop(name) for name in names}})
    given = {"critic_units": (9, 8), "dtype": np.float64, **options}
    return TD3(settings, layers, generator(seed), **given)


def random_rows(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, COLUMNS)).astype(np.float32)
    rows[:, 4:6] = np.tanh(rows[:, 4:6])
    rows[:, -2] = rng.random(count) < 0.2
    rows[:, -1] = np.maximum(rows[:, -2], rng.random(count) < 0.2)
    return rows


def layer(
    x: np.ndarray, parameters: np.ndarray, sizes: tuple[int, ...], hidden: Any, output: Any
) -> np.ndarray:
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


def slope(function: Any, at: np.ndarray, index: tuple[int, ...]) -> float:
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


def test_fifty_updates_agree_with_those_of_pytorch():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    td3, twin = learner(critic_updates=50), learner(critic_updates=50)
    rows = random_rows(500)
    td3.add([rows], 1)
    twin.add([rows], 1)
    state = twin.state()

    def module(parameters: np.ndarray, sizes: tuple[int, ...], hidden: type, output: Any) -> Any:
        parts, rest = [], parameters
        for inputs, outputs in itertools.pairwise(sizes):
            linear = torch.nn.Linear(inputs, outputs, dtype=torch.float64)
            weights, biases, rest = np.split(rest, [inputs * outputs, (inputs + 1) * outputs])
            linear.weight.data = torch.tensor(weights.reshape(inputs, outputs).T.copy())
            linear.bias.data = torch.tensor(biases)
            parts += [linear, hidden()]
        return torch.nn.Sequential(*parts[:-1], output())

    def actor_of(parameters: np.ndarray) -> Any:
        return module(parameters, LAYERS, torch.nn.Tanh, torch.nn.Tanh)

    def critics_of(several: np.ndarray) -> Any:
        made = [module(one, (6, 9, 8, 1), torch.nn.ReLU, torch.nn.Identity) for one in several]
        return torch.nn.ModuleList(made)

    actor, target_actor = actor_of(state["actor/parameters"]), actor_of(state["target_actor"])
    critics, targets = critics_of(state["critics/parameters"]), critics_of(state["target_critics"])
    climb = torch.optim.Adam(actor.parameters(), lr=3e-4)
    fit = torch.optim.Adam(critics.parameters(), lr=3e-4)
    for update in range(1, 51):
        batch = torch.tensor(rows[twin._rng.integers(500, size=BATCH)], dtype=torch.float64)
        seen, pairs, following = batch[:, :4], batch[:, :6], batch[:, 6:10]
        noise = (0.2 * torch.tensor(twin._rng.standard_normal((BATCH, 2)))).clamp(-0.5, 0.5)
        with torch.no_grad():
            action = (target_actor(following) + noise).clamp(-1, 1)
            least = torch.minimum(*(critic(torch.cat([following, action], 1)) for critic in targets))
            wanted = batch[:, 10:11] + 0.99 * (1 - batch[:, -1:]) * least
        loss = sum(torch.nn.functional.mse_loss(critic(pairs), wanted) for critic in critics)
        fit.zero_grad()
        loss.backward()
        fit.step()
        if update % 2 == 0:
            loss = -critics[0](torch.cat([seen, actor(seen)], 1)).mean()
            climb.zero_grad()
            loss.backward()
            climb.step()
            for slow, fast in ((target_actor, actor), (targets, critics)):
                for one, other in zip(slow.parameters(), fast.parameters(), strict=True):
                    one.data += 0.005 * (other.data - one.data)

    def flat(module: Any) -> np.ndarray:
        parts = [
            part.detach().numpy()
            for name, part in module.named_parameters()
            if name.endswith(("weight", "bias"))
        ]
        return np.concatenate([part.T.reshape(-1) for part in parts])

    td3.train()
    learned = td3.state()
    for name, module in (("actor/parameters", actor), ("target_actor", target_actor)):
        np.testing.assert_allclose(learned[name], flat(module), rtol=1e-9, atol=1e-9)
    for name, twins in (("critics/parameters", critics), ("target_critics", targets)):
        for row, one in zip(learned[name], twins, strict=True):
            np.testing.assert_allclose(row, flat(one), rtol=1e-9, atol=1e-9)
    assert abs(learned["actor/parameters"] - state["actor/parameters"]).max() > 1e-3


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


def test_it_goes_on_bit_for_bit_where_a_state_was_taken():
    td3 = learner(critic_updates=7, dtype=np.float32)
    for seed in range(5):
        td3.add([random_rows(500, seed)], 1)  # the buffer holds 2000
        td3.train()
    resumed = learner(seed=9, critic_updates=7, dtype=np.float32)
    resumed.restore({name: array.copy() for name, array in td3.state().items()})
    for one in (td3, resumed):
        one.add([random_rows(300, 9)], 1)
        one.train()
    assert_same_state(resumed.state(), td3.state())


class Pendulums:
    """Pendulums to swing up and hold with too weak a motor; angles [rad] from upright."""

    def __init__(self, count: int, rng: np.random.Generator) -> None:
        self.angles, self.speeds = rng.uniform(-np.pi, np.pi, count), rng.uniform(-1, 1, count)

    def seen(self) -> np.ndarray:
        parts = (np.cos(self.angles), np.sin(self.angles), self.speeds / 8)
        return np.stack(parts, axis=1).astype(np.float32)

    def step(self, actions: np.ndarray) -> np.ndarray:
        """Returns the costs."""
        torques, off = 2 * actions, (self.angles + np.pi) % (2 * np.pi) - np.pi
        costs = off**2 + 0.1 * self.speeds**2 + 0.001 * torques**2
        self.speeds += (15 * np.sin(self.angles) + 3 * torques) * 0.05
        self.speeds = np.clip(self.speeds, -8, 8)
        self.angles = self.angles + self.speeds * 0.05
        return costs

    def episodes(self, policy: Any) -> tuple[np.ndarray, float]:
        """The transitions of 200 steps each, and the mean sum of costs."""
        rows, total = np.zeros((200, len(self.angles), 10), np.float32), 0.0
        for row in rows:
            row[:, :3] = self.seen()
            row[:, 3:4] = np.clip(policy(row[:, :3]), -1, 1)
            costs = self.step(row[:, 3])
            row[:, 4:7], row[:, 7] = self.seen(), -costs / 10
            total += costs.mean()
        rows[-1, :, -1] = 1
        return rows.swapaxes(0, 1), total


@pytest.mark.slow
def test_it_learns_to_swing_a_pendulum_up():
    """9,000 updates, of networks that are smaller than the paper's so as to take seconds."""
    layers, rng = (3, 32, 32, 1), np.random.default_rng(0)
    options = {"critic_units": (64, 64), "dtype": np.float32, "time_limit": "bootstrapped"}
    td3 = learner(0, layers, critic_updates=300, buffer_size=10_000, **options)
    actor = Network(layers, "tanh", "tanh")

    def greedy(seen: np.ndarray) -> np.ndarray:
        return actor.forward(td3.actor, seen)[-1]

    def exploring(seen: np.ndarray) -> np.ndarray:
        return greedy(seen) + 0.1 * rng.standard_normal((len(seen), 1))

    before = Pendulums(20, np.random.default_rng(1)).episodes(greedy)[1]
    with one_blas_thread():
        rows, _ = Pendulums(10, rng).episodes(lambda seen: rng.uniform(-1, 1, (len(seen), 1)))
        for _ in range(30):
            td3.add(rows, len(rows))
            td3.train()
            rows, _ = Pendulums(1, rng).episodes(exploring)
    after = Pendulums(20, np.random.default_rng(1)).episodes(greedy)[1]
    assert before > 900
    assert after < 400

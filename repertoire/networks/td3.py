"""TD3: twin critics and a greedy actor that learn from transitions; and the networks that they are.

Sources: S. Fujimoto, H. van Hoof, D. Meger, "Addressing Function Approximation Error in Actor-Critic
    Methods", ICML 2018, arXiv:1802.09477, Algorithm 1 (Fujimoto below), with the numbers of Tjanaka et
    al. 2023; D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from repertoire.state import nested, select
from repertoire.strategies.noise import generator_state, restore_generator
from robots.controllers.mlp import weight_count
from robots.errors import InvalidValueError
from robots.evaluations import TransitionColumns
from robots.files.records import Record

BATCH = 256  # transitions of an update
DISCOUNT = 0.99  # γ
TRACKING = 0.005  # τ, how far targets move towards what they track
DELAY = 2  # updates of the critics for each of the actor and the targets
NOISE, NOISE_LIMIT = 0.2, 0.5  # standard deviation and largest value of the noise of target actions
RATE = 3e-4  # of learning, of actor and critics
SOLUTION_RATE = 1e-3  # of solutions that climb the critic

Updates = Annotated[int, Field(gt=0, le=1_000_000, strict=True)]


class TD3Settings(Record):
    """Settings of what learns from transitions.

    Attributes:
        critic_updates: number of updates of the critics in each generation.
        buffer_size: transitions that the replay buffer holds, the latest ones.
        time_limit: what the critics take the end of an episode for that lasted as long as it may: `terminal`,
            an end after which no reward can come, as in the paper's code, or `bootstrapped`, a point beyond
            which they predict the rewards as ever.
    """

    critic_updates: Updates
    buffer_size: Annotated[int, Field(gt=0, le=10**12, strict=True)] = 1_000_000
    time_limit: Literal["terminal", "bootstrapped"] = "terminal"


Activation = Literal["tanh", "relu", "identity"]


@dataclass(frozen=True)
class Network:
    """A fully connected network, or several of them side by side.

    A parameter vector holds, layer by layer, the weights as an (inputs, outputs) matrix in row-major order
    and then the biases, as those of `robots.controllers.mlp.MLP` do. Where parameters are (k, p) there are k
    networks, and activations and slopes have a first axis of length k.
    """

    layers: tuple[int, ...]  # units of each layer, inputs first
    hidden: Activation  # activation of all layers but the last
    output: Activation  # activation of the last layer

    @property
    def parameter_count(self) -> int:
        """Length p of a parameter vector."""
        return weight_count(self.layers)

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Parameters uniform within 1 / √inputs of each layer, as PyTorch's are by default, (p,) float64."""
        pairs = itertools.pairwise(self.layers)
        return np.concatenate(
            [rng.uniform(-1, 1, (inputs + 1) * outputs) / np.sqrt(inputs) for inputs, outputs in pairs]
        )

    def forward(self, parameters: np.ndarray, inputs: np.ndarray) -> list[np.ndarray]:
        """Return the inputs, (n, inputs), then each layer's activations, (n, units) or (k, n, units)."""
        activations = [inputs]
        for layer, (weights, biases) in enumerate(self._matrices(parameters)):
            values = activations[-1] @ weights
            values += biases
            if self._kind(layer) == "tanh":
                np.tanh(values, out=values)
            elif self._kind(layer) == "relu":
                np.maximum(values, 0, out=values)
            activations.append(values)
        return activations

    def backward(
        self,
        parameters: np.ndarray,
        activations: Sequence[np.ndarray],
        slopes: np.ndarray,
        gradient: np.ndarray | None = None,
    ) -> np.ndarray:
        """Propagate slopes of a sum of functions of the outputs back to the inputs, of the shape of these.

        Args:
            parameters: (p,) or (k, p).
            activations: what `forward` returned for these.
            slopes: with respect to the outputs, of the shape of the last activations; overwritten.
            gradient: to be filled with the slopes with respect to the parameters, of their shape.
        """
        matrices = self._matrices(parameters)
        found = matrices if gradient is None else self._matrices(gradient)
        for layer in reversed(range(len(matrices))):
            values = activations[layer + 1]
            if self._kind(layer) == "tanh":
                slopes *= 1 - values * values
            elif self._kind(layer) == "relu":
                slopes *= values > 0
            if gradient is not None:
                np.matmul(activations[layer].swapaxes(-1, -2), slopes, out=found[layer][0])
                slopes.sum(axis=-2, keepdims=True, out=found[layer][1])
            slopes = slopes @ matrices[layer][0].swapaxes(-1, -2)
        return slopes

    def _kind(self, layer: int) -> Activation:
        return self.output if layer == len(self.layers) - 2 else self.hidden

    def _matrices(self, parameters: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Views of the weights (..., inputs, outputs) and biases (..., 1, outputs) of each layer."""
        start, found, several = 0, [], parameters.shape[:-1]
        for inputs, outputs in itertools.pairwise(self.layers):
            middle, end = start + inputs * outputs, start + (inputs + 1) * outputs
            weights = parameters[..., start:middle].reshape(*several, inputs, outputs)
            found.append((weights, parameters[..., middle:end].reshape(*several, 1, outputs)))
            start = end
        return found


class Adam:
    """Parameters that climb gradients (Kingma & Ba 2015, Algorithm 1, with its decay rates and epsilon)."""

    def __init__(self, parameters: np.ndarray, rate: float) -> None:
        self.parameters, self.steps = parameters, 0
        self._rate = rate
        self._first, self._second = np.zeros_like(parameters), np.zeros_like(parameters)

    def climb(self, gradient: np.ndarray) -> None:
        """Take a step up a gradient of the parameters' shape."""
        self.steps += 1
        self._first += 0.1 * (gradient - self._first)
        self._second += 0.001 * (gradient * gradient - self._second)
        spread = np.sqrt(self._second / (1 - 0.999**self.steps)) + 1e-8
        self.parameters += self._rate / (1 - 0.9**self.steps) * self._first / spread

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold."""
        vectors = {"parameters": self.parameters, "first": self._first, "second": self._second}
        return {**{name: value.copy() for name, value in vectors.items()}, "steps": np.array(self.steps)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `state` returned."""
        self.parameters[...] = state["parameters"]
        self._first[...], self._second[...] = state["first"], state["second"]
        self.steps = int(state["steps"])


class ReplayBuffer:
    """The latest transitions; the oldest is overwritten first."""

    def __init__(self, capacity: int, columns: int) -> None:
        self._rows = np.zeros((capacity, columns), np.float32)  # takes memory where it is written to
        self._added = 0  # transitions so far

    def __len__(self) -> int:
        return min(self._added, len(self._rows))

    def add(self, rows: np.ndarray) -> None:
        """Add transitions, (k, columns) float32, the latest last."""
        places = np.arange(self._added, self._added + len(rows))[-len(self._rows) :] % len(self._rows)
        self._rows[places] = rows[-len(self._rows) :]
        self._added += len(rows)

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Copies of transitions drawn uniformly with replacement, (count, columns) float32."""
        return self._rows.take(rng.integers(len(self), size=count), axis=0)

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold; the transitions are a view."""
        return {"transitions": self._rows[: len(self)], "added": np.array(self._added)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `state` returned."""
        rows = state["transitions"]
        self._rows[: len(rows)], self._added = rows, int(state["added"])


class TD3:
    """Learns what actions are worth, and an actor that takes the best ones.

    Twin critics estimate the sum of discounted rewards after an observation and an action. They follow the
    smaller estimate of two targets, which track the critics slowly, for an action of the actor's target with
    noise. The actor and other solutions climb the estimate of the first critic.

    What is learned is a pure function of `rng` and of the transitions in their order, as long as NumPy uses
    one BLAS thread.

    Args:
        settings: see `TD3Settings`.
        layers: of the actor, as of the solutions, see `Controller.layers`.
        rng: from here on its own; driven by `numpy.random.SFC64`.
        samples: transitions over whose observations `gradient` averages, rounded up to whole batches.
        critic_units: units of the critics' hidden layers.
        dtype: of all parameters.
    """

    def __init__(
        self,
        settings: TD3Settings,
        layers: Sequence[int],
        rng: np.random.Generator,
        *,
        samples: int = 65_536,
        critic_units: Sequence[int] = (256, 256),
        dtype: type[np.floating] = np.float32,
    ) -> None:
        self._settings, self._samples, self._rng = settings, samples, rng
        self._columns = columns = TransitionColumns(layers[0], layers[-1])
        self._end = columns.ended if settings.time_limit == "terminal" else columns.terminated
        self._buffer = ReplayBuffer(settings.buffer_size, columns.count)
        self._policy = Network(tuple(layers), "tanh", "tanh")
        self._critic = Network((columns.action.stop, *critic_units, 1), "relu", "identity")
        twins = np.stack([self._critic.initial(rng), self._critic.initial(rng)])
        self._actor = Adam(self._policy.initial(rng).astype(dtype), RATE)
        self._critics = Adam(twins.astype(dtype), RATE)
        self._target_actor, self._target_critics = self.actor.copy(), self._critics.parameters.copy()

    @property
    def actor(self) -> np.ndarray:
        """The parameters of the actor, (p,); live."""
        return self._actor.parameters

    def add(self, rows: np.ndarray | None, n: int) -> None:
        """Remember the transitions of n solutions, in the order of the solutions."""
        width = self._columns.count
        if rows is None or len(rows) != n or any(part.shape != (len(part), width) for part in rows):
            raise InvalidValueError(
                f"each of the {n} solutions must come with transitions of {width} columns"
            )
        for part in rows:
            self._buffer.add(part)

    def train(self) -> None:
        """Take the updates of a generation; none while there are no transitions."""
        for _ in range(self._settings.critic_updates if len(self._buffer) else 0):
            batch = self._buffer.sample(BATCH, self._rng)
            self._critics.climb(self._critic_gradient(batch))
            if self._critics.steps % DELAY == 0:
                self._actor.climb(self._policy_gradient(self.actor, batch))
                self._target_actor += TRACKING * (self.actor - self._target_actor)
                self._target_critics += TRACKING * (self._critics.parameters - self._target_critics)

    def improved(self, solution: np.ndarray, steps: int) -> np.ndarray:
        """A solution, (p,), after steps of Adam that climb the critic; there must be transitions."""
        climber = Adam(solution.astype(self.actor.dtype), SOLUTION_RATE)
        for _ in range(steps):
            batch = self._buffer.sample(BATCH, self._rng)
            climber.climb(self._policy_gradient(climber.parameters, batch))
        return climber.parameters

    def gradient(self, solution: np.ndarray) -> np.ndarray:
        """The gradient of what the critic estimates for the actions of a solution, (p,) float64.

        It is 0 while there are no transitions.
        """
        solution = solution.astype(self.actor.dtype)
        batches = -(-self._samples // BATCH) if len(self._buffer) else 0
        total = np.zeros(solution.size)
        for _ in range(batches):
            total += self._policy_gradient(solution, self._buffer.sample(BATCH, self._rng))
        return total / max(batches, 1)

    def _critic_gradient(self, batch: np.ndarray) -> np.ndarray:
        """The gradient of minus the sum of both critics' mean squared errors over a batch, (2, p)."""
        columns, following = self._columns, batch[:, self._columns.following]
        shape = len(batch), columns.action_dim
        noise = NOISE * self._rng.standard_normal(shape, self.actor.dtype)
        action = self._policy.forward(self._target_actor, following)[-1]
        action = np.clip(action + np.clip(noise, -NOISE_LIMIT, NOISE_LIMIT), -1, 1)
        pairs = np.concatenate([following, action], axis=1)
        *_, values = self._critic.forward(self._target_critics, pairs)  # (2, BATCH, 1)
        goals = batch[:, columns.reward] + DISCOUNT * (1 - batch[:, self._end]) * values.min(axis=0)[:, 0]
        critics = self._critics.parameters
        activations = self._critic.forward(critics, batch[:, : columns.action.stop])
        slopes = (2 / len(batch)) * (goals[:, None] - activations[-1])
        gradient = np.empty_like(critics)
        self._critic.backward(critics, activations, slopes, gradient)
        return gradient

    def _policy_gradient(self, parameters: np.ndarray, batch: np.ndarray) -> np.ndarray:
        """The gradient of the mean of the first critic over a batch with the actions of an actor, (p,)."""
        observations, critic = batch[:, self._columns.observation], self._critics.parameters[0]
        acting = self._policy.forward(parameters, observations)
        judging = self._critic.forward(critic, np.concatenate([observations, acting[-1]], axis=1))
        slopes = np.full_like(judging[-1], 1 / len(batch))
        slopes = self._critic.backward(critic, judging, slopes)[:, self._columns.action]
        gradient = np.empty_like(parameters)
        self._policy.backward(parameters, acting, slopes, gradient)
        return gradient

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold."""
        return {
            **self._buffer.state(),
            **nested(actor=self._actor.state(), critics=self._critics.state()),
            "target_actor": self._target_actor.copy(),
            "target_critics": self._target_critics.copy(),
            "generator": generator_state(self._rng),
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `state` returned."""
        self._actor.restore(select(state, "actor/"))
        self._critics.restore(select(state, "critics/"))
        self._buffer.restore(state)
        restore_generator(self._rng, state["generator"])
        self._target_actor[:], self._target_critics[:] = state["target_actor"], state["target_critics"]

"""`MLP`: a feed-forward network with tanh on every layer."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numba import uint64
from pydantic import Field

from robots.compilation import compiled
from robots.controllers.controller import Controller, ControllerDescription, Mirror, Plant
from robots.controllers.graph import Graph
from robots.errors import InvalidValueError
from robots.files.records import Count, validate

# tanh(x) = x P(x²) / Q(x²) for |x| <= 9: a weighted least-squares rational fit, refined towards equal
# relative error. Unlike libm's tanh it vectorises. In float32 it is within 5e-7 of tanh everywhere.
_LIMIT = np.float32(9.0)
_P = tuple(map(np.float32, (1.0, 0.13381024, 0.0034955866, 2.0609052e-05, 1.3354615e-08)))
_Q = tuple(map(np.float32, (1.0, 0.4671434, 0.025876977, 0.0003285632, 7.77654e-07)))
_MOST_LAYERS = 100
_MOST_PARAMETERS = 10_000_000  # of a network


def _act(
    sizes: np.ndarray,
    memory: np.ndarray,
    parameters: np.ndarray,
    observation: np.ndarray,
    _step: int,
    action: np.ndarray,
) -> None:
    front, back = memory[0], memory[1]
    for i in range(sizes[0]):
        front[i] = observation[i]
    start = np.int64(0)  # a literal would have `linear` compiled for it alone
    for layer in range(len(sizes) - 1):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        linear(parameters, start, inputs, outputs, front, back)
        tanh(back, outputs)
        front, back = back, front
        start += (inputs + 1) * outputs
    for i in range(sizes[-1]):
        action[i] = front[i]


@compiled(fastmath={"contract"})
def linear(
    parameters: np.ndarray, start: np.int64, inputs: int, outputs: int, x: np.ndarray, y: np.ndarray
) -> None:
    """Write y = x W + b, where the parameters hold W and then b from index `start` on.

    Four rows of W are taken at a time, so that y is loaded and stored a quarter as often. Slices of W would
    count references and signed indices would be tested for their sign: both take longer than the arithmetic.
    """
    width, row = uint64(outputs), uint64(start)
    bias = row + uint64(inputs) * width
    for o in range(width):
        y[o] = parameters[bias + o]
    for i in range(0, inputs - inputs % 4, 4):
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        row1 = row + width
        row2 = row1 + width
        row3 = row2 + width
        for o in range(width):
            y[o] += (
                x0 * parameters[row + o]
                + x1 * parameters[row1 + o]
                + x2 * parameters[row2 + o]
                + x3 * parameters[row3 + o]
            )
        row = row3 + width
    for i in range(inputs - inputs % 4, inputs):
        for o in range(width):
            y[o] += x[i] * parameters[row + o]
        row += width


@compiled(fastmath={"contract"})
def tanh(values: np.ndarray, count: int) -> None:
    """Replace the first `count` float32 values by their tanh.

    NumPy's error model lets the loop vectorise: Python's would check each division for zero.
    """
    one = np.float32(1.0)
    for i in range(count):
        x = min(max(values[i], -_LIMIT), _LIMIT)
        t = x * x
        p = x * (_P[0] + t * (_P[1] + t * (_P[2] + t * (_P[3] + t * _P[4]))))
        q = _Q[0] + t * (_Q[1] + t * (_Q[2] + t * (_Q[3] + t * _Q[4])))
        values[i] = min(max(p / q, -one), one)


@dataclass(frozen=True)
class MLP(Controller):
    """A fully connected network with tanh on every layer, the last included.

    A parameter vector holds, layer by layer, the weights as an (inputs, outputs) matrix in row-major
    order and then the biases.
    """

    layers: tuple[int, ...]

    sigma0 = 0.02  # Tjanaka et al. 2023
    kernel = staticmethod(_act)

    @property
    def observation_dim(self) -> int:  # type: ignore[override]
        """Number of inputs."""
        return self.layers[0]

    @property
    def action_dim(self) -> int:  # type: ignore[override]
        """Number of outputs."""
        return self.layers[-1]

    @property
    def parameter_count(self) -> int:
        return weight_count(self.layers)

    @property
    def shape(self) -> str:
        """For example `mlp-28-128-128-8`."""
        return "-".join(["mlp", *map(str, self.layers)])

    @property
    def label(self) -> str:
        """For example `mlp 28-128-128-8`."""
        return self.shape.replace("-", " ", 1)

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Xavier-uniform weights and zero biases (Glorot & Bengio 2010, eq. 16), (p,) float32."""
        layers = []
        for inputs, outputs in itertools.pairwise(self.layers):
            bound = np.sqrt(6 / (inputs + outputs))
            layers += [rng.uniform(-bound, bound, inputs * outputs), np.zeros(outputs)]
        return np.concatenate(layers).astype(np.float32)

    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.layers), np.zeros((2, max(self.layers)), np.float32)

    def written(self, parameters: np.ndarray, graph: Graph, observation: str) -> str:
        place, row = 0, observation
        for inputs, outputs in itertools.pairwise(self.layers):
            layer = parameters[place : place + (inputs + 1) * outputs].reshape(inputs + 1, outputs)
            row = graph.of("Tanh", graph.of("Gemm", row, layer[:-1], layer[-1]))
            place += layer.size
        return row

    def fold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """See `Controller.fold`: ((x - mean) / std) W + b = x (W / std) + (b - mean (W / std))."""
        folded = np.array(parameters)
        weights, biases = self._first_layer(folded)
        divided = weights / std[:, None]
        weights[:] = divided
        biases[:] = biases - (mean[:, None] * divided).sum(axis=1)
        return folded

    def unfold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        unfolded = np.array(parameters)
        weights, biases = self._first_layer(unfolded)
        biases[:] = biases + (mean[:, None] * weights).sum(axis=1)
        weights[:] = weights * std[:, None]
        return unfolded

    def mirrored(self, parameters: np.ndarray, mirror: Mirror) -> np.ndarray:
        """See `Controller.mirrored`: other rows and columns of the first and the last layer."""
        found = np.array(parameters)
        weights, _ = self._first_layer(found)
        weights[:] = mirror.observations.of(weights.swapaxes(0, 1)).swapaxes(0, 1)
        last = found[:, -(self.layers[-2] + 1) * self.action_dim :]
        last = last.reshape(len(found), self.layers[-2] + 1, self.action_dim)
        last[:] = mirror.actions.of(last.T).T
        return found

    def _first_layer(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Views of the first layer's weights (n, inputs, outputs) and biases (n, outputs)."""
        inputs, outputs = self.layers[:2]
        weights, biases, _ = np.split(parameters, [inputs * outputs, (inputs + 1) * outputs], axis=1)
        return weights.reshape(-1, inputs, outputs), biases


def weight_count(layers: Sequence[int]) -> int:
    """Number of weights and biases of a network with so many units in each layer, inputs first."""
    return sum((inputs + 1) * outputs for inputs, outputs in itertools.pairwise(layers))


class MLPDescription(ControllerDescription):
    """The robot is driven by networks with hidden layers of these sizes."""

    kind = "mlp"
    hidden: Annotated[tuple[Count, ...], Field(min_length=1, max_length=_MOST_LAYERS)]

    def build(self, plant: Plant) -> MLP:
        sizes = (len(plant.entries), *self.hidden, len(plant.joints))
        count = weight_count(sizes)
        if count > _MOST_PARAMETERS:
            raise InvalidValueError(
                f"networks with hidden layers of {', '.join(map(str, self.hidden))} would have {count:,} "
                f"parameters; at most {_MOST_PARAMETERS:,} are possible"
            )
        return MLP(sizes)

    @classmethod
    def from_shape(cls, shape: str, *, observation_dim: int, action_dim: int) -> Self | None:
        kind, *sizes = shape.split("-")
        if kind != "mlp" or len(sizes) < 3 or not all(size.isdecimal() and len(size) < 6 for size in sizes):
            return None
        first, *hidden, last = map(int, sizes)
        if (first, last) != (observation_dim, action_dim) or min(hidden) < 1:
            return None
        return validate(cls, {"hidden": hidden})

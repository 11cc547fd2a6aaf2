"""`MLP`: the feed-forward tanh network that drives the robots."""

import itertools
from dataclasses import dataclass

import numpy as np
from numba import uint64

from robots.compilation import compiled
from robots.controllers.controller import Controller

# tanh(x) = x P(x²) / Q(x²) for |x| <= 9: a weighted least-squares rational fit, refined towards equal
# relative error. Unlike libm's tanh it vectorises. In float32 it is within 5e-7 of tanh everywhere.
_LIMIT = np.float32(9.0)
_P = tuple(
    np.float32(c)
    for c in (
        0.9999999794626058,
        0.13381024328598407,
        0.0034955864791392623,
        2.0609052094463097e-05,
        1.3354615548426913e-08,
    )
)
_Q = tuple(
    np.float32(c)
    for c in (
        1.0,
        0.4671433992419541,
        0.025876976164357923,
        0.0003285631978455386,
        7.776540262176861e-07,
    )
)


@dataclass(frozen=True)
class MLP(Controller):
    """A fully connected network with tanh on every layer, the last included.

    A parameter vector holds, layer by layer, the weights as an (inputs, outputs) matrix in row-major
    order and then the biases.

    Attributes:
        sizes: units of each layer, from the observation to the action.
    """

    sizes: tuple[int, ...]

    sigma0 = 0.02  # Tjanaka et al. 2023

    @property
    def observation_dim(self) -> int:  # type: ignore[override]
        """Number of inputs."""
        return self.sizes[0]

    @property
    def action_dim(self) -> int:  # type: ignore[override]
        """Number of outputs."""
        return self.sizes[-1]

    @property
    def parameter_count(self) -> int:
        """Number of weights and biases."""
        return sum((inputs + 1) * outputs for inputs, outputs in itertools.pairwise(self.sizes))

    @property
    def shape(self) -> str:
        """For example `mlp-28-128-128-8`."""
        return "-".join(["mlp", *map(str, self.sizes)])

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Xavier-uniform weights and zero biases (Glorot & Bengio 2010, eq. 16), (p,) float32."""
        layers = []
        for inputs, outputs in itertools.pairwise(self.sizes):
            bound = np.sqrt(6 / (inputs + outputs))
            layers += [rng.uniform(-bound, bound, inputs * outputs), np.zeros(outputs)]
        return np.concatenate(layers).astype(np.float32)

    def act(
        self,
        parameters: np.ndarray,
        observations: np.ndarray,
        steps: np.ndarray,
        actions: np.ndarray,
        ids: np.ndarray,
    ) -> None:
        """See `Controller.act`."""
        act(np.array(self.sizes), parameters, observations, actions, ids)

    def fold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """See `Controller.fold`: ((x - mean) / std) W + b = x (W / std) + (b - mean (W / std))."""
        folded = np.array(parameters)
        weights, biases = self._first_layer(folded)
        divided = weights / std[:, None]
        weights[:] = divided
        biases[:] = biases - (mean[:, None] * divided).sum(axis=1)
        return folded

    def unfold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """See `Controller.unfold`."""
        unfolded = np.array(parameters)
        weights, biases = self._first_layer(unfolded)
        biases[:] = biases + (mean[:, None] * weights).sum(axis=1)
        weights[:] = weights * std[:, None]
        return unfolded

    def _first_layer(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Views of the first layer's weights (n, inputs, outputs) and biases (n, outputs)."""
        inputs, outputs = self.sizes[:2]
        weights, biases, _ = np.split(parameters, [inputs * outputs, (inputs + 1) * outputs], axis=1)
        return weights.reshape(-1, inputs, outputs), biases


@compiled()
def act(
    sizes: np.ndarray, parameters: np.ndarray, observations: np.ndarray, actions: np.ndarray, ids: np.ndarray
) -> None:
    """Run each simulation's own network on its observation; see `Controller.act`."""
    widest = sizes.max()
    front, back = np.empty(widest, np.float32), np.empty(widest, np.float32)
    for i in ids:
        own = parameters[i]
        front[: sizes[0]] = observations[i]
        start = 0
        for layer in range(len(sizes) - 1):
            inputs, outputs = sizes[layer], sizes[layer + 1]
            _linear(own, start, inputs, outputs, front, back)
            _tanh(back[:outputs])
            front, back = back, front
            start += (inputs + 1) * outputs
        actions[i] = front[: sizes[-1]]


@compiled(fastmath={"contract"})
def _linear(
    parameters: np.ndarray, start: int, inputs: int, outputs: int, x: np.ndarray, y: np.ndarray
) -> None:
    """Write y = x W + b, with W and b from a start on.

    Four rows of W at a time: y is then loaded and stored a quarter as often. Slices of W would count
    references, and signed indices be tested for their sign: both take longer than the arithmetic.
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
def _tanh(values: np.ndarray) -> None:
    """Replace float32 values by their tanh.

    NumPy's error model lets the loop vectorise: Python's would check each division for zero.
    """
    one = np.float32(1.0)
    for i in range(len(values)):
        x = min(max(values[i], -_LIMIT), _LIMIT)
        t = x * x
        p = x * (_P[0] + t * (_P[1] + t * (_P[2] + t * (_P[3] + t * _P[4]))))
        q = _Q[0] + t * (_Q[1] + t * (_Q[2] + t * (_Q[3] + t * _Q[4])))
        values[i] = min(max(p / q, -one), one)

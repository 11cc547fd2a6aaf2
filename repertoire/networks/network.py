"""`Network`: fully connected networks with flat parameters and gradients by backpropagation; and `Adam`.

Source: D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from robots.controllers.mlp import weight_count

Activation = Literal["tanh", "relu", "identity"]


class _Function(NamedTuple):
    """An activation function.

    Attributes:
        apply: replaces sums by their activations.
        scale: multiplies slopes by the derivative, given the activations.
    """

    apply: Callable[[np.ndarray], object]
    scale: Callable[[np.ndarray, np.ndarray], object]


_FUNCTIONS: dict[Activation, _Function] = {
    "tanh": _Function(
        lambda values: np.tanh(values, out=values),
        lambda slopes, values: np.multiply(slopes, 1 - values * values, out=slopes),
    ),
    "relu": _Function(
        lambda values: np.maximum(values, 0, out=values),
        lambda slopes, values: np.multiply(slopes, values > 0, out=slopes),
    ),
    "identity": _Function(lambda values: None, lambda slopes, values: None),
}


@dataclass(frozen=True)
class Network:
    """A fully connected network, or several of them side by side.

    A parameter vector holds, layer by layer, the weights as an (inputs, outputs) matrix in row-major order
    and then the biases, as those of `robots.controllers.mlp.MLP` do. Where parameters are (k, p) there are k
    networks, and activations and slopes have a first axis of length k.

    Attributes:
        layers: units of each layer, inputs first.
        hidden: activation of all layers but the last.
        output: activation of the last layer.
    """

    layers: tuple[int, ...]
    hidden: Activation
    output: Activation

    @property
    def parameter_count(self) -> int:
        """Length p of a parameter vector."""
        return weight_count(self.layers)

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Parameters uniform within 1 / √inputs of each layer, as PyTorch's are by default, (p,) float64."""
        parts = (
            rng.uniform(-1, 1, (inputs + 1) * outputs) / np.sqrt(inputs)
            for inputs, outputs in itertools.pairwise(self.layers)
        )
        return np.concatenate(list(parts))

    def forward(self, parameters: np.ndarray, inputs: np.ndarray) -> list[np.ndarray]:
        """Compute the activations of all layers.

        Args:
            parameters: (p,) or (k, p).
            inputs: (n, inputs), the same for all k.

        Returns:
            The inputs, and then (n, units) or (k, n, units) of each layer.
        """
        activations = [inputs]
        for layer, (weights, biases) in enumerate(self._matrices(parameters)):
            values = activations[-1] @ weights
            values += biases
            self._function(layer).apply(values)
            activations.append(values)
        return activations

    def backward(
        self,
        parameters: np.ndarray,
        activations: Sequence[np.ndarray],
        slopes: np.ndarray,
        gradient: np.ndarray | None = None,
    ) -> np.ndarray:
        """Propagate slopes of a sum of functions of the outputs back.

        Args:
            parameters: (p,) or (k, p).
            activations: what `forward` returned for these.
            slopes: with respect to the outputs, of the shape of the last activations; overwritten.
            gradient: of the shape of the parameters, to be filled with the slopes with respect to these; None
                if they are not needed.

        Returns:
            The slopes with respect to the inputs, (n, inputs) or (k, n, inputs).
        """
        matrices = self._matrices(parameters)
        found = matrices if gradient is None else self._matrices(gradient)
        for layer in reversed(range(len(matrices))):
            self._function(layer).scale(slopes, activations[layer + 1])
            if gradient is not None:
                np.matmul(activations[layer].swapaxes(-1, -2), slopes, out=found[layer][0])
                slopes.sum(axis=-2, keepdims=True, out=found[layer][1])
            slopes = slopes @ matrices[layer][0].swapaxes(-1, -2)
        return slopes

    def _function(self, layer: int) -> _Function:
        """The activation function of a layer, counted from 0 after the inputs."""
        return _FUNCTIONS[self.output if layer == len(self.layers) - 2 else self.hidden]

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
    """Parameters that climb gradients (Kingma & Ba 2015, Algorithm 1, with its decay rates and epsilon).

    Args:
        parameters: of any shape; changed in place.
        rate: the learning rate.

    Attributes:
        parameters: see above.
        steps: taken so far.
    """

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

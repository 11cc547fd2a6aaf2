"""Networks and Adam: finite differences, the layout of controllers, and independent references."""

import numpy as np
import pytest

from repertoire.networks.td3 import Adam, Network
from robots.controllers.mlp import MLP

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("hidden", "output"), [("tanh", "tanh"), ("relu", "identity"), ("tanh", "relu")])
@pytest.mark.parametrize("several", [(), (3,)])
def test_gradients_are_those_of_finite_differences(hidden, output, several):
    network = Network((4, 6, 5, 2), hidden, output)
    parameters = RNG.normal(0, 0.7, (*several, network.parameter_count))
    inputs, weights = RNG.normal(size=(7, 4)), RNG.normal(size=(*several, 7, 2))

    def total(parameters: np.ndarray, inputs: np.ndarray) -> float:
        return float((weights * network.forward(parameters, inputs)[-1]).sum())

    def difference(name: str, at: np.ndarray, index: tuple[int, ...]) -> float:
        step, given = np.zeros_like(at), {"parameters": parameters, "inputs": inputs}
        step[index] = 1e-6
        return (total(**{**given, name: at + step}) - total(**{**given, name: at - step})) / 2e-6

    gradient = np.full_like(parameters, np.nan)
    activations = network.forward(parameters, inputs)
    found = network.backward(parameters, activations, weights.copy(), gradient)
    for index in np.ndindex(parameters.shape):
        assert gradient[index] == pytest.approx(difference("parameters", parameters, index), abs=1e-6)
    by_input = found.sum(axis=0) if several else found
    for index in np.ndindex(inputs.shape):
        assert by_input[index] == pytest.approx(difference("inputs", inputs, index), abs=1e-6)


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

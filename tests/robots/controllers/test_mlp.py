import itertools

import numpy as np

from robots.controllers.mlp import MLP, _linear, _tanh

ANT = MLP((28, 128, 128, 8))


def _reference(sizes: tuple[int, ...], parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The same network in float64, straight from the docstring."""
    x, start = x.astype(np.float64), 0
    for inputs, outputs in itertools.pairwise(sizes):
        weights = parameters[start : start + inputs * outputs].reshape(inputs, outputs).astype(np.float64)
        biases = parameters[start + inputs * outputs : start + (inputs + 1) * outputs]
        x, start = np.tanh(x @ weights + biases), start + (inputs + 1) * outputs
    return x


def test_actions_agree_with_a_float64_network() -> None:
    rng = np.random.default_rng(0)
    for sizes in ((28, 128, 128, 8), (5, 3, 2), (7, 9, 1)):
        mlp = MLP(sizes)
        parameters = rng.normal(0, 0.3, (4, mlp.parameter_count)).astype(np.float32)
        observations = rng.uniform(-5, 5, (4, sizes[0])).astype(np.float32)
        for i in range(4):
            expected = _reference(sizes, parameters[i], observations[i])
            np.testing.assert_allclose(mlp.act(parameters[i], observations[i], 0), expected, atol=5e-6)


def test_unfolding_undoes_folding_in_any_memory_order() -> None:
    rng = np.random.default_rng(3)
    mean, std = rng.normal(size=28), rng.uniform(0.1, 3, 28)
    parameters = np.asfortranarray(rng.normal(size=(3, ANT.parameter_count)))
    folded = ANT.fold(parameters, mean, std)
    np.testing.assert_allclose(ANT.unfold(folded, mean, std), parameters, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ANT.fold(ANT.unfold(parameters, mean, std), mean, std), parameters, rtol=1e-12)
    for change in (ANT.fold, ANT.unfold):
        assert np.array_equal(change(parameters, np.zeros(28), np.ones(28)), parameters)


def test_tanh_is_within_its_bound_everywhere() -> None:
    x = np.concatenate([np.linspace(-12, 12, 400_001), [0.0, 1e-30, -1e-30, 1e30, -1e30]]).astype(np.float32)
    y = x.copy()
    _tanh(y, len(y))
    assert np.abs(y - np.tanh(x.astype(np.float64))).max() < 5e-7
    assert np.abs(y).max() <= 1


def test_kernels_agree_with_their_python() -> None:
    rng = np.random.default_rng(1)
    parameters, x = rng.normal(size=5 + 6 * 3 + 3).astype(np.float32), rng.normal(size=6).astype(np.float32)
    compiled, plain = np.zeros(3, np.float32), np.zeros(3, np.float32)
    _linear(parameters, 5, 6, 3, x, compiled)
    _linear.py_func(parameters, 5, 6, 3, x, plain)
    np.testing.assert_allclose(compiled, plain, rtol=1e-5)
    _tanh(compiled, 3)
    _tanh.py_func(plain, 3)
    np.testing.assert_allclose(compiled, plain, rtol=1e-5)


def test_initial_parameters_are_xavier_uniform_with_zero_biases() -> None:
    parameters = ANT.initial(np.random.default_rng(0))
    assert parameters.dtype == np.float32
    first, bound = parameters[: 28 * 128], np.sqrt(6 / (28 + 128))
    assert np.abs(first).max() <= bound
    np.testing.assert_allclose(first.std(), bound / np.sqrt(3), rtol=0.05)
    assert np.all(parameters[28 * 128 : 29 * 128] == 0)
    assert np.all(parameters[-8:] == 0)
    assert np.array_equal(parameters, ANT.initial(np.random.default_rng(0)))

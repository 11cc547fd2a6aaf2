"""What every kind of controller promises, checked on the controllers of all robots."""

import itertools

import numpy as np
import pytest

from robots.catalogue import robot_names
from robots.controllers.controller import Controller
from robots.controllers.mlp import MLP, tanh
from robots.controllers.periodic import PeriodicDescription
from robots.controllers.policy import PolicyDescription
from robots.description import CONTROLLERS
from robots.errors import InvalidValueError
from robots.robot import Robot, load_robot, robot_from_text
from robots.simulation.stepper import Stepper
from tests.robots.stepping import check_whole_and_stepped


@pytest.fixture(scope="module")
def controller(robot: Robot) -> Controller:
    return robot.controller


def test_a_robot_comes_with_every_kind_but_policies_of_others() -> None:
    kinds = {type(load_robot(name).description.controller) for name in robot_names()}
    assert kinds == set(CONTROLLERS.values()) - {PolicyDescription}


def test_a_kind_that_a_plugin_adds_is_read_from_a_yaml(ant: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    class Still(PeriodicDescription):
        kind = "still"

    monkeypatch.setitem(CONTROLLERS, "still", Still)
    yaml = ant.yaml.replace("{kind: mlp, hidden: [128, 128]}", "{kind: still, period: 0.33}")
    assert robot_from_text(ant.xml, yaml, origin="mine").description.controller == Still(period=0.33)


def test_parameters_and_actions_have_their_shapes_and_ranges(robot: Robot, controller: Controller) -> None:
    assert (controller.observation_dim, controller.action_dim) == (robot.observation_dim, robot.action_dim)
    parameters = controller.initial(np.random.default_rng(0))
    assert (parameters.dtype, parameters.shape) == (np.float32, (controller.parameter_count,))
    for step in range(5):
        observation = np.random.default_rng(step).uniform(-5, 5, robot.observation_dim).astype(np.float32)
        action = controller.act(10 * parameters, observation, step)
        assert (action.dtype, action.shape) == (np.float32, (robot.action_dim,))
        assert np.abs(action).max() <= 1


def test_its_words_say_what_it_is(robot: Robot, controller: Controller) -> None:
    kind = robot.description.controller.kind
    assert controller.shape.split("-")[0] == controller.label.split()[0] == kind
    assert robot.with_controller(controller.shape) is robot
    found = type(robot.description.controller).from_shape(
        controller.shape, observation_dim=robot.observation_dim, action_dim=robot.action_dim
    )
    assert found in (None, robot.description.controller)


def test_folding_makes_up_for_normalisation_and_unfolding_undoes_it(controller: Controller) -> None:
    rng = np.random.default_rng(1)
    mean, std = rng.normal(size=controller.observation_dim), rng.uniform(0.5, 2, controller.observation_dim)
    parameters = np.asfortranarray(np.stack([controller.initial(rng) for _ in range(3)]))
    before, folded = parameters.copy(), controller.fold(parameters, mean, std)
    assert np.array_equal(parameters, before)
    assert (folded.dtype, folded.shape) == (np.float32, parameters.shape)
    np.testing.assert_allclose(controller.unfold(folded, mean, std), parameters, atol=1e-5)
    for change in (controller.fold, controller.unfold):
        assert np.array_equal(change(parameters, np.zeros_like(mean), np.ones_like(std)), parameters)
    if not controller.layers:
        assert np.array_equal(folded, parameters)
        return
    observation = rng.uniform(-3, 3, controller.observation_dim).astype(np.float32)
    normalised = ((observation - mean) / std).astype(np.float32)
    np.testing.assert_allclose(
        controller.act(folded[0], observation, 3), controller.act(parameters[0], normalised, 3), atol=1e-4
    )


def test_whole_episodes_are_those_of_single_steps(robot: Robot, controller: Controller) -> None:
    parameters = controller.initial(np.random.default_rng(2))
    parameters.flags.writeable = False  # as those of a file that is mapped into memory
    whole, single = check_whole_and_stepped(robot.with_episode_steps(50), parameters)
    np.testing.assert_array_equal(whole.state.row, single.state.row)


def test_what_does_not_fit_is_refused_before_compiled_code_reads_it(ant: Robot) -> None:
    stepper, parameters = Stepper(ant), np.zeros(ant.controller.parameter_count)
    with pytest.raises(InvalidValueError, match=r"parameters must have shape \(21256,\), not \(7,\)"):
        stepper.run(np.zeros(7), 0)
    with pytest.raises(InvalidValueError, match=r"seed must be a whole number from 0 to .*, not -1"):
        stepper.run(parameters, -1)
    with pytest.raises(InvalidValueError, match=r"an observation must have shape \(28,\), not \(3,\)"):
        ant.controller.act(parameters, np.zeros(3), 0)


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


def test_tanh_is_within_its_bound_everywhere() -> None:
    x = np.concatenate([np.linspace(-12, 12, 400_001), [0.0, 1e-30, -1e-30, 1e30, -1e30]]).astype(np.float32)
    y = x.copy()
    tanh(y, len(y))
    assert np.abs(y - np.tanh(x.astype(np.float64))).max() < 5e-7
    assert np.abs(y).max() <= 1


def test_initial_parameters_are_xavier_uniform_with_zero_biases(ant: Robot) -> None:
    parameters = ant.controller.initial(np.random.default_rng(0))
    assert parameters.dtype == np.float32
    first, bound = parameters[: 28 * 128], np.sqrt(6 / (28 + 128))
    assert np.abs(first).max() <= bound
    np.testing.assert_allclose(first.std(), bound / np.sqrt(3), rtol=0.05)
    assert np.all(parameters[28 * 128 : 29 * 128] == 0)
    assert np.all(parameters[-8:] == 0)
    assert np.array_equal(parameters, ant.controller.initial(np.random.default_rng(0)))

"""What every kind of controller promises, checked on the controllers of all robots."""

import numpy as np
import pytest

from robots.catalogue import robot_names
from robots.controllers.controller import Controller
from robots.controllers.periodic import PeriodicDescription
from robots.description import CONTROLLERS
from robots.errors import InvalidValueError
from robots.robot import Robot, load_robot, robot_from_text
from robots.simulation.stepper import Stepper


@pytest.fixture(scope="module")
def controller(robot: Robot) -> Controller:
    return robot.controller


def test_a_robot_comes_with_every_kind() -> None:
    kinds = {type(load_robot(name).description.controller) for name in robot_names()}
    assert kinds == set(CONTROLLERS.values())


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
    parameters = controller.initial(rng)[None]
    before, folded = parameters.copy(), controller.fold(parameters, mean, std)
    assert np.array_equal(parameters, before)
    assert (folded.dtype, folded.shape) == (np.float32, parameters.shape)
    np.testing.assert_allclose(controller.unfold(folded, mean, std), parameters, atol=1e-5)
    if not controller.normalises:
        assert np.array_equal(folded, parameters)
        return
    observation = rng.uniform(-3, 3, controller.observation_dim).astype(np.float32)
    normalised = ((observation - mean) / std).astype(np.float32)
    np.testing.assert_allclose(
        controller.act(folded[0], observation, 3), controller.act(parameters[0], normalised, 3), atol=1e-4
    )


def test_whole_episodes_are_those_of_single_steps(robot: Robot, controller: Controller) -> None:
    whole, single = (Stepper(robot.with_episode_steps(50)) for _ in range(2))
    parameters = controller.initial(np.random.default_rng(2))
    parameters.flags.writeable = False  # as those of a file that is mapped into memory
    whole.run(parameters, 5)
    single.reset(5)
    while not single.drive(parameters):
        pass
    assert whole.tally == single.tally
    assert np.array_equal(whole.state.row, single.state.row)
    assert np.array_equal(whole.state.observation, single.state.observation)


def test_what_does_not_fit_is_refused_before_compiled_code_reads_it(ant: Robot) -> None:
    stepper, parameters = Stepper(ant), np.zeros(ant.controller.parameter_count)
    with pytest.raises(InvalidValueError, match=r"parameters must have shape \(21256,\), not \(7,\)"):
        stepper.run(np.zeros(7), 0)
    with pytest.raises(InvalidValueError, match=r"seed must be a whole number from 0 to .*, not -1"):
        stepper.run(parameters, -1)
    with pytest.raises(InvalidValueError, match=r"an observation must have shape \(28,\), not \(3,\)"):
        ant.controller.act(parameters, np.zeros(3), 0)

"""Measures by name against an independent reading of MuJoCo's state, and how they are given and kept."""

import numpy as np
import pytest

from robots.errors import InvalidValueError, SurefootError
from robots.robot import Robot, load_robot
from robots.task.measures import KINDS, even_cells, parse_measures
from tests.robots.stepping import angles_of, begun, run_episodes

RANGES = dict.fromkeys(KINDS, (-10.0, 10.0))
STEPS = 40


@pytest.fixture(scope="module", params=["hexapod", "half_cheetah"])
def robot(request) -> Robot:
    whole = load_robot(request.param).with_episode_steps(STEPS)
    return whole.with_task(measures={next(iter(whole.description.feet)): None, **RANGES})


def test_each_measure_is_what_it_is_said_to_be(robot: Robot) -> None:
    parameters = robot.controller.initial(np.random.default_rng(3))
    stepper, most, saturated = begun(robot, 5), robot.physics.actuator_forcerange[:, 1], False
    torso, places, yaws, power, touched = robot.description.torso, [], [], 0.0, 0
    while True:
        data = stepper.posed_data()
        places.append(data.body(torso).xpos.copy())
        yaws.append(angles_of(data.body(torso))[2])
        if stepper.over:
            break
        stepper.drive(parameters)
        data, touched = stepper.posed_data(), touched + int(stepper.state.touching[0])
        power += np.abs(data.qfrc_actuator * data.qvel).sum()
        saturated |= bool((np.abs(data.actuator_force) == most).any())
    assert len(places) == STEPS + 1
    moved, seconds = np.diff(places, axis=0), STEPS * robot.control_step
    expected = {
        "forward_speed": (np.cos(yaws[1:]) * moved[:, 0] + np.sin(yaws[1:]) * moved[:, 1]).sum() / seconds,
        "turn_rate": (np.unwrap(yaws)[-1] - yaws[0]) / seconds,
        "x": places[-1][0] - places[0][0],
        "y": places[-1][1],
        "height": np.mean([z for _, _, z in places[1:]]),
        "energy": power / STEPS,
    }
    found = dict(zip(robot.description.measures, stepper.measures, strict=True))
    assert found.pop(next(iter(robot.description.feet))) == touched / STEPS
    if robot.name == "half_cheetah":  # its heading cannot turn, and Euler's angles flip
        expected |= {"turn_rate": 0.0, "forward_speed": expected["x"] / seconds}
    assert found == pytest.approx(expected, abs=1e-9)
    assert saturated or robot.name != "hexapod", "the limit of the torque was never met"
    np.testing.assert_array_equal(run_episodes(robot, parameters, 5).measures[0], stepper.measures)


def test_another_task_shares_the_model_and_is_checked() -> None:
    robot = load_robot("hexapod")
    found = robot.with_task(measures={"x": (0.0, 2.0), "left_front": None}, reward="steering")
    assert found.physics is robot.physics
    assert found.measure_ranges == ((0.0, 2.0), (0.0, 1.0))
    assert found.description.archive == even_cells(2) == (36, 36)
    assert found.description.reward.weights == {"alive": 1.0, "sideways": -1.0}
    assert found.with_task(reward="distance").measure_dim == 2
    for changes, message in (
        ({"measures": {"x": (2.0, 0.0)}}, "measures.x must go from low to high"),
        ({"measures": {"speed": (0.0, 1.0)}}, "unknown measure 'speed'"),
        ({"measures": {}}, "measures"),
        ({"reward": "steer"}, "did you mean 'steering'"),
    ):
        with pytest.raises(SurefootError, match=message):
            robot.with_task(**changes)


@pytest.mark.parametrize("cells", [(1296,), (36, 36), (11, 11, 10), (6, 6, 6, 6)])
def test_cells_are_many_and_even_and_the_first_measures_have_more(cells: tuple[int, ...]) -> None:
    assert even_cells(len(cells)) == cells


@pytest.mark.parametrize("text", ["", "x=1", "x=1:2:3", "x=a:b", "x=0:1,x=0:1", "left_front=", "x=0:1,"])
def test_texts_that_are_no_measures_are_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="measures must be feet or other measures with ranges"):
        parse_measures(text)


def test_a_text_of_measures() -> None:
    assert parse_measures("front_left, turn_rate=-1:0.5") == {"front_left": None, "turn_rate": (-1.0, 0.5)}

"""The terms of the reward against an independent reading of MuJoCo's state, presets, and walks in words."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.deployment.walk import Walk
from robots.description import parse_description
from robots.errors import SurefootError
from robots.files.records import validate
from robots.robot import Robot, load_robot
from robots.task.command import Command
from robots.task.reward import PRESETS, TERMS, Reward
from tests.robots.stepping import angles_of, begun, described, run_episodes

LEAST_SWING, TARGET_SPEED, TURN, STEPS = 0.03, 0.5, -3.0, 80


def rewarded(robot: Robot, **reward: object) -> Robot:
    command = validate(Command, {"speed": (0.0, 0.0), "turn": (TURN, TURN)})
    return described(robot, reward=validate(Reward, reward), command=command)


def actions(robot: Robot) -> np.ndarray:
    return np.random.default_rng(5).uniform(-1, 1, (STEPS, robot.action_dim)).astype(np.float32)


def steps_of(robot: Robot) -> list[tuple[mujoco.MjData, np.ndarray]]:
    """The state after every control step of a random walk, and which feet touch the floor."""
    stepper = begun(robot, 4)
    states = [(stepper.posed_data(), np.zeros(len(robot.description.feet), bool))]
    for action in actions(robot):
        stepper.step(action)
        states.append((stepper.posed_data(), stepper.state.touching.copy()))
    return states


def expected_terms(robot: Robot) -> dict[str, np.ndarray]:
    """What each term is worth in every control step of the walk."""
    states, dt = steps_of(robot), robot.control_step
    places = np.array([data.body(robot.description.torso).xpos for data, _ in states])
    yaws = np.array([angles_of(data.body(1))[2] for data, _ in states])
    touching = np.array([feet for _, feet in states])
    soles = [geoms[0] for geoms in robot.description.feet.values()]
    feet = np.array([[data.geom(sole).xpos[:2] for sole in soles] for data, _ in states])
    ahead = Rotation.from_euler("z", -yaws[:, None])
    speeds = ahead.apply([data.qvel[:3] for data, _ in states])[:, :2]
    power = [np.abs(data.qfrc_actuator * data.qvel).sum() for data, _ in states]
    told = np.concatenate([np.zeros((1, robot.action_dim)), actions(robot)])
    slid = np.linalg.norm(np.diff(feet, axis=0), axis=2)
    swing, steps = np.zeros(STEPS), np.arange(1, STEPS + 1)
    for foot in range(len(soles)):
        airborne = 0
        for step in range(STEPS):
            if touching[step + 1, foot]:
                slid[step, foot] *= airborne == 0
                swing[step] += (airborne * dt - LEAST_SWING) * (airborne > 0)
                airborne = 0
            else:
                slid[step, foot], airborne = 0, airborne + 1
    return {
        "drift": np.diff(abs(places[:, 1])) / dt,
        "sideways": abs(speeds[1:, 1]),
        "yaw_rate": abs(np.diff(np.unwrap(yaws))) / dt,
        "energy": np.array(power[1:]),
        "action_rate": np.square(np.diff(told, axis=0)).mean(axis=1),
        "height": abs(places[1:, 2] - places[0, 2]),
        "slip": slid.sum(axis=1) / dt,
        "air_time": swing / dt,
        "speed_error": abs(speeds[1:, 0] - TARGET_SPEED),
        "heading_error": np.minimum(abs(np.angle(np.exp(1j * (yaws[1:] - TURN * dt * steps)))), 1),
        "heading": np.minimum(abs(yaws[1:]), 1),  # times the speed
    }


def rewards(robot: Robot) -> np.ndarray:
    stepper, found = begun(robot, 4), []
    for action in actions(robot):
        stepper.step(action)
        found.append(stepper.tally.reward)
    return np.array(found)


def test_every_term_is_as_defined(ant: Robot) -> None:
    expected = expected_terms(ant)
    progress = rewards(rewarded(ant, progress=1.0))
    expected["heading"] *= abs(progress)
    assert expected.keys() == TERMS.keys() - PRESETS["paper"].keys()
    for term, values in expected.items():
        settings = {term: -2.0, "least_swing": LEAST_SWING, "target_speed": TARGET_SPEED}
        found = rewards(rewarded(ant, **settings))
        np.testing.assert_allclose(found, -2 * values, atol=2e-5 * (1 + abs(values).max()), err_msg=term)
        assert np.ptp(values) > 0, f"{term} went untested"


def test_presets_are_what_the_robots_have() -> None:
    paper, hexapod = load_robot("ant").description.reward, load_robot("hexapod")
    assert validate(Reward, {"preset": "paper"}).weights == paper.weights
    far = rewarded(hexapod, preset="distance")
    assert rewards(far).tolist() == rewards(hexapod).tolist()
    assert (far.description.reward.objective, far.description.reward.unit) == ("distance ahead [m]", "m")
    straight = validate(Reward, {"preset": "straight", "drift": -2.0})
    assert straight.weights == {"progress": 1.0, "drift": -2.0, "heading": -1.0}
    assert straight.objective == "distance ahead less 2 x drift and heading error [m]"
    assert validate(Reward, {"preset": "straight", "energy": -1.0}).objective == "sum of rewards"


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        ("{progres: 1.0}", "unknown term of the reward 'progres' (did you mean 'progress'?)"),
        ("{preset: strait}", "unknown preset of the reward 'strait' (did you mean 'straight'?)"),
        ("{drift: .nan}", "reward.drift: input should be a finite number, not nan"),
        ("{per: hour}", "reward.per: input should be 'step' or 'second', not 'hour'"),
        ("[1.0]", "reward: input should be"),
    ],
)
def test_what_no_reward_is_is_refused_in_a_sentence(ant: Robot, reward: str, message: str) -> None:
    before, _, after = ant.yaml.partition("\nreward:")
    yaml = f"{before}\nreward: {reward}\n\ncontroller:{after.partition('controller:')[2]}"
    with pytest.raises(SurefootError) as error:
        parse_description(yaml, origin="r.yaml")
    assert message in str(error.value)


def test_a_walk_in_circles_is_called_one() -> None:
    assert Walk(2.0, -0.1, 2.2, 0.1).words.endswith("it walks straight")
    assert Walk(2.0, -0.3, 2.2, 0.1).words.endswith("it walks in a curve")
    assert Walk(2.0, 0.0, 2.2, 0.3).words.endswith("it walks in a curve")
    words = Walk(1.0, -0.3, 9.0, -7.0, single=True).words
    assert words.startswith("1.00 m ahead and 0.30 m to the right on a path of 9.00 m, turned by 401°")
    assert words.endswith("to the right: it walks in circles")
    assert Walk(-3.331e-16, 0.0, 0.4, 0.02).words.endswith("it hardly moves")
    assert Walk(2.0, 0.0, 2.2, 0.0, falls=0.6).words.endswith("it falls")


def test_episodes_tell_path_and_turning(ant: Robot) -> None:
    parameters = np.stack([ant.controller.initial(np.random.default_rng(seed)) for seed in range(2)])
    episodes = run_episodes(ant.with_episode_steps(STEPS), parameters)
    for row in range(2):
        stepper, places, yaws = begun(ant, row), [], []
        for step in range(episodes.steps[row] + 1):
            data = stepper.posed_data()
            places.append(data.body(1).xpos[:2].copy())
            yaws.append(angles_of(data.body(1))[2])
            if step < episodes.steps[row]:
                stepper.drive(parameters[row])
        path = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
        assert episodes.paths[row] == pytest.approx(path)
        turned = np.unwrap(yaws)
        assert episodes.turned[row] == pytest.approx(turned[-1] - turned[0])
    assert Walk.of(episodes).path == pytest.approx(episodes.paths.mean())

"""Deployment: the telemetry says what the robot did."""

import copy
import dataclasses
from functools import partial

import imageio.v3 as imageio
import numpy as np
import pytest

from adapt.damage.kinds.joints import Locked
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from robots.deployment.deployment import deploy, open_film
from robots.description import Alive
from robots.errors import InvalidFileError, InvalidValueError
from robots.robot import load_robot
from robots.simulation.task import TARGET_X
from tests.robots.stepping import angles_of, described, run_episodes


@pytest.fixture(scope="module")
def parameters(ant):
    return ant.controller.initial(np.random.default_rng(3))


@pytest.mark.parametrize("damage", [None, Lost("back_left"), Dead("back_left")])
def test_telemetry_adds_up_to_the_evaluated_episode(ant, parameters, damage):
    damaged = damage.apply(ant) if damage else ant
    robot = described(damaged, episode_steps=80, position=None, alive=Alive(min_height=-1.0))
    telemetry = deploy(robot, parameters, seconds=80 * robot.control_step, seed=7)
    episode = run_episodes(robot, parameters, 7)
    assert len(telemetry) == episode.steps[0] == 80
    assert telemetry.ended == "time"
    assert telemetry.rewards.sum() == pytest.approx(episode.objectives[0], rel=1e-12)
    measured = [telemetry.feet.index(foot) for foot in robot.description.measures]
    np.testing.assert_allclose(telemetry.contacts.mean(axis=0)[measured], episode.measures[0])
    left = np.hypot(TARGET_X - telemetry.positions[-1, 0], telemetry.positions[-1, 1])
    assert TARGET_X - left == pytest.approx(episode.distances[0], abs=1e-9)


def test_each_column_is_what_mujoco_says(ant, parameters):
    frames = []
    telemetry = deploy(ant, parameters, seconds=1, seed=0, on_frame=lambda data, _: frames.append(data))
    assert len(frames) == len(telemetry) == round(1 / 0.0165)
    np.testing.assert_allclose(telemetry.times, [data.time for data in frames], atol=1e-9)
    for row, data in enumerate(frames):
        torso = data.body("torso")
        turn = torso.xmat.reshape(3, 3)
        np.testing.assert_allclose(telemetry.angles[row], angles_of(torso), atol=1e-9)
        np.testing.assert_allclose(telemetry.positions[row], torso.xpos, atol=1e-12)
        heading = turn[:2, 0] / np.linalg.norm(turn[:2, 0])
        assert telemetry.speeds[row] == pytest.approx(heading @ data.joint("root").qvel[:2], abs=1e-12)
        angles = [data.joint(name).qpos[0] for name in telemetry.joints]
        np.testing.assert_array_equal(telemetry.joint_angles[row], angles)
        np.testing.assert_array_equal(telemetry.actions[row], data.ctrl)
    assert telemetry.angles.std(axis=0).min() > 0.01


def test_what_a_lost_leg_leaves_in_the_record(ant, parameters):
    telemetry = deploy(Lost("back_left").apply(ant), parameters, seconds=0.5, seed=0)
    gone = [telemetry.joints.index(name) for name in ("back_left_hip", "back_left_ankle")]
    assert np.isnan(telemetry.joint_angles[:, gone]).all()
    assert np.isfinite(np.delete(telemetry.joint_angles, gone, axis=1)).all()
    assert not telemetry.actions[:, gone].any()
    assert not telemetry.contacts[:, telemetry.feet.index("back_left")].any()
    locked = deploy(Locked("joint=back_left_hip", 0.3).apply(ant), parameters, seconds=0.1, seed=0)
    assert (locked.joint_angles[:, locked.joints.index("back_left_hip")] == 0.3).all()


def test_it_stops_at_a_fall_and_says_so(ant, parameters):
    telemetry = deploy(described(ant, alive=Alive(min_height=0.7)), parameters, seconds=5, seed=0)
    assert telemetry.ended == "fall"
    assert 1 <= len(telemetry) < 100
    assert telemetry.positions[-1, 2] <= 0.7
    assert (telemetry.positions[:-1, 2] > 0.7).all()


def test_what_blew_up_is_not_recorded(ant, parameters):
    def strengthen(spec):
        for motor in spec.actuators:
            motor.gear = np.full(6, 1e12)

    robot = ant.modified("strong", strengthen)
    telemetry = deploy(robot, parameters, seconds=1, seed=0)
    episode = run_episodes(robot, parameters)
    assert episode.diverged[0]
    assert len(telemetry) == episode.steps[0] < 10
    assert telemetry.ended == "divergence"
    assert telemetry.columns["x [m]"].shape == (len(telemetry),)
    assert np.isfinite(telemetry.positions).all()


def test_every_step_tells_how_it_is_going(ant, parameters):
    times, moments = [], []

    def on_frame(data, moment):
        times.append(data.time)
        moments.append(moment)

    telemetry = deploy(ant, parameters, seconds=0.5, seed=0, on_frame=on_frame)
    np.testing.assert_allclose(times, 0.0165 * np.arange(1, 31))
    assert [moment.time for moment in moments] == times
    for steps, moment in enumerate(moments, start=1):
        assert moment.ahead == pytest.approx(telemetry.positions[steps - 1, 0] - telemetry.start[0])
        np.testing.assert_allclose(moment.shares, telemetry.contacts[:steps].mean(axis=0))
        np.testing.assert_array_equal(moment.touching, telemetry.contacts[steps - 1])


def test_csv_reads_back(ant, parameters, tmp_path):
    telemetry = deploy(Lost("front_left").apply(ant), parameters, seconds=0.3, seed=0)
    path = tmp_path / "walk.csv"
    telemetry.write_csv(path)
    names = path.read_text().splitlines()[0].split(",")
    assert names == list(telemetry.columns)
    assert names[:5] == ["time [s]", "x [m]", "y [m]", "z [m]", "roll [rad]"]
    assert {"front_left_hip action [-1..1]", "back_left contact [0/1]"} < set(names)
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    np.testing.assert_allclose(table.T, list(telemetry.columns.values()), rtol=1e-8)
    with pytest.raises(InvalidFileError, match=r"nowhere.*cannot be written: "):
        telemetry.write_csv(tmp_path / "nowhere" / "walk.csv")


def test_a_film_goes_on_after_a_fall(ant, parameters):
    """With its torso held to be fallen below any height it can reach, the robot falls at once."""
    fallen, shown = described(ant, alive=Alive(min_height=2.0)), []
    for watch in (None, lambda _, moment: shown.append((moment.ahead, moment.fell))):
        telemetry = deploy(fallen, parameters, seconds=0.5, seed=0, on_frame=watch)
        assert (len(telemetry), telemetry.ended) == (1, "fall"), "the telemetry depends on who watches"
        assert telemetry.summary().endswith(": it falls")
    ahead = telemetry.positions[0, 0] - telemetry.start[0]
    assert shown == [(ahead, True)] * 30, "a fall ends the way"


def test_fast_robots_are_filmed(tmp_path):
    known = load_robot("hexapod")
    hexapod = dataclasses.replace(known, model=copy.copy(known.model))
    hexapod.model.opt.timestep = 0.004
    fast, gait = described(hexapod, substeps=1), hexapod.controller.initial(np.random.default_rng(0))
    assert fast.control_step == 0.004
    with open_film(tmp_path / "a.gif", fast) as add:
        deploy(fast, gait, seconds=0.1, seed=0, on_frame=partial(add, fast, ""))
    assert imageio.immeta(tmp_path / "a.gif")["duration"] == 20


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seconds": 0}, "seconds must be a finite number above 0 s"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"parameters": np.full(21256, np.nan)}, "parameters must be finite"),
    ],
)
def test_wrong_arguments(ant, wrong, message):
    arguments = {"parameters": np.zeros(21256), "seconds": 1, "seed": 0} | wrong
    with pytest.raises(InvalidValueError, match=message):
        deploy(ant, **arguments)

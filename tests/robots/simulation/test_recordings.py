"""Traces and transitions: what is recorded in compiled code is what stepping through the episodes shows."""

import mujoco
import numpy as np
import pytest

from robots.evaluations import Request, TransitionColumns
from robots.robot import Faults, Robot, load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.stepper import Stepper
from robots.simulation.threads import Threads
from robots.simulation.trace import TraceColumns
from tests.robots.stepping import run_episodes

SEEDS = np.arange(3)


@pytest.fixture(scope="module", params=["hexapod", "ant", "hopper"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param).with_episode_steps(40)


@pytest.fixture(scope="module")
def solutions(robot: Robot) -> np.ndarray:
    rng = np.random.default_rng(0)
    initial = np.stack([robot.controller.initial(rng) for _ in SEEDS])
    return initial * np.array([[0], [2], [10]], np.float32)  # from standing still to falling


def test_traces_are_what_sensors_read(robot: Robot, solutions: np.ndarray) -> None:
    plain, found = (run_episodes(robot, solutions, traces=traced) for traced in (False, True))
    assert plain.traces is None
    np.testing.assert_array_equal(plain.objectives, found.objectives)
    stepper, joints, at = Stepper(robot), robot.description.joints, TraceColumns.of(robot)
    for trace, parameters, seed in zip(found.traces, solutions, SEEDS, strict=True):
        stepper.reset(int(seed))
        for row in trace:
            before = stepper.state.observation.copy()
            action = robot.controller.act(parameters, before, stepper.tally.steps)
            stepper.step(action)
            data, free = stepper.data, robot.physics.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
            now = stepper.posed_data()  # whose forces are those of now
            np.testing.assert_array_equal(row[: len(joints)], np.clip(action, -1, 1))
            seen = dict(zip([entry.label for entry in robot.entries], stepper.state.observation, strict=True))
            for number, joint in enumerate(joints):
                assert row[at.angle + number] == seen[f"{joint} position"]
                torque = now.joint(joint).qfrc_actuator[0]
                assert row[at.torque + number] == pytest.approx(torque, rel=1e-5, abs=1e-5)
            rates = data.qvel[3:6] if free else (0, data.qvel[2], 0)
            np.testing.assert_allclose(row[at.rate : at.rate + 3], rates, rtol=1e-6)
            assert row[at.attitude] == pytest.approx(seen["roll"], abs=1e-6)
            for number, foot in enumerate(robot.description.feet):
                assert row[at.contact + number] == seen[f"{foot} contact"]
        torso = now.body(robot.description.torso).xpos
        np.testing.assert_allclose(row[at.position : at.end], torso[:2], atol=1e-6)
        assert len(row) == at.end == at.position + 2


def test_what_is_wrong_with_signals_shows() -> None:
    robot = load_robot("hexapod").with_episode_steps(50)
    one, other = robot.description.joints[:2]
    first = robot.controller.initial(np.random.default_rng(0))[None]

    def trace(faults: Faults) -> np.ndarray:
        return run_episodes(robot.modified("wrong", None, faults), first, traces=True).traces[0]

    healthy, joints = trace(Faults()), robot.action_dim
    swapped = trace(Faults(swapped={one: other, other: one}))
    np.testing.assert_array_equal(swapped[:, :joints], healthy[:, :joints])  # the controller does not know
    assert np.abs(swapped[:, joints : joints + 2] - healthy[:, joints : joints + 2]).max() > 0.1
    play = trace(Faults(play={one: 0.2}))
    assert np.ptp(play[:, joints]) < np.ptp(healthy[:, joints]) - 0.1


def test_transitions_are_what_controllers_saw_and_did(robot: Robot, solutions: np.ndarray) -> None:
    columns, late = TransitionColumns(robot.observation_dim, robot.action_dim), Faults(delay=3)
    robot = robot.modified("late", None, late)  # an action is the controller's also where it arrives late
    stepper, found = Stepper(robot), run_episodes(robot, solutions, transitions=True)
    for rows, parameters, seed in zip(found.transitions, solutions, SEEDS, strict=True):
        before, over = stepper.reset(int(seed)), False
        for row in rows:
            assert not over
            action = robot.controller.act(parameters, before, stepper.tally.steps)
            over = stepper.drive(parameters)
            after, tally = stepper.state.observation.copy(), stepper.tally
            assert row.shape == (columns.count,)
            for part, expected in (("observation", before), ("action", action), ("following", after)):
                np.testing.assert_array_equal(row[getattr(columns, part)], expected)
            assert row[columns.reward] == np.float32(tally.reward)
            assert (row[columns.terminated], row[columns.ended]) == (tally.terminated, over)
            before = after
        assert over
    others = Threads(2).run(ModelBatch(robot), solutions, SEEDS, request=Request(transitions=True))
    for one, other in zip(found.transitions, others.transitions, strict=True):
        np.testing.assert_array_equal(one, other)

"""Traces: what is recorded in compiled code is what sensors read when one steps through the episode."""

import mujoco
import numpy as np
import pytest

from robots.evaluations import Request
from robots.robot import Faults, Robot, load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.stepper import Stepper
from robots.simulation.threads import Threads
from robots.simulation.trace import TraceColumns

SEEDS = np.arange(4)


@pytest.fixture(scope="module", params=["hexapod", "ant", "hopper"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param).with_episode_steps(50)


@pytest.fixture(scope="module")
def solutions(robot: Robot) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.stack([robot.controller.initial(rng) for _ in SEEDS]) * np.float32(2)


def test_they_are_what_stepping_through_the_episode_shows(robot: Robot, solutions: np.ndarray) -> None:
    backend, batch = Threads(2), ModelBatch(robot)
    plain, found = (
        backend.run(batch, solutions, SEEDS, request=Request(traces=traced)) for traced in (False, True)
    )
    assert plain.traces is None
    np.testing.assert_array_equal(plain.objectives, found.objectives)
    assert found.traces is not None
    stepper, joints, at = Stepper(robot), robot.description.joints, TraceColumns.of(robot)
    for trace, parameters, seed in zip(found.traces, solutions, SEEDS, strict=True):
        stepper.reset(int(seed))
        for row in trace:
            before = stepper.state.observation.copy()
            action = robot.controller.act(parameters, before, stepper.tally.steps)
            stepper.step(action)
            data, free = stepper.data, robot.physics.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
            now = stepper.posed_data()  # whose forces are those of now
            np.testing.assert_array_equal(row[: len(joints)], action)
            seen = dict(zip(robot.observation_names, stepper.state.observation, strict=True))
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


def test_what_is_wrong_with_signals_shows(solutions: np.ndarray) -> None:
    robot = load_robot("hexapod").with_episode_steps(50)
    one, other = robot.description.joints[:2]
    first = robot.controller.initial(np.random.default_rng(0))[None]

    def trace(faults: Faults) -> np.ndarray:
        traces = (
            Threads(1)
            .run(
                ModelBatch(robot.modified("wrong", None, faults)),
                first,
                SEEDS[:1],
                request=Request(traces=True),
            )
            .traces
        )
        assert traces is not None
        return np.asarray(traces[0])

    healthy, joints = trace(Faults()), robot.action_dim
    swapped = trace(Faults(swapped={one: other, other: one}))
    np.testing.assert_array_equal(swapped[:, :joints], healthy[:, :joints])  # the controller does not know
    assert np.abs(swapped[:, joints : joints + 2] - healthy[:, joints : joints + 2]).max() > 0.1
    play = trace(Faults(play={one: 0.2}))
    assert np.ptp(play[:, joints]) < np.ptp(healthy[:, joints]) - 0.1
    stuck = trace(Faults(stuck={f"{one} position": 0.25}))
    assert (stuck[:, joints] == 0.25).all()

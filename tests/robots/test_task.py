"""The task's definitions, against an independent reading of MuJoCo's own state."""

import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.robot import Robot
from robots.slots import Slots

ONE = np.zeros(1, np.int32)


def _walk(ant: Robot, steps: int = 150, seed: int = 3):
    """Drive one slot with random actions, and mirror every substep in plain MuJoCo."""
    slots, data = Slots(ant, 1), mujoco.MjData(ant.model)
    slots.begin(0, seed)
    data.qpos[:] = slots.batch.bind("qpos")[0]
    start = slots.observations[0].copy()
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        action = rng.uniform(-1.5, 1.5, 8).astype(np.float32)
        before = data.qpos.copy()
        data.ctrl[:] = np.clip(action, -1, 1)
        for _ in range(ant.description.substeps):
            mujoco.mj_step(ant.model, data)
        slots.actions[0] = action
        slots.advance(ONE)
        yield slots, data, before, np.clip(action, -1, 1).astype(float), start


def _floor_contacts(ant: Robot, data: mujoco.MjData) -> np.ndarray:
    """Which feet touch the floor, from MuJoCo's contact list."""
    floor = ant.model.geom("floor").id
    touching = {g for c in data.contact for g in (c.geom1, c.geom2) if floor in (c.geom1, c.geom2)}
    return np.array(
        [any(ant.model.geom(g).id in touching for g in soles) for soles in ant.description.feet.values()]
    )


def _rescaled(ant: Robot, data: mujoco.MjData) -> np.ndarray:
    joints = [ant.model.joint(name) for name in ant.description.joints]
    return np.array([2 * (data.joint(j.name).qpos[0] - j.range.mean()) / np.ptp(j.range) for j in joints])


def test_physics_is_mujocos_bit_for_bit(ant: Robot) -> None:
    for slots, data, *_ in _walk(ant):
        assert np.array_equal(slots.batch.bind("qpos")[0], data.qpos)
        assert np.array_equal(slots.batch.bind("qvel")[0], data.qvel)


def test_observation_is_as_defined(ant: Robot) -> None:
    touched = 0
    for slots, data, *_ in _walk(ant):
        x, y, z = data.qpos[:3]
        roll, pitch, yaw = Rotation.from_quat(np.roll(data.qpos[3:7], -1)).as_euler("xyz")
        bearing = np.arctan2(0 - y, 1000 - x) - yaw
        velocity = Rotation.from_euler("z", -yaw).apply(data.qvel[:3])
        speeds = [data.joint(name).qvel[0] for name in ant.description.joints]
        contacts = _floor_contacts(ant, data)
        expected = [z - 0.75, np.sin(bearing), np.cos(bearing), *(0.3 * velocity), roll, pitch]
        expected += [
            v for pair in zip(_rescaled(ant, data), 0.1 * np.array(speeds), strict=True) for v in pair
        ]
        expected = np.clip([*expected, *contacts], -5, 5)
        np.testing.assert_allclose(slots.observations[0], expected, atol=1e-5)
        touched += contacts.sum()
    assert touched > 10, "the walk never touched the ground: contacts went untested"


def test_reward_is_as_defined_and_adds_up(ant: Robot) -> None:
    total, at_limit_ever = 0.0, 0
    for slots, data, before, action, _ in _walk(ant):
        speeds = np.array([data.joint(name).qvel[0] for name in ant.description.joints])
        at_limit = np.count_nonzero(np.abs(_rescaled(ant, data)) > 0.99)
        progress = np.hypot(1000 - before[0], before[1]) - np.hypot(1000 - data.qpos[0], data.qpos[1])
        expected = 1.0 if data.qpos[2] > 0.26 else -1.0
        expected += progress / 0.0165
        expected += -2.0 * np.abs(action * 0.1 * speeds).mean() - 0.1 * np.square(action).mean()
        expected += -0.1 * at_limit
        assert slots.tally.reward[0] == pytest.approx(expected, abs=1e-6)
        total += slots.tally.reward[0]
        at_limit_ever += at_limit
    assert slots.tally.objective[0] == total
    assert at_limit_ever > 0


def test_measures_are_shares_of_steps_in_contact(ant: Robot) -> None:
    counts = np.zeros(4)
    for steps, (walked, data, *_) in enumerate(_walk(ant), start=1):
        counts += _floor_contacts(ant, data)
        assert np.array_equal(walked.measures(0), counts / steps)
        assert walked.tally.steps[0] == steps


def test_reset_noise_is_within_bounds_and_depends_on_the_seed(ant: Robot) -> None:
    slots = Slots(ant, 40)
    for slot in range(40):
        slots.begin(slot, slot)
    qpos, qvel = slots.batch.bind("qpos"), slots.batch.bind("qvel")
    angles = qpos[:, 7:]
    assert np.all(np.abs(angles) <= 0.1)
    assert angles.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.1)
    assert len(np.unique(angles)) == angles.size
    assert np.all(qvel == 0)
    np.testing.assert_array_equal(qpos[:, :7], np.tile([0, 0, 0.75, 1, 0, 0, 0], (40, 1)))


def test_observations_vary_and_none_is_constant(ant: Robot) -> None:
    seen = np.array(
        [slots.observations[0].copy() for seed in range(3) for slots, *_ in _walk(ant, 300, seed)]
    )
    assert np.all(np.ptp(seen, axis=0) > 0)
    assert np.abs(seen).max() <= 5


def test_low_torso_ends_the_episode(ant: Robot) -> None:
    slots = Slots(ant, 1)
    slots.begin(0, 0)
    slots.batch.bind("qpos")[0, 2] = 0.2
    assert slots.advance(ONE) == 1
    assert slots.over(0)
    assert slots.tally.reward[0] < 0
    assert slots.tally.steps[0] == 1


@pytest.mark.parametrize("column", [0, 9, 20])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e12])
def test_a_diverged_state_ends_the_episode(ant: Robot, column: int, value: float, capfd) -> None:
    slots = Slots(ant, 2)
    for slot in (0, 1):
        slots.begin(slot, slot)
    state = np.concatenate([slots.batch.bind("qpos"), slots.batch.bind("qvel")], axis=1)
    part, index = ("qpos", column) if column < 15 else ("qvel", column - 15)
    assert state.shape == (2, 29)
    slots.batch.bind(part)[0, index] = value
    slots.advance(np.arange(2, dtype=np.int32))
    assert slots.tally.diverged.tolist() == [True, False]
    assert slots.over(0)
    assert not slots.over(1)
    assert capfd.readouterr().err == "", "MuJoCo's warning reached the terminal"


def test_a_slot_is_as_new_after_divergence(ant: Robot) -> None:
    slots = Slots(ant, 1)
    slots.begin(0, 5)
    slots.batch.bind("qpos")[0, 3] = np.nan
    slots.advance(ONE)
    slots.begin(0, 7)
    fresh = Slots(ant, 1)
    fresh.begin(0, 7)
    for either in (slots, fresh):
        for _ in range(20):
            either.actions[0] = 0.3
            either.advance(ONE)
    assert not slots.tally.diverged[0]
    assert np.array_equal(slots.batch.state, fresh.batch.state)


def test_kernels_agree_with_their_python(ant: Robot, controllers: np.ndarray) -> None:
    """The same short episode, compiled and with compilation switched off."""
    code = (
        "import numpy as np; from robots.robot import load_robot; from robots.simulation import Simulation\n"
        "simulation = Simulation(load_robot('ant').with_episode_steps(40), threads=1, slots=1)\n"
        "parameters = simulation.controller.initial(np.random.default_rng(0))[None]\n"
        "episodes = simulation.evaluate(parameters, np.array([3]))\n"
        "print(episodes.objectives[0], *episodes.measures[0], episodes.energies[0], episodes.distances[0])\n"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disable in ("0", "1")
    ]
    compiled, plain = (np.array(text.split(), float) for text in printed)
    np.testing.assert_allclose(plain, compiled, rtol=1e-3, atol=1e-3)

"""Transitions: what is recorded in compiled code is what stepping through the same episodes shows."""

import numpy as np
import pytest
from sabotage import sabotage

from robots.evaluations import Request, TransitionColumns
from robots.robot import Faults, Robot, load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.stepper import Stepper
from robots.simulation.threads import ALL_CORES, Threads

SEEDS = np.arange(5)


@pytest.fixture(scope="module")
def short(robot: Robot) -> Robot:
    return robot.with_episode_steps(60)


@pytest.fixture(scope="module")
def solutions(short: Robot) -> np.ndarray:
    rng = np.random.default_rng(0)
    initial = np.stack([short.controller.initial(rng) for _ in SEEDS])
    return initial * np.array([[0], [1], [3], [3], [10]], np.float32)  # from standing still to falling


def recorded(robot: Robot, solutions: np.ndarray, threads: int = 2) -> tuple[np.ndarray, ...]:
    transitions = (
        Threads(threads)
        .run(ModelBatch(robot), solutions, SEEDS, request=Request(transitions=True))
        .transitions
    )
    assert transitions is not None
    return transitions


def test_they_are_what_stepping_through_the_episode_shows(short: Robot, solutions: np.ndarray) -> None:
    columns, stepper = TransitionColumns(short.observation_dim, short.action_dim), Stepper(short)
    for rows, parameters, seed in zip(recorded(short, solutions), solutions, SEEDS, strict=True):
        before, over = stepper.reset(int(seed)), False
        for row in rows:
            assert not over
            action = short.controller.act(parameters, before, stepper.tally.steps)
            over = stepper.drive(parameters)
            after = stepper.state.observation.copy()
            assert row.shape == (columns.count,)
            for part, expected in ((columns.observation, before), (columns.action, action)):
                np.testing.assert_array_equal(row[part], expected)
            np.testing.assert_array_equal(row[columns.following], after)
            tally = stepper.tally
            assert row[columns.reward] == np.float32(tally.reward)
            assert (row[columns.terminated], row[columns.ended]) == (tally.terminated, over)
            before = after
        assert over


def test_neither_threads_nor_recording_change_anything(short: Robot, solutions: np.ndarray) -> None:
    for one, other in zip(recorded(short, solutions, 1), recorded(short, solutions, 4), strict=True):
        np.testing.assert_array_equal(one, other)
    backend, batch = Threads(2), ModelBatch(short)
    plain, full = (
        backend.run(batch, solutions, SEEDS, request=Request(transitions=recorded))
        for recorded in (False, True)
    )
    assert plain.transitions is None
    assert np.array_equal(plain.objectives, full.objectives)
    assert full.steps.tolist() == [len(rows) for rows in full.transitions]


def test_episodes_end_by_themselves_and_by_the_time_limit() -> None:
    hopper, rng = load_robot("hopper"), np.random.default_rng(0)
    columns = TransitionColumns(hopper.observation_dim, hopper.action_dim)
    controllers = np.stack([hopper.controller.initial(rng) for _ in range(12)])
    limit = int(np.median(ALL_CORES.run(ModelBatch(hopper), controllers, np.arange(12)).steps))
    found = ALL_CORES.run(
        ModelBatch(hopper.with_episode_steps(limit)),
        controllers,
        np.arange(12),
        request=Request(transitions=True),
    )
    rows = list(found.transitions)
    assert all(part[-1, columns.ended] == 1 and not part[:-1, columns.ended].any() for part in rows)
    assert [part[-1, columns.terminated] for part in rows] == found.fell.tolist()
    assert 0 < found.fell.sum() < 12


def test_an_action_is_the_controllers_also_where_it_arrives_late(ant: Robot, controllers: np.ndarray) -> None:
    late = ant.modified("late", lambda spec: None, Faults(delay=3))
    columns = TransitionColumns(ant.observation_dim, ant.action_dim)
    for rows, parameters in zip(recorded(late, controllers[:5]), controllers, strict=False):
        expected = ant.controller.act(parameters, rows[4, columns.observation], 4)
        np.testing.assert_array_equal(rows[4, columns.action], expected)


def test_an_episode_that_blows_up_leaves_none(
    ant: Robot, controllers: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = recorded(ant, controllers[:5])
    sabotage(monkeypatch, int(SEEDS[3]))
    after = recorded(ant, controllers[:5])
    assert len(after[3]) == 0
    for number in (0, 1, 2, 4):
        np.testing.assert_array_equal(after[number], before[number])

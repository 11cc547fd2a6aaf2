"""Relearning: gaits that are better on a damaged robot than those that they were refined from."""

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import surefoot
from adapt.damage.text import parse_damage
from adapt.objective import PRICE, Progress, TrainingReward, find_objective
from adapt.recovery import recover
from adapt.rehearsal.rehearsal import rehearsed_table
from adapt.rehearsal.storage import read_table, write_table
from adapt.rehearsal.table import join, widen
from adapt.relearning.refinement import Refinement, RefinementSettings, keep_gaits
from adapt.requests import RecoveryRequest
from adapt.selectors import self_model
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import ALL_CORES, Threads
from tests.adapt.rehearsal.small import rehearsed
from tests.adapt.self_model.small_minds import STEPS, short_gaits

LOST = "left_front:lost"
PROGRESS = Progress(price=0.1, steps=STEPS)


def refined(settings: RefinementSettings, gaits: int = 2, **more) -> Refinement:
    """What a search from the first of some gaits finds."""
    start = short_gaits().elites.solutions[:gaits]
    usual = {"objective": PROGRESS, "seed": 1, "backend": Threads(1)}
    return settings.refine([more.pop("robot", short_gaits().robot)], start, **usual | more)


@pytest.mark.slow
def test_a_refined_gait_is_better_in_episodes_that_the_search_never_saw() -> None:
    robot = parse_damage(LOST, short_gaits().robot).apply(short_gaits().robot)
    start, settings = short_gaits().elites.solutions[:3], RefinementSettings(810, 10, sigma0=0.03)
    found, again = (refined(settings, 3, robot=robot, seed=5, backend=Threads(n)) for n in (1, 2))
    np.testing.assert_array_equal(found.solution, again.solution)
    assert found.score == again.score > found.before + 0.02
    assert 810 <= found.episodes <= 810 + 10 + 3 * 8, "the last generation and the final episodes come on top"
    seeds = np.arange(1000, 1020)
    backend, batch = ALL_CORES, ModelBatch(robot)
    scores = [
        PROGRESS.of(backend.run(batch, np.tile(solution, (20, 1)), seeds)).mean()
        for solution in (*start, found.solution)
    ]
    assert max(scores[0], scores[found.start]) < scores[3] - 0.02


@pytest.mark.parametrize(("kind", "sigma"), [(None, 0.05), ((0.4, 0.4), 0.4)])
def test_a_search_begins_with_steps_that_suit_the_controller(monkeypatch, kind, sigma) -> None:
    class BegunError(Exception):
        """The search begins."""

    def begin(*, batch_size, sigma0):
        raise BegunError(sigma0)

    if kind:
        monkeypatch.setattr(type(short_gaits().robot.controller), "step_sizes", kind)
    monkeypatch.setattr("adapt.relearning.refinement.STRATEGIES", {"cma-es": begin})
    with pytest.raises(BegunError) as error:
        refined(RefinementSettings(episodes=30), 1)
    assert error.value.args[0] == pytest.approx(sigma)


def test_a_search_that_finds_nothing_better_gives_back_where_it_started() -> None:
    found = refined(RefinementSettings(episodes=30, batch_size=4, sigma0=1e-12))
    assert any(np.array_equal(found.solution, one) for one in short_gaits().elites.solutions[:2])
    assert found.score == found.before
    assert 0 < found.fall < 1, "eight episodes prove nothing"


def test_a_long_search_leaves_short_episodes_early() -> None:
    ran: list[tuple[int, int]] = []  # steps of a whole episode, and how many were simulated

    class Watched(Threads):
        def run(self, batch, *arguments, **settings):
            found = super().run(batch, *arguments, **settings)
            ran.append((batch.robots[0].description.episode_steps, int(found.steps.sum())))
            return found

    refined(RefinementSettings(100, 4, short_until=(0.6, 20), shortest=0.0), backend=Watched(1))
    short = round(0.4 * STEPS)
    assert [length for length, _ in itertools.groupby(ran, key=lambda one: one[0])] == [short, STEPS]
    assert 20 * STEPS <= sum(steps for length, steps in ran if length == short) < 40 * STEPS


def test_a_search_that_is_hurried_ends_after_a_generation() -> None:
    told, settings = [], RefinementSettings(episodes=1_000_000, batch_size=4, sigma0=0.03)
    refined(settings, on_progress=told.append, hurried=lambda: len(told) >= 1)
    assert len(told) == 1


def test_parts_of_a_search_are_as_one_search_and_go_on_with_its_step_size() -> None:
    whole = RefinementSettings(10, sigma0=0.3, short_until=(0.5, 99), lenient_until=(0.9, 8))
    parts = [whole.part(number, 3, sigma) for number, sigma in enumerate((0.0, 0.1, 0.0))]
    assert [one.episodes for one in parts] == [4, 4, 4]
    assert [one.sigma0 for one in parts] == [0.3, 0.1, 0.3]
    assert [one.short_until for one in parts] == [(1.0, 5), (1.0, 1), (1.0, 0)]
    assert [one.lenient_until for one in parts] == [(1.0, 8), (1.0, 4), (1.0, 0)]
    found = refined(RefinementSettings(40, 4, sigma0=0.3))
    assert found.reached is not None
    assert found.reached[0].shape == found.solution.shape
    assert found.reached[1] not in (0.0, 0.3)


@pytest.mark.parametrize(
    "wrong", [{"episodes": 0}, {"episodes": 1.5}, {"batch_size": 1}, {"sigma0": 0.0}, {"sigma0": np.nan}]
)
def test_settings_that_cannot_be(wrong) -> None:
    (name,) = wrong
    with pytest.raises(InvalidValueError, match=f"{name} must be"):
        RefinementSettings(**wrong)


def test_progress_is_what_was_walked_less_a_price_for_the_time_after_a_fall() -> None:
    episodes = ALL_CORES.run(
        ModelBatch(short_gaits().robot), short_gaits().elites.solutions[:4], np.arange(4)
    )
    episodes.distances[:] = [2.0, 2.0, -9.0, 5.0]
    episodes.steps[:] = [STEPS, STEPS // 2, STEPS, 1]
    episodes.diverged[:] = [False, False, False, True]
    assert Progress(1.0, STEPS).of(episodes).tolist() == [2.0, 1.5, -1.0, -1.0]
    assert TrainingReward(-7.0).of(episodes).tolist() == [*episodes.objectives[:3], -7.0]
    episodes.steps[0] = STEPS // 2  # of an episode that ends there, the only one in which it was up
    episodes.fell[:] = [False, True, False, False]
    assert Progress(1.0, STEPS).foreseen(episodes, 0.5).tolist() == [4.0, 1.5, -1.0, -1.0]
    forfeits = Progress(1.0, STEPS, forfeits=True)
    assert forfeits.of(episodes).tolist() == [1.5, -0.5, -1.0, -1.0]
    assert forfeits.foreseen(episodes, 0.5).tolist() == [4.0, -0.5, -1.0, -1.0]
    assert forfeits.lenient(STEPS) == Progress(0.2, STEPS), "a search learns to walk before it learns to last"
    episodes.lateral[:] = [-0.5, 0.25, 0.0, 0.0]
    beside = Progress(1.0, STEPS, aside=2.0)
    assert beside.of(episodes).tolist() == [0.5, 1.0, -1.0, -1.0]
    assert beside.lenient(STEPS) == Progress(0.2, STEPS, aside=2.0)
    halves = [2 * episodes.objectives[0], episodes.objectives[1], 2 * episodes.objectives[2], -7.0]
    assert TrainingReward(-7.0).foreseen(episodes, 0.5).tolist() == halves
    assert Progress(1.0, STEPS).lenient(STEPS // 4) == Progress(0.2, STEPS // 4)
    for price in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InvalidValueError, match="the price of a fall must be positive"):
            Progress(price, STEPS)


def test_the_objective_of_a_recovery_is_found_by_name() -> None:
    gaits = short_gaits()
    progress = find_objective("progress", gaits, 2.0)
    assert progress == Progress(2.0 * PRICE, STEPS, 0.1)
    assert gaits.robot.description.alive.forfeits
    less = {"preset": "straight", "drift": -0.5, "progress": 2.0}
    for reward, aside in (("straight", 1.0), (less, 0.25), ("paper", 0.0)):
        robot = gaits.robot.with_task(reward=reward)
        assert progress.lasting(robot) == replace(progress, forfeits=True, aside=aside)
    assert find_objective("reward", gaits, 2.0) == TrainingReward(gaits.settings.min_objective)
    assert find_objective("progress", gaits, -0.1) == TrainingReward(gaits.settings.min_objective)


def test_a_rehearsal_tells_how_far_gaits_came_and_is_read_where_it_does_not(tmp_path) -> None:
    gaits = short_gaits(6)
    evaluation = rehearsed(gaits, LOST)
    table = rehearsed_table(evaluation)
    found = evaluation.results()
    np.testing.assert_allclose(table.distances, found.distances.reshape(2, 6, 2).mean(axis=2), rtol=1e-6)
    progress = PROGRESS.of_table(table)
    survived, falls = ((value.reshape(2, 6, 2).mean(axis=2)) for value in (found.steps / STEPS, found.fell))
    np.testing.assert_allclose(
        progress.objectives, np.maximum(table.distances - 0.1 * (1 - survived), -0.1), rtol=1e-5, atol=1e-6
    )
    forfeited = replace(PROGRESS, forfeits=True).of_table(table).objectives
    kept = np.minimum(table.distances, (1 - falls) * table.distances) - 0.1 * (1 - survived)
    np.testing.assert_allclose(forfeited, np.maximum(kept, -0.1), rtol=1e-5, atol=1e-6)
    write_table(tmp_path / "new.h5", table, evaluation.identity)
    np.testing.assert_allclose(read_table(tmp_path / "new.h5", gaits).distances, table.distances, atol=1e-3)
    write_table(tmp_path / "old.h5", replace(table, distances=None), evaluation.identity)
    old = read_table(tmp_path / "old.h5", gaits)
    assert old.distances is None
    guessed, known = PROGRESS.of_table(old).objectives, progress.objectives
    assert np.corrcoef(guessed.ravel(), known.ravel())[0, 1] > 0.9, "most gaits go on as they began"
    assert widen([table, table]).distances.shape == (2, 12)
    assert join([table.take(["healthy"]), old.take([LOST])]).distances is None


def recovered(damage: str = LOST, trials: int = 4, gaits: Repertoire | None = None):
    """A recovery that relearns."""
    gaits, request = gaits or short_gaits(), RecoveryRequest(seed=2, trials=trials, think_episodes=200)
    refiner = RefinementSettings(episodes=400, batch_size=10)
    return recover(gaits, parse_damage(damage, gaits.robot), request, refiner=refiner, backend=Threads(2))


@pytest.fixture(scope="module")
def recovery():
    return recovered()


def test_nothing_is_refined_where_a_known_gait_does_well(monkeypatch) -> None:
    def called(*_, **__):
        raise AssertionError("it was refined")

    monkeypatch.setattr(RefinementSettings, "refine", called)
    recovered("left_front:weak@0.4", trials=2)
    with pytest.raises(AssertionError, match="refined"):
        recovered(trials=3)


@pytest.mark.parametrize(("prepared", "searches"), [(-np.inf, 1), (np.inf, 2)])
def test_where_a_gait_was_made_for_what_is_wrong_less_is_enough(prepared, searches, monkeypatch) -> None:
    started, refine = [], RefinementSettings.refine

    def counted(self, *given, number, **more):
        started.append(number)
        return refine(self, *given, number=number, **more)

    monkeypatch.setattr(RefinementSettings, "refine", counted)
    monkeypatch.setattr(self_model, "GOOD", np.inf)
    monkeypatch.setattr(self_model, "PREPARED", prepared)
    recovery = recovered()
    assert started == list(range(searches))
    refined = [trial.refined for trial in recovery.trials]
    assert refined[:3] == [False, False, True], "what is known is walked first"
    started.clear()
    recovered(gaits=keep_gaits(short_gaits(), recovery.refined[:1], seed=1))
    assert (not started) == (searches == 1), "a specialist is such a gait"


@pytest.mark.parametrize(
    ("told", "worth", "searches"),
    [
        ([(0, False)], [0, 1, 0, 0], False),  # what is tried next is promising
        ([(0, False)], [0, 0, 1, 0], True),  # it creeps; what goes far would fall
        ([(0, False), (1, False)], [0, 0, 1, 0], False),  # what is known to walk is worth no other trial
        ([(0, False), (1, True)], [0, 0, 1, 0], True),  # it was tried, and fell
        (
            [(0, False)],
            [0, 0, 0, 1],
            False,
        ),  # three quarters of the old gait's 4 m, not of the best one's 9 m
    ],
)
def test_a_search_pays_by_what_would_be_tried_or_walked_with(told, worth, searches, monkeypatch) -> None:
    one = object.__new__(self_model.Fitted)
    outcomes = [(row, SimpleNamespace(fell=fell)) for row, fell in told]
    vars(one).update(
        _outcomes=outcomes,
        _made_for={},
        _zero=0.0,
        _explained=1.0,
        trials=9,
        prior=SimpleNamespace(objectives=np.array([4.0, 9.0, 5.0, 5.0])),
        _twin=SimpleNamespace(thinking=SimpleNamespace(hurried=lambda: False)),
    )
    monkeypatch.setattr(self_model.Fitted, "predicted", np.array([0.1, 7.0, 0.5, 3.1]))
    monkeypatch.setattr(self_model.Fitted, "worth", np.array(worth))
    monkeypatch.setattr(self_model.MultiPrior, "diagnosis", lambda _: [("left_front:lost", 1.0)])
    assert one._worth_refining(SimpleNamespace(searches=0), told[-1][0]) == searches


def test_a_gait_that_was_found_is_tried_like_any_other(recovery) -> None:
    assert recovery.refined
    gait = recovery.refined[0]
    assert gait.row == 40
    assert gait.score > gait.before
    assert all("left_front" in text for text in gait.believed)
    tried = [trial for trial in recovery.trials if trial.refined]
    assert {trial.row for trial in tried} <= {gait.row for gait in recovery.refined}
    assert tried
    score = recovery.refined[tried[0].row - 40].score
    assert tried[0].predicted == pytest.approx(score, abs=0.1), "models expect something of it"
    assert {trial.cell for trial in tried} <= {short_gaits().cell(row) for row in range(40)}
    assert recovery.confirmation is not None
    assert recovery.confirmation.row >= 40, "it must prove itself like any other"
    record = json.loads(json.dumps(recovery.to_json(), allow_nan=False))
    assert record["objective"] == "progress"
    assert [found["parent"] for found in record["refined"]] == [one.parent for one in recovery.refined]
    assert "solution" not in record["refined"][0]


def test_gaits_that_were_found_are_kept_with_where_they_come_from(recovery) -> None:
    gaits, (first, *_) = short_gaits(), recovery.refined
    second = replace(first, row=41, parent=40, believed=("left_front:dead",), episodes=7)
    kept = keep_gaits(gaits, [first], seed=2, backend=Threads(1))
    again = keep_gaits(kept, [second, replace(second, row=42, parent=41)], seed=2, backend=Threads(1))
    assert (len(kept), len(again), again.elites) == (41, 43, gaits.elites)
    assert again.specialists.damages == (first.believed, second.believed, second.believed)
    assert again.specialists.origins.tolist() == [gaits.elites.cells[first.parent]] * 3
    assert again.specialists.episodes.tolist() == [first.episodes, 7, 7]
    np.testing.assert_array_equal(again.gaits.solutions[40:], [first.solution] * 3)
    assert kept.robot.modifications == (), "the damage is not part of the robot"
    assert surefoot.keep(gaits, replace(recovery, refined=()), threads=1) is gaits
    with pytest.raises(InvalidValueError, match="not refined from a repertoire of 41 gaits"):
        surefoot.keep(kept, recovery, threads=1)

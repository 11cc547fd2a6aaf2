"""Recovery: the trial loop on a small repertoire, simulated, and on numbers made up."""

import dataclasses
import json
from typing import ClassVar

import numpy as np
import pytest

from adapt.damage.kinds.limbs import Lost
from adapt.evidence import evidence_names
from adapt.records import Trial
from adapt.recovery import PERFORMANCE_EPISODES, find_incumbent
from adapt.recovery import recover as run_recovery
from adapt.requests import RecoveryRequest
from adapt.selectors import catalogue
from adapt.selectors.catalogue import SelectorEntry
from adapt.selectors.selector import Selector
from repertoire.archives.archive import Elites
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Spread
from robots.deployment.deployment import deploy
from robots.files.records import validate
from robots.robot import load_robot
from robots.simulation.backend import Backend
from robots.simulation.episodes import Episodes
from tests.adapt.rehearsal.small import STEPS, small_repertoire

OTHERS = ("table", "backend", "on_trial", "interrupted")  # than fields of a request
LOST = Lost("front_left")
REPERTOIRE = small_repertoire()


def recover(repertoire, **settings):
    others = {name: settings.pop(name) for name in OTHERS if name in settings}
    return run_recovery(repertoire, LOST, validate(RecoveryRequest, settings), **others)


class InOrder(Selector):
    """Tries the rows from the last to the first, and remembers what it was told."""

    outcomes: ClassVar[list] = []

    @property
    def predicted(self):
        return 10.0 * np.arange(len(self.prior))

    @property
    def worth(self):
        return np.arange(len(self.prior))

    def recommendation(self):
        means = self.means()
        return max(means, key=means.get)

    def diagnosis(self):
        return [("worn out", 0.7), ("tired", 0.291), ("bewitched", 0.009)]

    def _learn(self, row, outcome):
        self.outcomes.append(outcome)


class Fake(Backend):
    """Controller i scores what its first parameter says, plus noise of the seed, minus 5 on a damaged robot.

    Controller 0 diverges when damaged.
    """

    threads = 1

    def __init__(self):
        self.seeds = []

    def _run(self, work):
        parameters, seeds, (robot,) = work.solutions, work.seeds, work.batch.robots
        damaged = bool(robot.modifications)
        assert robot.description.episode_steps == STEPS
        self.seeds.append((damaged, np.array(seeds)))
        noise = np.array([np.random.default_rng(seed).normal() for seed in seeds])
        objectives = parameters[:, 0] + noise - 5.0 * damaged
        diverged = damaged & (parameters[:, 0] == 0)
        objectives[diverged] = np.nan
        n = len(seeds)
        return dataclasses.replace(
            Episodes.unknown(n, load_robot("ant")),
            objectives=objectives,
            steps=np.full(n, 7),
            fell=(parameters[:, 0] == 3) | diverged,
            midway=np.full(n, 0.2),
            distances=np.full(n, 0.5),
            diverged=diverged,
        )


@pytest.fixture
def made_up(monkeypatch):
    """A repertoire whose elites i = 0 to 4 score i, with a trap: row 2 says it is the best."""
    monkeypatch.setattr(InOrder, "outcomes", [])
    monkeypatch.setitem(
        catalogue._SELECTORS, "in-order", SelectorEntry("in-order", "from the last to the first", InOrder)
    )
    first = REPERTOIRE.elites
    solutions = np.repeat(np.arange(5, dtype=np.float32)[:, None], first.solutions.shape[1], axis=1)
    elites = Elites(first.cells, solutions, np.array([0.0, 1, 99, 3, 4]), first.measures)
    return dataclasses.replace(REPERTOIRE, elites=elites)


@pytest.fixture
def go(made_up):
    """Recovers the made-up repertoire from a lost leg, with the selector that goes from last to first."""

    def recovered(**settings):
        usual = {"seed": 3, "selector": "in-order", "objective": "reward", "backend": Fake()}
        return recover(made_up, **usual | settings)

    return recovered


def test_a_recovery_from_start_to_end():
    told = []
    settings = {"trials": 6, "selector": "best-first", "confirmations": 0, "objective": "reward"}
    recovery = recover(REPERTOIRE, seed=1, on_trial=told.append, **settings)
    damaged, elites = LOST.apply(REPERTOIRE.robot), REPERTOIRE.elites
    assert (recovery.robot, recovery.damage, recovery.seed) == ("ant", "front_left:lost", 1)
    assert tuple(told) == recovery.trials
    assert [trial.number for trial in told] == list(range(1, len(told) + 1))
    assert recovery.trials[0].row == recovery.incumbent != recovery.trials[1].row
    assert recovery.trials[0].predicted == pytest.approx(elites.objectives[recovery.incumbent])
    for trial in recovery.trials:
        assert trial.cell == REPERTOIRE.cell(trial.row)
        seconds = STEPS * damaged.control_step
        again = deploy(damaged, elites.solutions[trial.row], seconds=seconds, seed=trial.seed)
        assert trial.measured == pytest.approx(again.rewards.sum(), rel=1e-12)
        assert trial.steps == len(again)
    assert recovery.row == max(told, key=lambda trial: trial.measured).row
    record = json.loads(json.dumps(recovery.to_json(), allow_nan=False))
    assert list(record.values())[:2] == ["surefoot-recovery", 11]
    assert record["healthy"]["objective"] == recovery.healthy.objective
    assert set(record["trials"][0]) == {field.name for field in dataclasses.fields(Trial)}


def test_the_loop_tells_the_selector_what_was_measured(made_up, go):
    recovery = go(trials=9, confirmations=0)
    assert [trial.row for trial in recovery.trials] == [4, 3, 2, 1, 0]
    assert [trial.predicted for trial in recovery.trials] == [40, 30, 20, 10, 0]
    for trial in recovery.trials[:-1]:
        assert trial.measured == pytest.approx(trial.row - 5 + np.random.default_rng(trial.seed).normal())
        assert (trial.steps, trial.distance) == (7, 0.5)
    assert recovery.trials[-1].measured == REPERTOIRE.settings.min_objective  # it diverged
    outcomes = InOrder.outcomes
    assert [outcome.fell for outcome in outcomes] == [False, True, False, False, True]  # the last diverged
    assert [trial.fell for trial in recovery.trials] == [outcome.fell for outcome in outcomes]
    assert recovery.falls == 2
    midway = evidence_names(made_up.robot).index("midway [m]")
    assert [outcome.evidence[midway] for outcome in outcomes] == [0.2, 0.2, 0.2, 0.2, 0.0]
    assert recovery.stop == "every controller was tried"
    assert go(trials=2, confirmations=0).stop == "all 2 trials are used up"


def test_levels_are_means_on_common_seeds_that_no_trial_saw(go):
    fake = Fake()
    recovery = go(trials=5, confirmations=0, backend=fake)
    (_, incumbents), *others = fake.seeds
    levels = [(damaged, seeds) for damaged, seeds in others if len(seeds) == PERFORMANCE_EPISODES]
    assert [damaged for damaged, _ in levels] == [False, True, True]
    common = levels[0][1]
    assert all(np.array_equal(seeds, common) for _, seeds in levels)
    assert len(incumbents) == 5 * PERFORMANCE_EPISODES
    compared, used = set(incumbents.tolist()), set(common.tolist())
    assert len(compared) == len(used) == PERFORMANCE_EPISODES
    trials = {trial.seed for trial in recovery.trials}
    assert len(trials | compared | used) == 5 + 2 * PERFORMANCE_EPISODES
    noise = [np.random.default_rng(seed).normal() for seed in common]
    assert recovery.incumbent == 4, "the best by the record is not the best by experience"
    assert recovery.healthy.objective == pytest.approx(4 + np.mean(noise))
    assert recovery.broken.objective == pytest.approx(4 - 5 + np.mean(noise))
    assert recovery.recovered.objective == pytest.approx(recovery.row - 5 + np.mean(noise))
    error = np.std(noise, ddof=1) / np.sqrt(PERFORMANCE_EPISODES)
    assert recovery.recovered.standard_error == pytest.approx(error)
    assert recovery.recovered.distance == 0.5


def test_a_corrected_repertoire_knows_its_best_gait(made_up):
    n, m = made_up.elites.measures.shape
    spread = Spread(np.zeros(n), np.zeros((n, m)), np.ones(n), episodes=10, seed=1)
    evaluator = Evaluator(
        dataclasses.replace(made_up, spread=spread), {"intact": load_robot("ant")}, backend=Fake()
    )
    assert find_incumbent(evaluator, seed=3) == 2
    assert not evaluator.backend.seeds, "no episode is needed"


def test_the_gait_found_must_beat_the_incumbent_in_trials_that_are_in_the_record(go):
    recovery = go(trials=20)
    rows = [trial.row for trial in recovery.trials]
    assert rows[:5] == [4, 3, 2, 1, 0]
    assert not any(trial.confirms for trial in recovery.trials[:5])
    assert all(trial.confirms for trial in recovery.trials[5:])
    assert recovery.row == recovery.incumbent == 4
    unsearched = go(trials=20, confirmations=0)
    assert (unsearched.confirmation, len(unsearched.trials)) == (None, 5)


def test_the_record_tells_what_was_thought_to_be_wrong(go):
    recovery = go(trials=2)
    assert recovery.diagnosis == {"worn out": 0.7, "tired": 0.291}
    record = json.loads(json.dumps(recovery.to_json()))
    assert [list(trial["diagnosis"]) for trial in record["trials"]] == [["worn out", "tired"]] * 2


def test_no_trial_follows_the_last_fall_that_is_allowed(go):
    for allowed, rows in ((1, [4, 3]), (2, [4, 3, 2, 1, 0]), (3, [4, 3, 2, 1, 0])):
        recovery = go(trials=9, max_falls=allowed, confirmations=0)
        assert [trial.row for trial in recovery.trials] == rows
    again = go(trials=9, max_falls=1, confirmations=3)
    assert [trial.row for trial in again.trials] == [4, 3]
    assert again.stop == "the robot fell 1 times, and more is not allowed"


def test_who_interrupts_before_the_first_trial_keeps_the_old_gait(go):
    for name in ("in-order", "random", "map-bo"):
        recovery = go(trials=5, selector=name, interrupted=lambda: True)
        assert [trial.row for trial in recovery.trials] == [recovery.incumbent]
        assert recovery.row == recovery.incumbent
        assert recovery.stop == "it was interrupted"


def test_who_interrupts_hurries_thoughts(go):
    contexts, asked = [], []
    thinks = SelectorEntry("thinker", "", lambda one: contexts.append(one) or InOrder(one), thinks=True)
    go(selector=thinks, trials=1, interrupted=lambda: "stop" in asked)
    (context,) = contexts
    assert not context.thinking.hurried()
    asked += ["stop"]
    assert context.thinking.hurried()

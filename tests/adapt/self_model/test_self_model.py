"""The self-model: it finds what is wrong, and what works then; where it cannot, it is `rehearsed`."""

from copy import deepcopy
from dataclasses import replace
from functools import cache, cached_property

import numpy as np
import pytest
from small_minds import only, short_gaits, trial

from adapt.damage import HEALTHY
from adapt.damage.text import parse_damage
from adapt.records import Outcome
from adapt.rehearsal.table import Table, tabulate
from adapt.selectors.catalogue import make_selector
from adapt.selectors.multi_prior import UNKNOWN
from adapt.selectors.selector import Context, Prior, Selector
from adapt.self_model.features import Features
from adapt.self_model.fit import Fit
from adapt.self_model.forecast import Forecast, forecast, gait_features
from adapt.self_model.rating import Rating
from adapt.self_model.suspects import Suspects
from adapt.self_model.twin import Run, Thinking, Twin
from repertoire.problems.locomotion import walking_record
from robots.errors import InvalidValueError
from robots.simulation.threads import Threads

JOINTS = only("weak", "offset", "lost")
DAMAGE = "joint=left_middle_femur:offset@0.6+joint=right_rear_coxa:weak@0.05"


def fitted(text, *, without=JOINTS, trace=None, **limits):
    """A rating of models after one trial, perhaps with a trace of its own, and a search."""
    repertoire = short_gaits()
    thinking = Thinking(repertoire, **{"episodes": 525, "backend": Threads(2), **limits})
    rating = Rating(Twin(thinking), Features(repertoire.robot), seed=3)
    fit = Fit(rating, Suspects(repertoire.robot, without=without), [], seed=3)
    shown, fell, _ = trial(text, 0)
    rating.tell(0, shown if trace is None else trace, fell)
    fit.search(0.8)
    return rating


@cache
def found_first() -> Rating:
    """The rating after the search for both faults, which takes a while."""
    return fitted(DAMAGE)


@pytest.fixture
def rating() -> Rating:
    """A copy of that, to be changed."""
    first = found_first()
    return deepcopy(first, {id(shared): shared for shared in (first._twin, first.features)})


@pytest.mark.slow
def test_two_faults_are_found_the_same_for_any_number_of_threads() -> None:
    fit, again = found_first(), fitted(DAMAGE, backend=Threads(1))
    best = fit.best(1)[0]
    kinds = {(single.target, single.kind): single.strength for single in best.singles}
    assert kinds["joint=left_middle_femur", "offset"] == pytest.approx(0.6, abs=0.1)
    assert kinds["joint=right_rear_coxa", "weak"] == pytest.approx(0.05, abs=0.1)
    assert fit.explained(best) > 0.8 > fit.explained(fit.healthy) == 0
    assert [str(model.damage) for model in fit.best(20)] == [str(model.damage) for model in again.best(20)]
    assert [fit.loss(model) for model in fit.best(20)] == [again.loss(model) for model in again.best(20)]


def test_only_the_first_250_control_steps_of_a_trial_count() -> None:
    gaits = short_gaits()
    longer = replace(gaits, problem=walking_record(gaits.robot.with_episode_steps(400)))
    rating = Rating(Twin(Thinking(longer, backend=Threads(2))), Features(longer.robot), seed=3)
    shown, *_ = trial("left_middle:dead", 0)
    for row, steps in enumerate((400, 240)):
        rating.tell(row, np.resize(shown, (steps, shown.shape[1])), fell=True)
    first, second = rating.trials.values()
    assert (first.steps, first.falls, len(first.traces[0])) == (250, [False], 250)
    assert (second.steps, second.falls) == (240, [True])
    rating.simulate([rating.healthy])
    assert rating.healthy.shown[0].shape == (1, len(rating.features))


def test_the_mean_likelihood_of_several_episodes_counts_and_models_that_lead_are_confirmed(rating):
    assert {len(model.falls[0]) for model in rating.best(3)} == {4}, "the best models ran several episodes"
    model, other = rating.best(40)[-2:]
    shown = [model.shown[0][:1], other.shown[0][:1]]
    losses = []
    for rows in (shown[:1], shown[1:], shown):
        model.shown[0], model.falls[0] = np.concatenate(rows), np.resize(model.falls[0], len(rows))
        losses.append(rating.loss(model) - 3 * len(model.singles))
    assert losses[2] == pytest.approx(-np.log(np.exp(-np.array(losses[:2])).mean()))


def test_what_a_model_loses_is_its_misfit_whether_it_falls_and_a_price_for_each_fault(rating: Rating) -> None:
    (trials,), every = rating.active, rating.best(1000)
    losses = [rating.loss(model) for model in every]
    assert losses == sorted(losses)
    assert {len(model.singles) for model in every} >= {0, 1, 2}
    for model in [one for one in every if len(one.falls[0]) == 1][::20]:
        misfit = rating.misfits(model.shown[0], trials).sum() + 3 * (model.falls[0][0] != trials.falls[0])
        assert rating.loss(model) == pytest.approx(misfit + 3 * len(model.singles))


def test_models_that_fall_where_the_robot_did_not_run_many_episodes_of_which_the_likely_ones_count(rating):
    model = rating.best(1)[0]
    (trials,) = rating.active
    model.falls[0] = np.ones(4, bool)
    rating.reconsider(np.inf)
    assert len(model.falls[0]) == 20
    model.shown[0], model.falls[0] = trials.measured + np.array([[0.0], [9.0]]), np.array([False, True])
    shown, _ = rating.evidence_of([model])(0)
    np.testing.assert_allclose(shown[0], trials.measured, atol=1e-6)


def test_each_of_several_faults_is_doubted_in_many_episodes_without_it(rating: Rating) -> None:
    best = rating.best(1)[0]
    assert len(best.singles) > 1
    for fault in best.singles:
        assert len(rating.models[str(fault)].falls[0]) == 20


def test_what_the_model_was_off_by_before_is_no_evidence_of_a_fault() -> None:
    text = "all:stiff@0.3"
    trace, _, _ = trial(text, 0, seed=1)
    losses = []
    for before in ((), ((0, trace),)):
        rating = fitted(text, without=only("slope"), episodes=100, before=before)
        losses.append(rating.loss(rating.healthy))
    assert losses[1] < 0.5 * losses[0]
    rating.simulate([rating.healthy], episodes=4)
    healthy, off_by = rating.healthy.mean(0), rating.features.of([trace], len(trace)) - rating.healthy.mean(0)
    assert rating.read([trace], len(trace)) == pytest.approx(healthy + 0.3 * off_by)
    with pytest.raises(InvalidValueError, match="a trace of the hexapod must have"):
        fitted(text, before=((0, trace[:, 1:]),))


def test_a_stuck_joint_is_read_off_encoders_that_are_noisy() -> None:
    trace, _, _ = trial("joint=left_middle_femur:locked@0.5", 0)
    noisy = trace + 0.01 * np.random.default_rng(0).standard_normal(trace.shape)
    rating = fitted("joint=left_middle_femur:locked@0.5", without=only("locked"), trace=noisy)
    place = next(single for single in rating.best(1)[0].singles if "left_middle_femur" in str(single))
    assert place.strength == pytest.approx(0.5, abs=0.01)


def test_exploring_goes_on_until_every_gait_ran_under_a_model_in_few_rounds() -> None:
    repertoire = short_gaits(200)
    twin = Twin(Thinking(repertoire, 1000, backend=Threads(2)))
    rating = Rating(twin, Features(repertoire.robot), seed=3)
    found = Forecast(twin, repertoire.elites.measures, seed=3)
    twin.begin()
    rounds = 0
    while not found.complete(rating.healthy):
        found.explore(rating.healthy, repertoire.elites.objectives, [])
        rounds += 1
    assert twin.episodes == len(repertoire)
    assert rounds < 10
    means, _ = found.of(rating.healthy)
    found.run(rating.healthy, [7], 5)
    assert twin.episodes == len(repertoire) + 5, "what was foreseen makes way for whole episodes"
    assert found.of(rating.healthy)[0][7, 0] != means[7, 0], "forecasts are made anew"


def test_gaits_that_are_explored_run_two_fifths_of_an_episode(monkeypatch) -> None:
    gaits = short_gaits()
    gaits = replace(gaits, problem=walking_record(gaits.robot.with_episode_steps(300)))
    twin, lengths, run = Twin(Thinking(gaits, 1000, backend=Threads(2))), [], Twin.run
    monkeypatch.setattr(
        Twin, "run", lambda self, runs, **how: lengths.append(how.get("steps")) or run(self, runs, **how)
    )
    healthy = Rating(twin, Features(gaits.robot), seed=3).healthy
    found = Forecast(twin, gaits.elites.measures, seed=3)
    found.explore(healthy, gaits.elites.objectives, [])
    begun = found.of(healthy)[0][:, 0]
    found.run(healthy, range(len(gaits)), 1)
    assert lengths == [120, None]
    whole = found.of(healthy)[0][:, 0]
    assert np.corrcoef(begun, whole)[0, 1] > 0.9
    assert begun.mean() == pytest.approx(whole.mean(), rel=0.1), "they are foreseen to go on as they began"


@pytest.mark.parametrize("known", [False, True])
def test_what_a_fit_explains_is_judged_by_gaits_that_are_known_from_before(known, rating):
    rating = fitted(DAMAGE, before=((0, trial("healthy", 0)[0]),), episodes=200) if known else rating
    best = rating.best(1)[0]
    explained = rating.explained(best)
    rating.tell(1, *trial("left_front:lost", 1)[:2])
    rating.simulate([best, rating.healthy])
    assert explained > 0.5
    assert (rating.explained(best) == explained) == known


def test_forecasts_are_exact_where_all_is_linear_and_unsure_elsewhere() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(300, 3))
    features = gait_features(rng.normal(size=(20, 3)) @ hidden.T, rng.random((300, 2)))
    truth, rows = hidden @ [1.0, -2.0, 0.5], np.arange(40)
    means, deviations = forecast(features, rows, truth[rows, None])
    assert np.corrcoef(means[40:, 0], truth[40:])[0, 1] > 0.97
    assert deviations[rows].mean() < 0.7 * deviations[40:].mean()


@cache
def rehearsal(conditions: tuple[str, ...]) -> Table:
    """What each gait does in five episodes with each damage."""
    gaits, twin = short_gaits(), Twin(Thinking(short_gaits(), backend=Threads(2)))
    damages = [parse_damage(text, gaits.robot) for text in conditions]
    found = twin.run([Run(damage, row, 5) for damage in damages for row in range(len(gaits))])
    shape = (len(conditions), len(gaits), 1)
    measured = found.objectives.reshape(shape), found.fell.reshape(shape), np.zeros((*shape, 1))
    return tabulate(*measured, conditions=conditions, evidence_names=("none",))


class Robot:
    """A damaged robot, what a selector may know of it, and that selector."""

    def __init__(self, text: str, library: tuple[str, ...] = (), **thinking: object) -> None:
        self.text, self.repertoire = text, short_gaits()
        elites = self.repertoire.elites
        limits = {"episodes": 500, "without": JOINTS, "backend": Threads(2)} | thinking
        prior, thinking = Prior(elites.objectives, elites.measures, 0.0), Thinking(self.repertoire, **limits)
        table = rehearsal((HEALTHY, *library)) if library else None
        self.context = Context(prior, trials=8, seed=1, table=table, thinking=thinking)

    @cached_property
    def selector(self) -> Selector:
        return make_selector("self-model", self.context)

    def tries(self, *rows: int | None) -> Selector:
        """Tells the selector of gaits, None for the one that it asks for, and returns it."""
        for row in rows:
            row = self.selector.ask() if row is None else row
            self.selector.tell(row, self.outcome(row))
        return self.selector

    def outcome(self, row: int) -> Outcome:
        trace, fell, objective = trial(self.text, row)
        return Outcome(objective, fell, trace=trace)

    def truth(self) -> np.ndarray:
        damage, rows = parse_damage(self.text, self.repertoire.robot), range(len(self.repertoire))
        return Twin(Thinking(self.repertoire)).run([Run(damage, row, 7) for row in rows]).objectives


@pytest.mark.slow
def test_the_second_trial_is_nearly_the_best() -> None:
    robot = Robot(DAMAGE, ("left_front:lost", "right_rear:dead"))
    thought = robot.tries(0).thought()
    assert 300 < thought.episodes < 700
    selector = robot.tries(None)
    truth = robot.truth()
    assert truth[selector.recommendation()] > 0.9 * truth.max() > 1.5 * truth[0]
    cause, probability = selector.reported_diagnosis()[0]
    assert "left_middle_femur:offset@" in cause
    thought = selector.thought()
    assert thought.explained > 0.7
    assert 0.5 < probability <= thought.explained
    assert thought.episodes < 50, "a gait that does what was foreseen needs no thought"
    assert "explains" in thought.words


def test_a_gait_is_believed_to_do_what_it_did_however_well_a_fit_explains_its_trace() -> None:
    robot = Robot(DAMAGE, episodes=250)
    selector = robot.selector
    outcomes = [replace(o, objective=o.objective + 0.6) for o in map(robot.outcome, (0, 3, 9))]
    for row, outcome in zip((0, 3, 9), outcomes, strict=True):
        selector.tell(row, outcome)
    assert selector.thought().explained > 0.7
    np.testing.assert_allclose(selector.predicted[[0, 3, 9]], [o.objective for o in outcomes], atol=0.05)


def test_what_was_rehearsed_wins_over_a_misfit() -> None:
    library = ("left_front:lost", "right_front:dead")
    selector = Robot("left_front:lost", library, without=only("slope"), episodes=250).tries(0)
    probability = sum(p for cause, p in selector.diagnosis() if "left_front:lost" in cause)
    assert probability > 0.9


def test_a_gait_that_was_lucky_when_it_was_rehearsed_runs_whole_episodes_before_it_is_tried() -> None:
    robot = Robot("left_front:lost", ("left_front:lost",), without=only("slope"), episodes=250)
    truth, table = robot.truth(), robot.context.table
    lucky = int(np.argmin(truth))
    objectives = table.objectives.copy()
    objectives[1, lucky] = 1.5 * truth.max()
    robot.context = replace(robot.context, table=replace(table, objectives=objectives))
    selector = robot.tries(0)
    assert selector.predicted[lucky] < 0.5 * truth.max()
    assert selector.ask() != lucky


def test_a_misfit_hands_back_to_rehearsed() -> None:
    robot = Robot(DAMAGE, ("right_front:dead",), without=only("slope"), episodes=250)
    selector = robot.selector
    plain = make_selector("rehearsed", replace(robot.context, thinking=None))
    for row in (0, None):
        row = plain.ask() if row is None else row
        assert row == 0 or selector.ask() == row
        for one in (selector, plain):
            one.tell(row, replace(robot.outcome(row), evidence=np.array([0.1])))
        np.testing.assert_array_equal(selector.predicted, plain.predicted)
    assert selector.recommendation() == plain.recommendation()
    assert selector.thought().explained < 0.3
    assert selector.diagnosis() == plain.diagnosis()
    causes, believed = dict(selector.reported_diagnosis()), dict(plain.reported_diagnosis())
    assert sum(causes.values()) == pytest.approx(1)
    held = believed["right_front:dead"] * selector.thought().explained
    assert causes["right_front:dead"] == pytest.approx(held)
    assert causes["healthy"] == pytest.approx(believed["healthy"])
    assert causes[UNKNOWN] > believed[UNKNOWN]


def test_a_fit_that_explains_a_third_is_believed() -> None:
    selector = Robot(DAMAGE, ("right_front:dead",), without=only("bent"), episodes=250).tries(0)
    assert 0.3 < selector.thought().explained < 0.6
    assert "joint=left_middle_femur:bent@" in selector.diagnosis()[0][0]


def test_a_trial_without_a_trace_counts_by_its_objective() -> None:
    robot = Robot(DAMAGE, ("left_front:lost",))
    selector = robot.selector
    plain = make_selector("rehearsed", replace(robot.context, thinking=None))
    for one in (selector, plain):
        one.tell(3, Outcome(0.1))
    assert selector.thought() is None
    np.testing.assert_allclose(selector.predicted, plain.predicted)
    assert dict(selector.reported_diagnosis()) == pytest.approx(dict(plain.diagnosis()))


@pytest.mark.parametrize("episodes", [1, 60])
def test_whoever_can_hardly_think_does_what_rehearsed_does(episodes: int) -> None:
    robot = Robot(DAMAGE, ("left_front:lost",), without=(), episodes=episodes)
    for row in (0, 1, None):
        # those of both conditions, of noise, and a batch or two
        assert robot.tries(row).thought().episodes < 130


def test_wrong_input() -> None:
    robot = Robot(DAMAGE)
    with pytest.raises(InvalidValueError, match="needs a model of the robot to think with"):
        make_selector("self-model", replace(robot.context, thinking=None))
    few = replace(robot.context.prior, objectives=np.ones(3), measures=np.ones((3, 6)))
    with pytest.raises(InvalidValueError, match="repertoire's 3 controllers, not with 40"):
        make_selector("self-model", replace(robot.context, prior=few))
    with pytest.raises(InvalidValueError, match="a trace of the hexapod must have"):
        robot.selector.tell(0, Outcome(1.0, trace=np.zeros((3, 5))))
    assert robot.selector.rows == []

"""Recovery: tries controllers of a repertoire on a damaged robot until one works."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adapt.confirmation import ConfirmedSearch
from adapt.damage.damage import Damage
from adapt.experiment import Attempt, Experiment
from adapt.objective import Progress, RecoveryObjective, find_objective
from adapt.oracle import find_oracle, true_objectives
from adapt.records import Performance, Recovery, Trial
from adapt.rehearsal.rehearsal import quick_rehearsal
from adapt.rehearsal.table import Table
from adapt.requests import RecoveryRequest
from adapt.selectors.catalogue import choose_selector, find_selector
from adapt.selectors.selector import Prior, Selector
from adapt.self_model.calibration import Calibration
from adapt.self_model.twin import Thinking
from repertoire.evaluation.evaluator import Evaluation, Evaluator, objectives_and_falls
from repertoire.repertoire import Repertoire
from robots.deployment.walk import Walk
from robots.errors import InvalidValueError
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.episodes import Episodes
from robots.simulation.threads import ALL_CORES

PERFORMANCE_EPISODES = 10
_CANDIDATES = 20
_TAKES_TIME = (
    "rehearsing lost and dead legs",
    "trying every gait",
    "thinking",
    "refining a gait",
)  # in words
_NEGLIGIBLE = 0.01  # probability below which a cause is left out of the record


def recover(
    repertoire: Repertoire,
    damage: Damage,
    request: RecoveryRequest,
    *,
    table: Table | None = None,
    rehearse: bool = False,
    calibration: Calibration | None = None,
    thinking: Thinking | None = None,
    backend: Backend = ALL_CORES,
    on_trial: Callable[[Trial], None] | None = None,
    on_progress: Callable[[str, float], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Recovery:
    """Find a controller that works on the damaged robot.

    Args:
        repertoire: of the intact robot.
        damage: what broke.
        request: what to do.
        table: the repertoire's rehearsal.
        rehearse: whether to rehearse each leg dead and lost first, see `quick_rehearsal`, if there is no
            table and the selector makes use of one.
        calibration: models of the real robot. Then one of them, which the seed chooses, is damaged in place
            of the repertoire's robot, and a selector that simulates thinks with the medians of all.
        thinking: what a selector that simulates may do between trials, in place of what the request says of
            that.
        backend: what runs the episodes. The result does not depend on it.
        on_trial: called after each trial.
        on_progress: called with what takes time between trials, in words, and the share of it that is done,
            perhaps from other threads.
        interrupted: asked during the rehearsal, after each trial and while the selector thinks, whether to
            stop with the best gait so far.

    Raises:
        UnknownNameError: the robot has no such part, or there is no such selector.
        InvalidValueError: the repertoire is empty or does not fit its robot, or the selector needs a table
            and there is none or the other way round.
    """
    seed, robot = request.seed, repertoire.robot
    _check_repertoire(repertoire)
    entry = find_selector(request.selector)
    if not entry.thinks and (thinking is not None or request.thinks):
        raise InvalidValueError(f"the {entry.name} selector does not think between trials: choose self-model")
    rehearsing, trying, thinking_on, refining = (
        on_progress and partial(on_progress, what) for what in _TAKES_TIME
    )
    if calibration:
        robot = calibration.sample(robot, seed)
    broken = damage.apply(robot)
    if rehearse and table is None and (entry.thinks or entry.needs_table):
        table = quick_rehearsal(
            repertoire, seed=seed, backend=backend, on_progress=rehearsing, stop=interrupted
        )
    entry = choose_selector(entry, table)
    intact = Evaluator(repertoire, {"intact": robot}, backend=backend)
    incumbent = find_incumbent(intact, seed=seed)
    whole = fresh_episodes(intact, incumbent, seed)
    aim = find_objective(request.objective, repertoire, float(whole.distances.mean()))
    experiment = _experiment(
        repertoire,
        request.model_copy(update={"selector": entry}),
        broken,
        aim,
        believed=calibration.middle(repertoire.robot) if calibration else robot,
        table=table and aim.of_table(table),
        backend=backend,
        on_progress=trying,
    )
    hurried = thinking.hurried if thinking else lambda: False
    selector = experiment.selector(
        thinking,
        on_thinking=thinking_on,
        on_refining=refining,
        calibration=(thinking and thinking.calibration) or calibration,
        hurried=lambda: hurried() or interrupted(),
    )
    search = ConfirmedSearch(selector, incumbent, confirmations=request.confirmations, nowhere=aim.nowhere)
    tried = _trials(experiment, search, on_trial, interrupted)
    return Recovery(
        robot=robot.name,
        damage=str(damage),
        selector=entry.name,
        objective=aim.name,
        seed=seed,
        incumbent=incumbent,
        healthy=performance_of(whole, aim),
        trials=tried,
        stop="it was interrupted" if interrupted() else search.stop,
        seconds=broken.description.episode_steps * robot.control_step,
        **_handed_over(experiment, search, incumbent),
    )


def _experiment(
    repertoire: Repertoire,
    request: RecoveryRequest,
    broken: Robot,
    aim: RecoveryObjective,
    *,
    believed: Robot,
    table: Table | None,
    backend: Backend,
    on_progress: Callable[[float], None] | None,
) -> Experiment:
    """The experiment on a broken robot, of which, when it was whole, `believed` is the known model."""
    prior = prior_of(repertoire, believed, aim, table, request.seed, backend, on_progress)
    damaged = Evaluator(repertoire, {"damaged": broken}, backend=backend, objective=aim.of)
    truth = None
    if request.oracle or find_selector(request.selector).needs_truth:
        truth = true_objectives(damaged, seed=request.seed, on_progress=on_progress)
    return Experiment(repertoire, request, damaged, aim, prior, table, truth, backend)


def _handed_over(experiment: Experiment, search: ConfirmedSearch, incumbent: int) -> dict[str, Any]:
    """Fields of a `Recovery`: the gait that it hands over, and how well that, the old and the best one do."""
    aim, damaged, request = experiment.aim, experiment.damaged, experiment.request
    chosen = search.recommendation()
    recovered = performance_of(fresh_episodes(damaged, chosen, request.seed), aim)
    best, reached = None, None
    if request.oracle and experiment.truth is not None:
        best, reached = _oracle(damaged, aim, experiment.truth, (chosen, recovered), request.seed)
    return {
        "row": chosen,
        "cell": _cell(experiment.repertoire, search.selector, chosen),
        "broken": performance_of(fresh_episodes(damaged, incumbent, request.seed), aim),
        "recovered": recovered,
        "oracle": reached,
        "oracle_row": best,
        "confirmation": search.confirmation(),
        "refined": search.selector.refined,
    }


def prior_of(
    repertoire: Repertoire,
    robot: Robot,
    aim: RecoveryObjective,
    table: Table | None,
    seed: int,
    backend: Backend,
    on_progress: Callable[[float], None] | None = None,
) -> Prior:
    """What is known of all gaits on the intact robot, which run there if nobody knows how far they come."""
    gaits = repertoire.gaits
    objectives = gaits.objectives
    if isinstance(aim, Progress):
        if table is None:
            intact = Evaluator(repertoire, {"intact": robot}, backend=backend)
            evaluation = Evaluation(intact, episodes=1, seed=seed, family=SeedFamily.REHEARSAL)
            evaluation.run(on_progress=on_progress and (lambda n: on_progress(n / evaluation.total)))
            objectives = aim.of(evaluation.results())
        else:
            objectives = np.asarray(table.objectives[0], np.float64)
    return Prior(objectives, gaits.measures, aim.least)


def _trials(
    experiment: Experiment,
    search: ConfirmedSearch,
    on_trial: Callable[[Trial], None] | None,
    interrupted: Callable[[], bool],
) -> tuple[Trial, ...]:
    """Try what the search asks for until it stops, at least the incumbent."""
    attempts, tried = experiment.trials(search, first=1), list[Trial]()
    while not (tried and interrupted()):
        confirms = search.confirms
        if (attempt := next(attempts, None)) is None:
            break
        tried.append(_trial(experiment, search.selector, attempt, len(tried) + 1, confirms=confirms))
        if on_trial:
            on_trial(tried[-1])
    return tuple(tried)


def find_incumbent(evaluator: Evaluator, *, seed: int) -> int:
    """Row of the controller that the intact robot walks with.

    Of the 20 elites with the highest objectives it is the one with the highest mean over ten fresh
    episodes, the same for all: the highest objective may be that of a single lucky episode.
    """
    candidates = np.argsort(-evaluator.repertoire.elites.objectives, kind="stable")[:_CANDIDATES]
    seeds = derive_seeds(seed, SeedFamily.INCUMBENT, 0, PERFORMANCE_EPISODES)
    objectives, _ = objectives_and_falls(evaluator, candidates, seeds)
    return int(candidates[np.argmax(objectives.mean(axis=1))])


def _oracle(
    evaluator: Evaluator,
    aim: RecoveryObjective,
    truth: np.ndarray,
    chosen: tuple[int, Performance],
    seed: int,
) -> tuple[int, Performance]:
    """Row of the best controller, and how well it does; that handed over where it does better."""
    best = find_oracle(evaluator, truth, seed=seed, rows=[chosen[0]])
    found = performance_of(fresh_episodes(evaluator, best, seed), aim)
    return (best, found) if found.objective >= chosen[1].objective else chosen


def fresh_episodes(evaluator: Evaluator, row: int, seed: int) -> Episodes:
    """`PERFORMANCE_EPISODES` fresh episodes of a controller."""
    seeds = derive_seeds(seed, SeedFamily.CONFIRMATION, 0, PERFORMANCE_EPISODES)
    return evaluator.run(np.full(PERFORMANCE_EPISODES, row), seeds)


def performance_of(episodes: Episodes, aim: RecoveryObjective) -> Performance:
    """How well a controller does, by its episodes."""
    objectives, n, walk = aim.of(episodes), len(episodes.fell), Walk.of(episodes)
    return Performance(
        objective=float(objectives.mean()),
        standard_error=float(objectives.std(ddof=1) / np.sqrt(n)),
        distance=float(episodes.distances.mean()),
        falls=int(episodes.fell.sum()),
        episodes=n,
        course=walk.course if walk else "",
        way=walk.words if walk else "",
    )


def _cell(repertoire: Repertoire, selector: Selector, row: int) -> tuple[int, ...]:
    """Cell of a gait; of one that was refined that of the gait from which it was."""
    parents = {gait.row: gait.parent for gait in selector.refined}
    while row in parents:
        row = parents[row]
    return repertoire.cell(row)


def _trial(
    experiment: Experiment, selector: Selector, attempt: Attempt, number: int, *, confirms: bool
) -> Trial:
    """The record of a trial."""
    row, episodes, repertoire = attempt.row, attempt.episodes, experiment.repertoire
    return Trial(
        number=number,
        row=row,
        cell=_cell(repertoire, selector, row),
        specialist=repertoire.speciality(row),
        refined=row >= len(repertoire),
        seed=attempt.seed,
        predicted=attempt.predicted,
        measured=attempt.outcome.objective,
        fell=attempt.outcome.fell,
        steps=int(episodes.steps[0]),
        distance=float(episodes.distances[0]),
        diagnosis={cause: p for cause, p in selector.reported_diagnosis() if p >= _NEGLIGIBLE},
        confirms=confirms,
        thought=selector.thought(),
        objective=experiment.aim.name,
    )


def _check_repertoire(repertoire: Repertoire) -> None:
    """Refuse what no recovery can start from."""
    if not len(repertoire.elites):
        raise InvalidValueError("the repertoire is empty: there is no controller to try")
    controller = repertoire.robot.controller
    if (
        repertoire.controller != controller.shape
        or repertoire.gaits.solutions.shape[1] != controller.parameter_count
    ):
        raise InvalidValueError(
            f"the repertoire's {repertoire.controller} controllers do not fit the {repertoire.robot.name}, "
            f"which has {controller.shape}"
        )

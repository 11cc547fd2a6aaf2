"""Recovery: tries controllers of a repertoire on a damaged robot until one works.

An `Experiment` is how gaits are tried, here and in the suites.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from adapt.confirmation import ConfirmedSearch
from adapt.damage.damage import Damage
from adapt.evidence import evidence_of
from adapt.objective import Progress, RecoveryObjective, find_objective
from adapt.records import Outcome, Performance, Recovery, Trial
from adapt.rehearsal.rehearsal import quick_rehearsal
from adapt.rehearsal.table import Table
from adapt.relearning.refinement import RefinementSettings, Refiner
from adapt.requests import RecoveryRequest
from adapt.selectors.catalogue import SelectorEntry, choose_selector, find_selector, make_selector
from adapt.selectors.selector import Context, Prior, Selector
from adapt.self_model.calibration import Calibration
from adapt.self_model.features import check_sensors
from adapt.self_model.twin import EPISODES, Thinking
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
_TAKES_TIME = ("rehearsing lost and dead legs", "trying every gait", "thinking", "refining a gait")
_NEGLIGIBLE = 0.01  # probability below which a cause is left out of the record


class Attempt(NamedTuple):
    """A trial that was run, and told to what asked for it; the outcome is without the noise of `measured`."""

    row: int
    seed: int
    predicted: float
    outcome: Outcome
    episodes: Episodes


@dataclass(frozen=True, eq=False)
class Experiment:
    """A damaged robot, on which gaits of a repertoire are tried, and what is known of it beforehand."""

    repertoire: Repertoire  # of the whole robot
    request: RecoveryRequest
    damaged: Evaluator  # runs gaits on the damaged robot, scored by the aim; what is refined is added to it
    aim: RecoveryObjective  # what gaits are selected, refined and scored by
    prior: Prior  # what is known of all gaits on the whole robot
    table: Table | None = None  # the rehearsal that the selector is given, with the aim's values
    backend: Backend = ALL_CORES  # runs the episodes that a selector simulates between trials

    @property
    def entry(self) -> SelectorEntry:
        """What chooses the trials."""
        return find_selector(self.request.selector)

    def selector(
        self,
        *,
        refiner: Refiner | None = None,
        on_thinking: Callable[[float], None] | None = None,
        on_refining: Callable[[float], None] | None = None,
        **known: Any,
    ) -> Selector:
        """Start the selector, perhaps with another refiner, and with further fields of `Thinking`."""
        request, thinking = self.request, None
        if self.entry.thinks:
            refiner = refiner or RefinementSettings.of(self.repertoire, request.refine)
            thinking = Thinking(
                self.repertoire,
                request.think_episodes or EPISODES,
                check_sensors(request.sensors),
                objective=self.aim,
                refinement=None if request.refine == 0 else refiner,
                backend=self.backend,
                **known,
            )
        context = Context(
            self.prior,
            trials=request.trials,
            seed=request.seed,
            max_falls=request.max_falls,
            table=self.table,
            thinking=thinking,
            on_thinking=on_thinking,
            on_refining=on_refining,
        )
        return make_selector(self.entry, context)

    def trials(
        self,
        search: Selector | ConfirmedSearch,
        *,
        first: int = 0,
        begin: int | None = None,
        measured: Callable[[Outcome, int], Outcome] = lambda outcome, _: outcome,
    ) -> Iterator[Attempt]:
        """Trial after trial, until the search asks for none.

        The first trial's number decides its seed, and `begin` its gait, in place of what the search asks for;
        `measured` is what the search is told of an outcome, by the number of the trial.
        """
        traced, known = self.entry.thinks, 0
        for number in count(first):
            row = begin if begin is not None and number == first else search.ask()
            if row is None:
                return
            predicted = float(search.predicted[row])
            seeds = derive_seeds(self.request.seed, SeedFamily.TRIALS, number, 1)
            outcome, episodes = run_trial(self.damaged, row, seeds, traced=traced)
            search.tell(row, measured(outcome, number))
            for gait in search.refined[known:]:
                self.damaged.add(gait.solution[None])
            known = len(search.refined)
            yield Attempt(row, int(seeds[0]), predicted, outcome, episodes)


def run_trial(evaluator: Evaluator, row: int, seeds: np.ndarray, *, traced: bool) -> tuple[Outcome, Episodes]:
    """Run a controller once, in the episode of the only seed."""
    episodes = evaluator.run(np.array([row]), seeds, traced=traced)
    outcome = Outcome(
        objective=float(evaluator.objectives(episodes)[0]),
        fell=bool(episodes.fell[0]),
        evidence=evidence_of(episodes, evaluator.robots[0])[0],
        trace=np.empty((0, 0)) if episodes.traces is None else episodes.traces[0],
    )
    return outcome, episodes


def recover(
    repertoire: Repertoire,
    damage: Damage,
    request: RecoveryRequest,
    *,
    table: Table | None = None,
    rehearse: bool = False,
    robot: Robot | None = None,
    calibration: Calibration | None = None,
    refiner: Refiner | None = None,
    backend: Backend = ALL_CORES,
    on_trial: Callable[[Trial], None] | None = None,
    on_progress: Callable[[str, float], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Recovery:
    """Find a controller that works on the damaged robot.

    The table is the repertoire's rehearsal; if there is none and the selector makes use of one, `rehearse`
    has each leg rehearsed dead and lost first. The robot, before anything broke, may differ from the
    repertoire's, with which a selector that simulates thinks; with a calibration it is one of its models,
    which the seed chooses, and a selector that simulates thinks with the medians of all. `on_progress` is
    told what takes time between trials, in words, and the share of it that is done, perhaps from other
    threads. `interrupted` is asked again and again whether to stop with the best gait.
    """
    if not len(repertoire.elites):
        raise InvalidValueError("the repertoire is empty: there is no controller to try")
    seed, entry = request.seed, find_selector(request.selector)
    if not entry.thinks and (refiner or request.thinks):
        raise InvalidValueError(f"the {entry.name} selector does not think between trials: choose self-model")
    rehearsing, trying, thinking, refining = (
        on_progress and partial(on_progress, what) for what in _TAKES_TIME
    )
    known = calibration.middle(repertoire.robot) if calibration else repertoire.robot
    robot = robot or (calibration.sample(repertoire.robot, seed) if calibration else known)
    broken = damage.apply(robot)
    if rehearse and table is None and (entry.thinks or entry.needs_table):
        table = quick_rehearsal(
            repertoire, seed=seed, backend=backend, on_progress=rehearsing, stop=interrupted
        )
    choose_selector(entry, table)
    intact = Evaluator(repertoire, {"intact": robot}, backend=backend)
    incumbent = find_incumbent(intact, seed=seed)
    whole = fresh_episodes(intact, incumbent, seed)
    aim = find_objective(request.objective, repertoire, float(whole.distances.mean()))
    table = table and aim.of_table(table)
    damaged = Evaluator(repertoire, {"damaged": broken}, backend=backend, objective=aim.of)
    prior = prior_of(repertoire, known, aim, table, seed, backend, trying)
    request = request.model_copy(update={"selector": entry})
    experiment = Experiment(repertoire, request, damaged, aim, prior, table, backend)
    selector = experiment.selector(
        refiner=refiner,
        on_thinking=thinking,
        on_refining=refining,
        calibration=calibration,
        hurried=interrupted,
    )
    search = ConfirmedSearch(selector, incumbent, confirmations=request.confirmations, nowhere=aim.nowhere)
    tried = _trials(experiment, search, on_trial, interrupted)
    chosen = search.recommendation()
    return Recovery(
        robot=robot.name,
        damage=str(damage),
        selector=entry.name,
        objective=aim.name,
        seed=seed,
        incumbent=incumbent,
        healthy=performance_of(whole, aim),
        broken=performance_of(fresh_episodes(damaged, incumbent, seed), aim),
        recovered=performance_of(fresh_episodes(damaged, chosen, seed), aim),
        trials=tried,
        confirmation=search.confirmation(),
        row=chosen,
        cell=_cell(repertoire, selector, chosen),
        stop="it was interrupted" if interrupted() else search.stop,
        refined=selector.refined,
        seconds=broken.description.episode_steps * robot.control_step,
    )


def prior_of(
    repertoire: Repertoire,
    robot: Robot,
    aim: RecoveryObjective,
    table: Table | None,
    seed: int,
    backend: Backend,
    on_progress: Callable[[float], None] | None = None,
) -> Prior:
    """Objectives of all gaits on the intact robot, where they run if the rehearsal does not tell."""
    objectives = repertoire.gaits.objectives
    if isinstance(aim, Progress) and table is not None:
        objectives = np.asarray(table.objectives[0], np.float64)
    elif isinstance(aim, Progress):
        intact = Evaluator(repertoire, {"intact": robot}, backend=backend)
        evaluation = Evaluation(intact, episodes=1, seed=seed, family=SeedFamily.REHEARSAL)
        evaluation.run(on_progress=on_progress and (lambda n: on_progress(n / evaluation.total)))
        objectives = aim.of(evaluation.results())
    return Prior(objectives, repertoire.gaits.measures, aim.least)


def _trials(
    experiment: Experiment,
    search: ConfirmedSearch,
    on_trial: Callable[[Trial], None] | None,
    interrupted: Callable[[], bool],
) -> tuple[Trial, ...]:
    """Try what the search asks for until it stops, at least the incumbent."""
    attempts, tried = experiment.trials(search, first=1), list[Trial]()
    repertoire, selector = experiment.repertoire, search.selector
    while not (tried and interrupted()):
        confirms = search.confirms
        if (attempt := next(attempts, None)) is None:
            break
        trial = Trial(
            number=len(tried) + 1,
            row=attempt.row,
            cell=_cell(repertoire, selector, attempt.row),
            specialist=repertoire.speciality(attempt.row),
            refined=attempt.row >= len(repertoire),
            seed=attempt.seed,
            predicted=attempt.predicted,
            measured=attempt.outcome.objective,
            fell=attempt.outcome.fell,
            steps=int(attempt.episodes.steps[0]),
            distance=float(attempt.episodes.distances[0]),
            diagnosis={cause: p for cause, p in selector.reported_diagnosis() if p >= _NEGLIGIBLE},
            confirms=confirms,
            thought=selector.thought(),
            objective=experiment.aim.name,
        )
        tried.append(trial)
        if on_trial:
            on_trial(trial)
    return tuple(tried)


def find_incumbent(evaluator: Evaluator, *, seed: int) -> int:
    """Row of the controller that the intact robot walks with.

    It is the policy alone where gaits were trained around one, or the best elite of a corrected repertoire.
    In another one the highest objective may be that of a single lucky episode: of the 20 elites with the
    highest ones it is the one with the highest mean over ten fresh episodes.
    """
    repertoire = evaluator.repertoire
    if repertoire.specialists is not None and repertoire.specialists.known.any():
        return len(repertoire.elites) + int(np.argmax(repertoire.specialists.known))
    if repertoire.spread is not None:
        return repertoire.best()
    candidates = np.argsort(-repertoire.elites.objectives, kind="stable")[:_CANDIDATES]
    seeds = derive_seeds(seed, SeedFamily.INCUMBENT, 0, PERFORMANCE_EPISODES)
    objectives, _ = objectives_and_falls(evaluator, candidates, seeds)
    return int(candidates[np.argmax(objectives.mean(axis=1))])


def fresh_episodes(evaluator: Evaluator, row: int, seed: int) -> Episodes:
    """`PERFORMANCE_EPISODES` fresh episodes of a controller, on each of the robots by turns."""
    seeds = derive_seeds(seed, SeedFamily.CONFIRMATION, 0, PERFORMANCE_EPISODES)
    robots = np.arange(PERFORMANCE_EPISODES) % len(evaluator.robots)
    return evaluator.run(np.full(PERFORMANCE_EPISODES, row), seeds, robots=robots)


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

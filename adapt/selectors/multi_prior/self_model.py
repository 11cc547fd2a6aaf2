"""`SelfModel`: fits its simulator to what trials show, and tries what works best in it."""

from dataclasses import replace

import numpy as np

from adapt.damage import HEALTHY
from adapt.damage.text import parse_damage
from adapt.records import Outcome, Thought
from adapt.rehearsal.table import Table, join
from adapt.selectors.catalogue import register
from adapt.selectors.multi_prior.hypotheses import Traced
from adapt.selectors.multi_prior.rehearsed import Rehearsed
from adapt.selectors.multi_prior.settings import LEVELS, RehearsedSettings, ResidualLevel, Tolerances
from adapt.selectors.selector import Context, Selector
from adapt.self_model.features import Features
from adapt.self_model.fit import Fit
from adapt.self_model.forecast import Forecast, gait_features
from adapt.self_model.rating import TOLERANCE, WEIGHT, Model, Rating
from adapt.self_model.registry import Registry
from adapt.self_model.twin import Twin
from repertoire.execution.resources import one_blas_thread
from robots.errors import InvalidValueError

_FITTED = 0.6  # share of the limits that goes into the fit, if it takes so much
_MODELS = 6  # fitted ones that are hypotheses
_ALIKE = 2  # of these, with the same faults in other strengths
_ROUNDS = (4, 2, 1, 1, 1, 1)  # of each model, the best one first
_EXPLORED = 0.8  # share of the limits after which the best model gets no further rounds
_FINALISTS = 8
_SEEDS = (6, 3)  # episodes of each finalist, and of each gait tried, under the best models
_PASSES = 4  # most rounds of finalists: those that were lucky in a single episode make room for others
_TRUSTED = 0.6  # share of the trials' difference from a healthy robot that a fit must explain
_EXACT = ResidualLevel(residual=0.02, length_scale=0.2, evidence=TOLERANCE, fall=0.06)  # a fault was found
_LEVELS = (_EXACT, *(replace(level, evidence=TOLERANCE) for level in LEVELS))
_NOISE = 0.03  # deviation of an episode where nothing was rehearsed, as a share of the best objective


@register(
    "self-model",
    "fits a simulator to what trials show and tries what works best in it, next to what was rehearsed",
    thinks=True,
)
class SelfModel(Selector):
    """Resilient machines (Bongard, Zykov & Lipson 2006) joined with a repertoire and a rehearsal.

    After each trial of a gait the simulator's faults are fitted to all traces, see `Fit`. The best fits run
    some gaits; what all others would do under them is forecast, see `Forecast`. Then they are hypotheses of
    `Rehearsed`, next to the conditions of the rehearsal. These run the gaits that were tried too, so that
    traces are evidence of all hypotheses alike. `Rehearsed` proposes and recommends. Its levels tolerate the
    same of traces, which tell what is wrong; how far from it the truth is, objectives and falls tell, since a
    model may be right about nearly all features of a trace and wrong about how far the robot came. Finalists
    run several times under the best models before one of them is proposed.

    Where the best fit explains less than 60% of what sets the trials apart from those of a healthy robot, the
    registry hardly holds what is wrong, and a misfit would mislead with confidence. Then it does what
    `Rehearsed` does without all of this. So it does as long as no trial has a trace.

    Args:
        context: what is known; its table may be None.
        settings: of the mixture.

    Raises:
        InvalidValueError: the context says nothing of thinking.
        UnknownNameError: the robot has no such sensor, or there is no family of damage to leave out.
    """

    def __init__(self, context: Context, *, settings: RehearsedSettings | None = None) -> None:
        super().__init__(context)
        thinking = context.thinking
        if thinking is None:
            raise InvalidValueError("the self-model selector needs a model of the robot to think with")
        robot = thinking.repertoire.robot
        if len(thinking.repertoire) != len(context.prior):
            raise InvalidValueError(
                f"the robot must think with the repertoire's {len(context.prior)} controllers, not with "
                f"{len(thinking.repertoire)}"
            )
        self._context = context
        self._features = Features(robot, thinking.sensors)
        self._twin = Twin(thinking)
        table = context.table or _healthy_table(context)
        known = [parse_damage(text, robot) for text in table.conditions]
        registry = Registry(robot, without=thinking.without)
        self._rating = Rating(self._twin, self._features, seed=context.seed)
        self._fit = Fit(self._rating, registry, known, seed=context.seed)
        table = table.take([text for text in table.conditions if text in self._rating.models])
        nothing = np.zeros((*table.objectives.shape, 1), np.float32)  # traces take the place of its evidence
        self._library = replace(table, evidence=nothing, evidence_std=nothing, evidence_names=("nothing",))
        height = float(np.max(table.objectives)) - context.prior.min_objective
        gaits = gait_features(
            np.asarray(table.objectives, np.float64) / (height if height > 0 else 1.0),
            np.asarray(context.prior.measures, np.float64),
        )
        least = context.prior.min_objective
        self._forecast = Forecast(self._twin, gaits, min_objective=least, seed=context.seed)
        tolerances = Tolerances(channels=WEIGHT * len(self._features))
        self._settings = replace(settings or RehearsedSettings(levels=_LEVELS), tolerances=tolerances)
        self._outcomes: list[tuple[int, Outcome]] = []
        self._fitted: list[Model] = []
        self._thought: Thought | None = None
        self._explained = 0.0  # by the best fit
        self._rehearsed = self._believe()
        self._plain = Rehearsed(replace(context, table=context.table or self._library), settings=settings)

    @property
    def _trusted(self) -> Rehearsed:
        """What proposes and recommends: with fits if they explain enough, else without."""
        return self._rehearsed if self._explained >= _TRUSTED else self._plain

    @property
    def predicted(self) -> np.ndarray:
        """See `Selector`."""
        return self._trusted.predicted

    def recommendation(self) -> int:
        """See `Selector`: the largest posterior mean of the gaits that were tried."""
        return self._trusted.recommendation()

    def diagnosis(self) -> list[tuple[str, float]]:
        """See `Selector`; faults that differ in their strengths alone go by the likeliest of them."""
        together: dict[str, tuple[str, float]] = {}
        for text, probability in self._trusted.diagnosis():
            kinds = _without_strengths(text)
            first, sum_so_far = together.get(kinds, (text, 0.0))
            together[kinds] = first, sum_so_far + probability
        return sorted(together.values(), key=lambda cause: -cause[1])

    def thought(self) -> Thought | None:
        """See `Selector`."""
        return self._thought

    def _choose(self, untried: np.ndarray) -> int:
        return int(np.argmax(np.where(untried, self._trusted.gain, -np.inf)))

    def _satisfied(self) -> str | None:
        return self._trusted.done()

    def _learn(self, row: int, outcome: Outcome) -> None:
        with one_blas_thread():  # small matrices; its threads would wait for those of the simulation
            self._think(row, outcome)

    def _think(self, row: int, outcome: Outcome) -> None:
        """Take in a trial, and simulate."""
        self._thought = None
        if len(outcome.trace):
            self._features.check(outcome.trace)
            new = row not in self._rating.trials
            self._twin.begin()
            self._rating.tell(row, np.asarray(outcome.trace), outcome.fell)
            self._outcomes.append((row, outcome))
            if new:
                self._fit.search(_FITTED)
                self._plan()
            else:  # a confirmation: it is time to walk, not to think
                self._rehearsed = self._believe()
            self._explained = self._rating.explained(self._rating.best(1)[0])
            self._thought = Thought(self._twin.seconds, self._twin.episodes, self._explained)
        else:
            self._outcomes.append((row, outcome))
            self._rehearsed = self._believe()
        rehearsed_evidence = outcome.evidence if self._context.table else np.empty(0)
        self._plain.tell(row, replace(outcome, evidence=rehearsed_evidence))

    def _plan(self) -> None:
        """Run gaits under the best models, those last that are likely to be proposed."""
        self._fitted = self._likeliest()
        for model, rounds in zip(self._fitted, _ROUNDS, strict=False):
            for _ in range(rounds):
                if self._twin.spent < 1:
                    self._forecast.explore(model, self._rehearsed.predicted, self._fitted[:2])
        if self._fitted:
            best = self._fitted[0]
            while self._twin.spent < _EXPLORED and not self._forecast.complete(best):
                self._forecast.explore(best, self._rehearsed.predicted, [])
        self._rehearsed = self._believe()
        for _ in range(_PASSES):
            before = self._twin.episodes
            rows = np.argsort(-self._rehearsed.gain, kind="stable")[:_FINALISTS]
            for model, seeds in zip(self._fitted, _SEEDS, strict=False):
                if self._twin.spent < 1:
                    self._forecast.run(model, [*rows.tolist(), *self._rating.trials], seeds)
            if self._twin.episodes == before:
                break
            self._rehearsed = self._believe()

    def _likeliest(self) -> list[Model]:
        """Fits that are better than all that was rehearsed, few of which differ in strengths alone."""
        chosen: list[Model] = []
        alike: dict[str, int] = {}
        for model in self._rating.best(20 * _MODELS):
            kinds = _without_strengths(str(model.damage))
            if str(model.damage) in self._library.conditions:
                break  # what follows is less likely than what was rehearsed
            if alike.setdefault(kinds, 0) < _ALIKE:
                alike[kinds] += 1
                chosen.append(model)
        return chosen[:_MODELS]

    def _believe(self) -> Rehearsed:
        """The mixture of what was rehearsed and what was fitted, after all trials."""
        fitted = [model for model in self._fitted if model in self._forecast]
        models = [self._rating.models[text] for text in self._library.conditions]
        shown = self._rating.shown([*models, *fitted]) if self._rating.trials else {}
        traced = Traced(shown, self._rating.spread, len(fitted))
        table = join([self._library, *map(self._row, fitted)])
        rehearsed = Rehearsed(replace(self._context, table=table), settings=self._settings, traced=traced)
        for row, outcome in self._outcomes:
            steps = self._rating.trials[row].steps if row in shown else np.inf
            seen = len(outcome.trace) >= steps
            evidence = self._rating.read([outcome.trace], int(steps))[0] if seen else np.empty(0)
            rehearsed.tell(row, replace(outcome, evidence=evidence))
        return rehearsed

    def _row(self, model: Model) -> Table:
        """What a model says of all gaits, as if it had been rehearsed."""
        means, _ = self._forecast.of(model)
        typical = np.median(self._library.noise, axis=0)
        return replace(
            self._library,
            conditions=(str(model.damage),),
            objectives=np.maximum(means[None, :, 0], self.prior.min_objective).astype(np.float32),
            noise=typical[None],
            falls=np.clip(means[None, :, 1], 0, 1).astype(np.float32),
            evidence=self._library.evidence[:1],
            evidence_std=self._library.evidence_std[:1],
        )


def _healthy_table(context: Context) -> Table:
    """What the repertoire says, as a rehearsal of nothing but the healthy robot."""
    objectives = np.asarray(context.prior.objectives, np.float32)[None]
    height = float(objectives.max()) - context.prior.min_objective
    nothing = np.zeros((*objectives.shape, 0), np.float32)
    return Table(
        conditions=(HEALTHY,),
        objectives=objectives,
        noise=np.full_like(objectives, _NOISE * max(height, 0.0)),
        falls=np.zeros_like(objectives),
        evidence=nothing,
        evidence_std=nothing,
        evidence_names=(),
        episodes=1,
    )


def _without_strengths(text: str) -> str:
    """The text of a damage without numbers."""
    return "+".join(part.partition("@")[0] for part in text.split("+"))

"""`Fitted`: fits its simulator to what trials show, and tries what works best in it."""

from collections import defaultdict
from dataclasses import replace

import numpy as np

from adapt.damage import HEALTHY
from adapt.damage.text import damage_from
from adapt.records import TRUSTED, Outcome, RefinedGait, Thought
from adapt.rehearsal.table import Expectations, Table, rehearsed_expectations, widen
from adapt.selectors.catalogue import register
from adapt.selectors.hypotheses import Hypotheses, height, rehearsed_hypotheses
from adapt.selectors.mixture import ResidualLevel, Tolerances
from adapt.selectors.multi_prior import LEVELS, UNKNOWN, MultiPrior, RehearsedSettings
from adapt.selectors.selector import Context
from adapt.self_model.features import Features
from adapt.self_model.fit import Fit
from adapt.self_model.forecast import Forecast, gait_features
from adapt.self_model.rating import TOLERANCE, WEIGHT, Model, Rating
from adapt.self_model.relearner import Relearner
from adapt.self_model.suspects import Suspects
from adapt.self_model.twin import Twin
from repertoire.execution.running import one_blas_thread
from robots.errors import InvalidValueError

_EXACT = ResidualLevel(residual=0.02, length_scale=0.2, evidence=TOLERANCE, fall=0.06)  # it was found
_LEVELS = (_EXACT, *(replace(level, evidence=TOLERANCE) for level in LEVELS))
# Share of what the old gait, which is tried first, does on the healthy robot, from which no search for a
# better gait is worth it: around a policy the fastest gaits are not those that a robot walks with
GOOD = 0.75
PREPARED = 0.5  # the same where the gait was refined for what is most probably wrong, or for a part of it
_WALKS = 0.2  # the same from which a gait is tried before the first search
_FORESEEN = 0.8  # share of what is expected of a gait that shows that nothing else is wrong
REFINEMENTS = 2  # searches for better gaits, each after the first trial of another one
# What the limit is spent on after a trial
_FITTED = 0.6  # share of it that goes into the fit, if it takes so much
_MODELS = 6  # fitted ones that are hypotheses
_ALIKE = 2  # of these, with the same damages in other strengths
_ROUNDS = (4, 2, 1, 1, 1, 1)  # of each model, the best one first
_EXPLORED = 0.8  # share of the limit after which the best model gets no further rounds
_FINALISTS = 8
_SEEDS = (6, 3)  # episodes of finalists, and of each gait tried, under the best models
_PASSES = 4  # most rounds of finalists: those that were lucky in one episode make room for others
_STARTS = 256  # gaits that a search may start from: those of which most is expected
# Deviation of an episode where nothing was rehearsed, as a share of the best objective
_NOISE = 0.03


@register(
    "self-model",
    "fits a simulator to what trials show and tries what works best in it, next to what was rehearsed",
    thinks=True,
)
class Fitted(MultiPrior):
    """Resilient machines (Bongard, Zykov & Lipson 2006) joined with a repertoire and a rehearsal.

    After the first trial of each gait, `Fit` fits faults to all traces; the best fits run some gaits,
    `Forecast` predicts the others, and the fits become hypotheses next to the conditions of the rehearsal.
    All levels tolerate the same of traces: how far a model is from the truth, objectives and falls tell.
    As long as the best fit explains less than 30% of what sets the trials apart from those of a healthy
    robot, it believes what `Rehearsed` does.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        thinking, prior = context.thinking, context.prior
        assert thinking is not None  # see `make_selector`
        if len(thinking.repertoire) != len(prior):
            raise InvalidValueError(
                f"the robot must think with the repertoire's {len(prior)} controllers, not with "
                f"{len(thinking.repertoire)}"
            )
        robot = thinking.repertoire.robot
        self._features, self._twin = Features(robot, thinking.sensors), Twin(thinking, context.on_thinking)
        self._rehearsed = context.table is not None
        self._table = context.table or _healthy_table(context)
        self._rating = Rating(self._twin, self._features, seed=context.seed)
        suspects = Suspects(robot, without=thinking.without)
        self._fit = Fit(self._rating, suspects, self._table.damages, seed=context.seed)
        models = self._rating.models
        self._known = [models[text] for text in self._table.conditions if text in models]
        self._forecast = Forecast(self._twin, self._take_in_library(), seed=context.seed)
        tolerances = Tolerances(channels=WEIGHT * len(self._features))
        self._traced = RehearsedSettings(levels=_LEVELS, tolerances=tolerances, price=thinking.price)
        self._plain = RehearsedSettings()
        self._fitted: list[Model] = []
        self._thought: Thought | None = None
        self._explained = 0.0  # by the best fit
        self._zero, self._relearner = self._twin.thinking.aim.zero, None
        if thinking.refinement:
            self._relearner = Relearner(self._twin, seed=context.seed, on_progress=context.on_refining)
        self._found: list[RefinedGait] = []
        kept, first = thinking.repertoire.specialists, len(thinking.repertoire.elites)
        # texts of damages that gaits were refined for, by row
        self._made_for = dict(enumerate(kept.damages, first)) if kept else {}
        self._believe()
        self._conclude()

    def diagnosis(self) -> list[tuple[str, float]]:
        """See `Selector`; faults that differ in their strengths alone go by the likeliest of them."""
        numbers = {name: index for index, name in enumerate(self._hypotheses.names)}
        together: dict[object, list[tuple[str, float]]] = defaultdict(list)
        for text, p in super().diagnosis():
            together[text if text == UNKNOWN else self._hypotheses.faults(numbers[text])].append((text, p))
        sums = [(causes[0][0], sum(p for _, p in causes)) for causes in together.values()]
        return sorted(sums, key=lambda cause: -cause[1])

    def reported_diagnosis(self) -> list[tuple[str, float]]:
        """See `Selector`.

        What the best fit leaves unexplained speaks for no damage: "unknown" takes as large a share of the
        probability of each. Without that they promise too much, see `docs/results/recovery.md`.
        """
        causes = dict(self.diagnosis())
        if self._rating.trials:
            held = {text: p * self._explained for text, p in causes.items() if text not in (HEALTHY, UNKNOWN)}
            rest = sum(causes[text] - p for text, p in held.items())
            causes |= held | {UNKNOWN: causes.get(UNKNOWN, 0.0) + rest}
        return sorted(causes.items(), key=lambda cause: -cause[1])

    def thought(self) -> Thought | None:
        return self._thought

    def _learn(self, row: int, outcome: Outcome) -> None:
        if len(outcome.trace):
            self._features.check(outcome.trace)
        expected = self.predicted[row] - self._zero
        foreseen = not outcome.fell and outcome.objective - self._zero >= _FORESEEN * expected
        self._outcomes.append((row, outcome))
        with one_blas_thread():  # small matrices; its threads would wait for those of the simulation
            self._thought = self._think(row, outcome, foreseen and len(self._outcomes) > 1)
            self._conclude()
            if self._relearner and self._worth_refining(self._relearner, row):
                self._refine(self._relearner)
        self._twin.end()

    @property
    def refined(self) -> tuple[RefinedGait, ...]:
        return tuple(self._found)

    def _take_in_library(self) -> np.ndarray:
        """Know what was rehearsed of all gaits; returns their features, (k, f)."""
        library = self._table.take([str(model.damage) for model in self._known])
        self._conditions = rehearsed_expectations(library, self._measures)
        self._unit = height(library, self.prior)
        return gait_features(self._conditions.objectives / self._unit, self._measures)

    def _worth_refining(self, relearner: Relearner, row: int) -> bool:
        """Whether a search may pay after a gait's first trial, and what is wrong is known well enough.

        A gait of which something is expected is tried before the first search, so that the robot walks soon.
        """
        tried = [tried for tried, _ in self._outcomes]
        height = self.prior.objectives[tried[0]] - self._zero
        # what would be tried next, or walked with: a gait that is known well is not worth another trial
        some = {int(np.argmax(self.worth)), *(row for row, outcome in self._outcomes if not outcome.fell)}
        best = max(sorted(some), key=lambda row: self.predicted[row])
        promise = self.predicted[best] - self._zero
        cause = next((text for text, _ in super().diagnosis() if text != UNKNOWN), "")
        faults = set(cause.split("+"))
        prepared = any(faults.issuperset(known.split("+")) for known in self._made_for.get(best, ()))
        return (
            relearner.searches < REFINEMENTS
            and self._explained >= TRUSTED
            and tried.count(row) == 1
            and len(tried) < self.trials
            and promise < (PREPARED if prepared else GOOD) * height
            and (promise < _WALKS * height or len(set(tried)) > 1 or best in tried)
            and not self._twin.thinking.hurried()
        )

    def _refine(self, relearner: Relearner) -> None:
        """Refine the most promising gaits on what is believed to be wrong, and know the result as a gait."""
        causes = [(damage_from(text), p) for text, p in super().diagnosis() if text != UNKNOWN]
        rows = np.argsort(-self.predicted, kind="stable")[:_STARTS].tolist()
        found = relearner.refine(causes, rows)
        if found is None:
            return
        self._found.append(found)
        self._made_for[found.row] = found.believed
        self._falls_shown[found.row] = found.fall
        column, measures = relearner.rehearse(found.row, self._table)
        objectives = np.append(self.prior.objectives, column.objectives[0])
        self._measures = np.vstack([self._measures, measures])
        self.prior = replace(self.prior, objectives=objectives, measures=self._measures)
        self._table = widen([self._table, column])
        self._forecast.widen(self._take_in_library())
        for model in self._fitted:
            if model in self._forecast:
                self._forecast.run(model, [found.row], _SEEDS[0])
        self._believe()
        self._conclude()

    def _think(self, row: int, outcome: Outcome, foreseen: bool) -> Thought | None:
        if not len(outcome.trace):
            self._believe()
            return None
        new = row not in self._rating.trials
        self._twin.begin()
        self._rating.tell(row, np.asarray(outcome.trace), outcome.fell)
        if foreseen or not new:
            self._believe()
        if new and not (foreseen and self._satisfied()):
            self._fit.search(_FITTED)
            self._plan()
        self._explained = self._rating.explained(self._rating.best(1)[0])
        return Thought(self._twin.seconds, self._twin.episodes, self._explained)

    def _plan(self) -> None:
        """Run gaits under the best models, those last that are likely to be proposed."""
        self._fitted = self._likeliest()
        for model, rounds in zip(self._fitted, _ROUNDS, strict=False):
            for _ in range(rounds):
                if self._twin.spent < 1:
                    self._forecast.explore(model, self._foreseen, self._fitted[:2])
        if self._fitted:
            best = self._fitted[0]
            while self._twin.spent < _EXPLORED and not self._forecast.complete(best):
                self._forecast.explore(best, self._foreseen, [])
        self._believe()
        # a rehearsal of one or two episodes does not tell which of the best gaits fall now and then
        models = self._fitted or self._rating.best(1)
        for _ in range(_PASSES):
            before = self._twin.episodes
            rows = np.argsort(-self.worth, kind="stable")[:_FINALISTS]
            for model, seeds in zip(models, _SEEDS, strict=False):
                if self._twin.spent < 1:
                    self._forecast.run(model, [*rows.tolist(), *self._rating.trials], seeds)
            if self._twin.episodes == before:
                break
            self._believe()

    def _likeliest(self) -> list[Model]:
        """Fits that are better than all that was rehearsed, few of which differ in strengths alone."""
        chosen: list[Model] = []
        alike: dict[object, int] = defaultdict(int)
        for model in self._rating.best(20 * _MODELS):
            if model in self._known:
                break  # what follows is less likely than what was rehearsed
            kinds = tuple((single.target, single.kind) for single in model.damage.singles)
            if alike[kinds] < _ALIKE:
                alike[kinds] += 1
                chosen.append(model)
        return chosen[:_MODELS]

    def _believe(self) -> None:
        fitted = [model for model in self._fitted if model in self._forecast]
        known = replace(self._checked(), evidence=self._rating.evidence_of(self._known))
        hypotheses = Hypotheses(
            known,
            self._forecast.expectations(fitted, self._measures, like=known, rating=self._rating),
            floor=self.prior.min_objective,
            unit=self._unit,
            spread=self._rating.spread,
            pairs=self._traced.pairs > 0,
        )
        self._expect(hypotheses, self._traced, self._features_of)
        self._foreseen = self.predicted

    def _checked(self) -> Expectations:
        """What was rehearsed, but for gaits that ran whole episodes since, under the same models."""
        objectives, falls = self._conditions.objectives.copy(), self._conditions.falls.copy()
        for place, model in enumerate(self._known):
            for row, found in self._forecast.whole(model).items():
                objectives[place, row], falls[place, row] = found
        return replace(self._conditions, objectives=objectives, falls=falls)

    def _conclude(self) -> None:
        """Where the best fit explains too little, believe in what was rehearsed alone."""
        if self._explained < TRUSTED:
            hypotheses = rehearsed_hypotheses(self._table, self.prior, pairs=self._plain.pairs > 0)
            self._expect(hypotheses, self._plain, self._evidence_of)

    def _evidence_of(self, _: int, outcome: Outcome) -> np.ndarray:
        return np.asarray(outcome.evidence) if self._rehearsed else np.empty(0)

    def _features_of(self, row: int, outcome: Outcome) -> np.ndarray:
        """Features of a trial's trace, of a gait whose trials are compared and as long as the first."""
        compared = {trials.row: trials.steps for trials in self._rating.active}
        if row not in compared or len(outcome.trace) < compared[row]:
            return np.empty(0)
        return np.asarray(self._rating.read([outcome.trace], compared[row])[0])


def _healthy_table(context: Context) -> Table:
    """What the repertoire says, as a rehearsal of nothing but the healthy robot."""
    objectives = np.asarray(context.prior.objectives, np.float32)[None]
    span = float(objectives.max()) - context.prior.min_objective
    nothing = np.zeros((*objectives.shape, 0), np.float32)
    return Table(
        conditions=(HEALTHY,),
        objectives=objectives,
        noise=np.full_like(objectives, _NOISE * max(span, 0.0)),
        falls=np.zeros_like(objectives),
        evidence=nothing,
        evidence_std=nothing,
        evidence_names=(),
        episodes=1,
    )

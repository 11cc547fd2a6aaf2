"""`Rating`: how well faults explain what the trials showed, by simulating the gaits that were tried."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from adapt.damage.damage import Combination, Damage, SingleDamage
from adapt.self_model.features import Features
from adapt.self_model.twin import Run, Twin
from robots.seeds import SeedFamily, derive_seeds

# What counts how much where models are compared with trials
WEIGHT = 0.25  # of the features' log likelihoods, since they depend on each other
_FREEDOM = 4.0  # degrees of freedom of Student's t
TOLERANCE = 0.15  # share of a feature's spread over the suspects by which a model may be off
_LASTING = 0.7  # correlation of what the model is off by before a damage and after it
_FALL = 3.0  # log likelihood lost where either fell and the other did not
_SEEDS = 4  # episodes by which the variance of features is known
_WAYS = 20  # episodes of a model whose other ways to go count as well
_CONTRARY = 4  # of models that mostly end otherwise than the trial, at a time
_TRIALS = 4  # gaits whose trials are compared: the first, and the last ones
_BATCH = 32  # episodes after which it is asked whether there is time for more


@dataclass(eq=False)
class Trials:
    """The trials of one gait."""

    row: int
    steps: int  # control steps of the first trial, which are compared
    variance: np.ndarray  # of the features from episode to episode, (e,)
    traces: list[np.ndarray] = field(default_factory=list)  # of each trial that lasted as long as the first
    falls: list[bool] = field(default_factory=list)  # whether the robot fell in each trial
    # means of what `Rating.read` reads off the traces, (e,)
    measured: np.ndarray = field(default_factory=lambda: np.empty(0))
    calibrated: set["Model"] = field(default_factory=set)  # models under which the variance is known


@dataclass(eq=False)
class Model:
    """Faults that may be what is wrong, and what n episodes of each gait showed under them, by its row."""

    damage: Damage
    shown: dict[int, np.ndarray] = field(default_factory=dict)  # features, (n, e)
    falls: dict[int, np.ndarray] = field(default_factory=dict)  # whether the model fell, (n,)

    @cached_property
    def singles(self) -> tuple[SingleDamage, ...]:
        """Each of the faults, in the order of their texts."""
        return tuple(sorted(self.damage.singles, key=str))

    def mean(self, row: int) -> np.ndarray:
        """Means of the features over the episodes of a gait, (e,)."""
        return np.asarray(self.shown[row].mean(axis=0))


class Rating:
    """Compares what models do with what the robot did in its trials.

    A model loses the log likelihood of its features' residuals under Student's t, scaled by their noise and a
    tolerance, and a price for each fault. The likelihood is the mean over the model's episodes.
    """

    def __init__(self, twin: Twin, features: Features, *, seed: int) -> None:
        self.features = features
        self.models: dict[str, Model] = {}  # by the text of their damage
        self.trials: dict[int, Trials] = {}  # by row, in the order of the first of each gait
        self.spread = np.zeros(len(features))  # standard deviation over possible damages, once it is set
        self.price = twin.thinking.price  # log likelihood that each fault must be worth
        self._twin, self._seed = twin, seed
        self.healthy = self.model(Combination())
        self._offset, gap = self._gap(twin.thinking.traces_before)
        self._floor = features.floor**2 + gap

    @property
    def active(self) -> list[Trials]:
        """The trials that are compared."""
        every = list(self.trials.values())
        return every if len(every) <= _TRIALS else [every[0], *every[1 - _TRIALS :]]

    @property
    def spent(self) -> float:
        """Share of the limits that is used up."""
        return self._twin.spent

    def model(self, damage: Damage) -> Model:
        """The model of a damage, a new one if there is none."""
        return self.models.setdefault(str(damage), Model(damage))

    def tell(self, row: int, trace: np.ndarray, fell: bool) -> None:
        """Take in a trial; one that ended before the first of its gait counts by its fall alone."""
        fell &= len(trace) <= self.features.steps  # what happens later is not simulated
        trace = trace[: self.features.steps]
        trials = self.trials.setdefault(row, Trials(row, len(trace), np.zeros(len(self.features))))
        trials.falls.append(fell)
        if len(trace) >= trials.steps:
            trials.traces.append(trace)
            trials.measured = self.read(trials.traces, trials.steps).mean(axis=0)
        self.calibrate(self.healthy)

    def read(self, traces: Sequence[np.ndarray], steps: int) -> np.ndarray:
        """Features of n trials, (n, e), less what the model is expected to be off by."""
        return self.features.of(traces, steps) - self._offset

    def simulate(self, models: Iterable[Model], until: float = np.inf, *, episodes: int = 1) -> None:
        """Have models run the gaits that were tried, where they did not yet, in so many episodes each.

        It stops once this share of the limits is used up, whether all of them ran or not.
        """
        distinct = list(dict.fromkeys(models))
        todo = [
            (model, trials, number)
            for trials in self.active
            for model in distinct
            for number in range(len(model.falls.get(trials.row, ())), episodes)
        ]
        for some in (todo[start : start + _BATCH] for start in range(0, len(todo), _BATCH)):
            if self.spent >= until:
                return
            runs = [
                Run(model.damage, trials.row, int(self._seeds(trials.row)[number]))
                for model, trials, number in some
            ]
            found = self._twin.run(runs, traced=True, steps=self.features.steps)
            assert found.traces is not None
            for (model, trials, _), trace, fell in zip(some, found.traces, found.fell, strict=True):
                row, shown = trials.row, self.features.of([trace], trials.steps)
                model.shown[row] = np.concatenate([model.shown[row], shown]) if row in model.shown else shown
                model.falls[row] = np.append(model.falls.get(row, np.empty(0, bool)), fell)

    def doubt(self, models: Iterable[Model], until: float) -> None:
        """Have models run many episodes, since a trial may be of the rarer of several ways to go."""
        self.simulate(models, until, episodes=_WAYS)

    def confirm(self, count: int, until: float) -> None:
        """Have the best models run several episodes: of many that ran a single one the best had luck."""
        self.simulate(self.best(count), until, episodes=_SEEDS)

    def reconsider(self, until: float) -> None:
        """Have models that mostly fall where the robot did not, or the other way, run many episodes.

        What is wrong may well be what the joints tell, and the trial the rarer of two ways to end.
        """
        own = self.features.joints >= 0
        for trials in self.active:
            losses = {
                model: float(self.misfits(model.shown[trials.row], trials)[:, own].sum(axis=1).min())
                for model in self.models.values()
                if trials.row in model.falls
                and abs(model.falls[trials.row].mean() - np.mean(trials.falls)) > 1 / 2
            }
            nearest = sorted(
                losses, key=lambda model: (losses[model] + self.price_of(model), str(model.damage))
            )
            self.doubt(nearest[:_CONTRARY], until)

    def calibrate(self, model: Model) -> None:
        """Take note of how much features vary from episode to episode under a model."""
        for trials in self.active:
            if model not in trials.calibrated:
                trials.calibrated.add(model)
                found = self.features.of(self._episodes(model, trials.row), trials.steps)
                trials.variance = np.maximum(trials.variance, found.var(axis=0, ddof=1))

    def best(self, count: int) -> list[Model]:
        """Those of the models that lose least in all trials."""
        return self.ranked(self.active)[:count]

    def ranked(self, several: Sequence[Trials]) -> list[Model]:
        """The models that ran the gaits of some trials, those first that lose least in these."""
        rows = {trials.row for trials in several}
        rated = [model for model in self.models.values() if rows <= model.shown.keys()]
        losses = self._losses(rated, several) + [self.price_of(model) for model in rated]
        order = sorted(range(len(rated)), key=lambda index: (losses[index], str(rated[index].damage)))
        return [rated[index] for index in order]

    def loss(self, model: Model) -> float:
        """Log likelihood that a model loses, with the price of its faults."""
        return float(self._losses([model], self.active)[0]) + self.price_of(model)

    def price_of(self, model: Model) -> float:
        """Log likelihood that a model's faults must be worth."""
        return self.price * len(model.singles)

    def explained(self, model: Model) -> float:
        """Share of the healthy model's misfit that a model explains, from 0 to 1.

        Where it is known what the model was off by before, in the trials of these gaits alone, if there are
        any: of other gaits nobody knows what to expect, and all models seem wrong.
        """
        known = {row for row, _ in self._twin.thinking.traces_before}
        several = [trials for trials in self.active if trials.row in known]
        misfit, healthy = self._losses([model, self.healthy], several or self.active)
        return float(np.clip(1 - misfit / healthy, 0, 1)) if healthy > 0 else 0.0

    def evidence_of(self, models: Sequence[Model]) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
        """What n models show in trials that are compared, see `Expectations.evidence`; nothing in others.

        Where several episodes went different ways, those count most that went the way of the trial.
        """
        self.simulate([self.healthy, *models])
        shape = len(models), len(self.features)
        shown = {
            trials.row: (
                np.reshape([self._likely(model, trials) for model in models], shape),
                np.broadcast_to(trials.variance + self._floor, shape),
            )
            for trials in self.active
        }
        nothing = np.zeros(shape), np.ones(shape)
        return lambda row: shown.get(row, nothing)

    def misfits(self, shown: np.ndarray | Sequence[np.ndarray], trials: Trials) -> np.ndarray:
        """Log likelihood lost by each feature, (n, e), of what n models show, (n, e)."""
        variance = trials.variance * (1 + 1 / len(trials.traces)) + self._floor
        residuals = np.reshape(shown, (-1, len(self.features))) - trials.measured
        squares = residuals**2 / (variance + (TOLERANCE * self.spread) ** 2)
        return np.asarray(WEIGHT * 0.5 * (_FREEDOM + 1) * np.log1p(squares / _FREEDOM))

    def _likely(self, model: Model, trials: Trials) -> np.ndarray:
        """Mean of what a model's episodes show, by their likelihoods, (e,)."""
        losses = self._episode_losses(model.shown[trials.row], model.falls[trials.row], trials)
        return np.asarray(np.average(model.shown[trials.row], axis=0, weights=np.exp(losses.min() - losses)))

    def _episode_losses(self, shown: np.ndarray, falls: np.ndarray, trials: Trials) -> np.ndarray:
        """Log likelihood that each of n episodes loses, (n,)."""
        return np.asarray(
            self.misfits(shown, trials).sum(axis=1) + _FALL * np.abs(falls - np.mean(trials.falls))
        )

    def _losses(self, models: Sequence[Model], several: Sequence[Trials]) -> np.ndarray:
        """Log likelihood that n models lose in some trials, (n,), without the price of their faults."""
        total = np.zeros(len(models))
        for trials in several if models else ():
            counts = np.array([len(model.falls[trials.row]) for model in models])
            shown = np.concatenate([model.shown[trials.row] for model in models])
            falls = np.concatenate([model.falls[trials.row] for model in models])
            losses = self._episode_losses(shown, falls, trials)
            starts = np.cumsum(counts) - counts
            least = np.minimum.reduceat(losses, starts)
            likelihoods = np.add.reduceat(np.exp(np.repeat(least, counts) - losses), starts)
            total += least - np.log(likelihoods / counts)
        return total

    def _gap(self, before: Sequence[tuple[int, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """What the model is expected to be off by, as it was before the fault, and the variance, (e,).

        Other gaits may show in any joint what one gait shows in some: the variance is at least the mean of
        all features of a kind.
        """
        differences = []
        for row, trace in before:
            self.features.check(trace)
            traces = self._episodes(self.healthy, row)
            until = min(len(trace), self.features.steps)
            measured, shown = (self.features.of(some, until) for some in ([trace], traces))
            differences.append(measured[0] - shown.mean(axis=0))
        if not differences:
            return np.zeros(len(self.features)), np.zeros(len(self.features))
        squares, kinds = np.mean(np.square(differences), axis=0), self.features.kinds
        typical = np.array([squares[kinds == kind].mean() for kind in kinds])
        expected = _LASTING * np.mean(differences, axis=0)
        return expected, np.maximum(squares, typical) - expected**2

    def _episodes(self, model: Model, row: int) -> list[np.ndarray]:
        runs = [Run(model.damage, row, int(seed)) for seed in self._seeds(row)[:_SEEDS]]
        traces = self._twin.run(runs, traced=True, steps=self.features.steps).traces
        assert traces is not None
        return list(traces)

    def _seeds(self, row: int) -> np.ndarray:
        return derive_seeds(self._seed, SeedFamily.THINKING, _WAYS * row, _WAYS)

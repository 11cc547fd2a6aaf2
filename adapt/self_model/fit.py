"""`Fit`: looks for faults under which the model does what the robot did in its trials."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from adapt.damage.damage import Damage
from adapt.damage.defect import Combination, Defect
from adapt.self_model.features import Features
from adapt.self_model.registry import MOST_FAULTS, Registry
from adapt.self_model.twin import Run, Twin
from robots.seeds import SeedFamily, derive_seeds

WEIGHT = 0.25  # of the features' log likelihoods, since they depend on each other
_FREEDOM = 4.0  # degrees of freedom of Student's t
_PRICE = 3.0  # log likelihood that a fault must be worth
_TOLERANCE = 0.15  # share of a feature's spread over the faults by which a model may be off
_FALL = 3.0  # log likelihood lost where either fell and the other did not
_SEEDS = 4  # episodes by which the noise of features is known
_TRIALS = 4  # that are looked at: the first, and the last ones
_BATCH = 256  # episodes whose traces are held at a time
_BEAM = 6  # models that are improved at a time
_CARRIED = 30  # models that are simulated in a new trial
_STEPS = (0.15, 0.15, 0.08, 0.04, 0.02)  # of strengths in each round, as shares of their ranges
_ROUNDS = 20
_PATIENCE = 3  # rounds without an improvement
_IMPROVED = 0.5  # log likelihood that counts as one
_STILL = 0.03  # [rad] range in which a joint that is stuck stays
_SHARE = 0.1  # of its torque that a motor that may be weak lacks at the least
_ASKEW = 0.1  # [rad] mean error of a servo that may be offset


@dataclass(eq=False)
class Trials:
    """The trials of one gait.

    Attributes:
        row: of the gait.
        traces: of each trial.
        falls: whether the robot fell in each.
        variance: of the features from episode to episode, (e,).
        measured: means of the features, (e,).
    """

    row: int
    traces: list[np.ndarray]
    falls: list[bool]
    variance: np.ndarray
    measured: np.ndarray

    @property
    def steps(self) -> int:
        """Control steps of the shortest trial, which are compared."""
        return min(map(len, self.traces))


@dataclass(eq=False)
class Model:
    """Faults that may be what is wrong.

    Attributes:
        damage: all of them.
        defects: each of them.
        shown: features that the model's episode of a gait showed, and whether it fell, by row and steps.
    """

    damage: Damage
    defects: tuple[Defect, ...]
    shown: dict[tuple[int, int], tuple[np.ndarray, bool]] = field(default_factory=dict)


class Fit:
    """The search for models, which goes on after each trial from what it knows.

    After the first trial all single faults run the gait that was tried. Then each leg's best explanation of
    its own joints' readings are put together, and a beam search adds, removes and replaces faults and changes
    strengths. A model loses half the squared residuals of its features, in the robust form of Student's t, in
    units of their noise and of what a model may be off by; and a price for each fault.

    Args:
        twin: runs the episodes.
        features: of traces.
        registry: of faults.
        known: damages that are models in any case.
        seed: from which all random numbers derive.

    Attributes:
        models: by text; those of `known` and the healthy one are always rated.
        trials: by row, in the order of the first of each.
        spread: standard deviation of each feature over the single faults, (e,).
    """

    def __init__(
        self, twin: Twin, features: Features, registry: Registry, known: Sequence[Damage], *, seed: int
    ) -> None:
        self.models: dict[str, Model] = {}
        self.trials: dict[int, Trials] = {}
        self.spread = np.zeros(len(features))
        self._twin, self._features, self._registry, self._seed = twin, features, registry, seed
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(SeedFamily.THINKING),)))
        self._known = self._models(map(_defects_of, known))
        self.healthy = self._models([()])[0]
        self._singles = self._models((defect,) for defect in registry.singles())
        self._floor = features.floor**2 + self._gap(twin.thinking.before)

    def tell(self, row: int, trace: np.ndarray, fell: bool) -> None:
        """Take in a trial."""
        none = np.zeros(len(self._features))
        trials = self.trials.setdefault(row, Trials(row, [], [], none, none))
        trials.traces.append(trace)
        trials.falls.append(fell)
        trials.measured = self._features.of(trials.traces, trials.steps).mean(axis=0)
        self._calibrate(self.healthy, [trials])

    def search(self, until: float) -> None:
        """Look for better models until a share of the limits is spent, or nothing gets better."""
        *_, last = self.trials.values()
        if len(self.trials) == 1:
            self._simulate([self.healthy, *self._known, *self._singles])
            shown = [model.shown[last.row, last.steps][0] for model in self._singles]
            self.spread = np.std(shown, axis=0)
        else:
            before = [trials for trials in self._active if trials is not last]
            self._simulate([self.healthy, *self._known, *self._ranked(before)[:_CARRIED]])
        self._simulate(self._read_off(last))
        self._simulate(self._composites())
        self._calibrate(self.best(1)[0], self._active)
        lowest, rounds = self.loss(self.best(1)[0]), 0
        for number in range(_ROUNDS):
            if self._twin.spent >= until or rounds >= _PATIENCE:
                break
            self._improve(_STEPS[min(number, len(_STEPS) - 1)])
            loss = self.loss(self.best(1)[0])
            rounds = rounds + 1 if loss > lowest - _IMPROVED else 0
            lowest = min(lowest, loss)
        self._calibrate(self.best(1)[0], self._active)

    def best(self, count: int) -> list[Model]:
        """Those of the models that lose least."""
        return self._ranked(self._active)[:count]

    def loss(self, model: Model) -> float:
        """Log likelihood that a model loses, with the price of its faults."""
        return self._loss(model, self._active)

    def explained(self, model: Model) -> float:
        """Share of the healthy model's misfit that a model explains, from 0 to 1."""
        misfit, healthy = (self._loss(one, self._active, price=0.0) for one in (model, self.healthy))
        return float(np.clip(1 - misfit / healthy, 0, 1)) if healthy > 0 else 0.0

    def shown(self, models: Sequence[Model]) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """What models show in the trials that are looked at, (n, e), and its variance, (e,), by row."""
        self._simulate([self.healthy, *models])
        return {
            trials.row: (
                np.array([model.shown[trials.row, trials.steps][0] for model in models]),
                trials.variance + self._floor,
            )
            for trials in self._active
        }

    @property
    def _active(self) -> list[Trials]:
        """The trials that are looked at."""
        every = list(self.trials.values())
        return every if len(every) <= _TRIALS else [every[0], *every[1 - _TRIALS :]]

    def _gap(self, before: Sequence[tuple[int, np.ndarray]]) -> np.ndarray:
        """Mean square of what the model is off by where nothing is wrong, (e,)."""
        squares = [np.zeros(len(self._features))]
        for row, trace in before:
            self._features.check(trace)
            runs = [Run(self.healthy.damage, row, int(seed)) for seed in self._seeds(row)]
            traces = self._twin.run(runs, traced=True).traces
            assert traces is not None
            measured, shown = (self._features.of(some, len(trace)) for some in ([trace], list(traces)))
            squares.append((measured[0] - shown.mean(axis=0)) ** 2)
        return np.asarray(np.mean(squares[1:] or squares, axis=0))

    def _models(self, several: Iterable[Sequence[Defect]]) -> list[Model]:
        """The models of some sets of faults, without those that cannot be."""
        found = {}
        for defects in several:
            ordered = tuple(sorted(defects, key=str))
            damage = self._registry.combine(ordered) if ordered else Combination()
            if damage is not None:
                found[str(damage)] = self.models.setdefault(str(damage), Model(damage, ordered))
        return list(found.values())

    def _simulate(self, models: Iterable[Model]) -> None:
        """Have models run the gaits that were tried, where they did not yet."""
        distinct = {str(model.damage): model for model in models}.values()
        todo = [
            (model, trials)
            for trials in self._active
            for model in distinct
            if (trials.row, trials.steps) not in model.shown
        ]
        for some in (todo[start : start + _BATCH] for start in range(0, len(todo), _BATCH)):
            runs = [Run(model.damage, trials.row, int(self._seeds(trials.row)[0])) for model, trials in some]
            episodes = self._twin.run(runs, traced=True)
            assert episodes.traces is not None
            for index, (model, trials) in enumerate(some):
                values = self._features.of([episodes.traces[index]], trials.steps)[0]
                fell = bool(episodes.fell[index] | episodes.diverged[index])
                model.shown[trials.row, trials.steps] = values, fell

    def _seeds(self, row: int) -> np.ndarray:
        """Seeds of a gait's episodes."""
        return derive_seeds(self._seed, SeedFamily.THINKING, _SEEDS * row, _SEEDS)

    def _calibrate(self, model: Model, several: Iterable[Trials]) -> None:
        """Take note of how much features vary from episode to episode under a model."""
        for trials in several:
            runs = [Run(model.damage, trials.row, int(seed)) for seed in self._seeds(trials.row)]
            traces = self._twin.run(runs, traced=True).traces
            assert traces is not None
            found = self._features.of(list(traces), trials.steps).var(axis=0, ddof=1)
            trials.variance = np.maximum(trials.variance, found)

    def _ranked(self, several: Sequence[Trials]) -> list[Model]:
        """The models that ran all gaits of some trials, those first that lose least."""
        wanted = {(trials.row, trials.steps) for trials in several}
        rated = [model for model in self.models.values() if wanted <= model.shown.keys()]
        return sorted(rated, key=lambda model: (self._loss(model, several), str(model.damage)))

    def _loss(self, model: Model, several: Sequence[Trials], price: float = _PRICE) -> float:
        """Log likelihood that a model loses in some trials, and the price of its faults."""
        total = price * len(model.defects)
        for trials in several:
            values, fell = model.shown[trials.row, trials.steps]
            total += float(self._misfits(values, trials).sum())
            total += _FALL * abs(fell - float(np.mean(trials.falls)))
        return total

    def _misfits(self, shown: np.ndarray, trials: Trials) -> np.ndarray:
        """Log likelihood lost by each feature, (..., e), of what models show, (..., e)."""
        variance = trials.variance * (1 + 1 / len(trials.traces)) + self._floor
        squares = (shown - trials.measured) ** 2 / (variance + (_TOLERANCE * self.spread) ** 2)
        return np.asarray(WEIGHT * 0.5 * (_FREEDOM + 1) * np.log1p(squares / _FREEDOM))

    def _improve(self, step: float) -> None:
        """Simulate variants of the best models."""
        found: list[Model] = []
        for rank, model in enumerate(self.best(_BEAM)):
            found += self._with_one_more(model)[: _BEAM if rank < _BEAM // 2 else _BEAM // 2]
            found += self._jittered(model, step, _BEAM if rank < 2 else _BEAM // 2)
            for out in model.defects:
                rest = [defect for defect in model.defects if defect is not out]
                found += self._models([rest] if rest else [])
                found += self._replaced(rest, out) if rank < 2 else []
        self._simulate(found)

    def _with_one_more(self, model: Model) -> list[Model]:
        """A model with one fault more, those first that would explain most if what they change adds up."""
        first, known = self._first
        if len(model.defects) >= MOST_FAULTS:
            return []
        changes = model.shown[first.row, first.steps][0] - self.healthy.shown[first.row, first.steps][0]
        expected = np.array([single.shown[first.row, first.steps][0] for single in known]) + changes
        order = np.argsort(self._misfits(expected, first).sum(axis=1), kind="stable")[: 4 * _BEAM]
        more = self._models((*model.defects, *known[index].defects) for index in order)
        return [other for other in more if (first.row, first.steps) not in other.shown]

    def _jittered(self, model: Model, step: float, count: int) -> list[Model]:
        """A model with other strengths."""
        faults = [self._registry.fault(defect) for defect in model.defects]
        graded = [index for index, fault in enumerate(faults) if fault and fault.graded]
        several = []
        for _ in range(count if graded else 0):
            changed = list(model.defects)
            some = self._rng.random(len(graded)) < 1 / 2
            some[self._rng.integers(len(graded))] = True
            for index in np.array(graded)[some]:
                fault, defect = faults[index], model.defects[index]
                if fault and defect.strength is not None:
                    place = fault.place(defect.strength) + step * self._rng.standard_normal()
                    changed[index] = fault.at(place)
            several.append(changed)
        return self._models(several)

    def _replaced(self, rest: Sequence[Defect], out: Defect) -> list[Model]:
        """Some faults, and instead of another one of their model one of the same part."""
        first, known = self._first
        others = [
            model for model in known if model.defects[0].target == out.target and model.defects != (out,)
        ]
        losses = [self._misfits(model.shown[first.row, first.steps][0], first).sum() for model in others]
        order = np.argsort(losses, kind="stable")[: _BEAM // 2]
        return self._models((*rest, *others[index].defects) for index in order)

    @property
    def _first(self) -> tuple[Trials, list[Model]]:
        """The first trial, and the single faults, all of which ran its gait."""
        first, *_ = self._active
        every = [*self._singles, *(model for model in self._known if len(model.defects) == 1)]
        return first, [model for model in every if (first.row, first.steps) in model.shown]

    def _read_off(self, trials: Trials) -> list[Model]:
        """Faults whose strengths sensors show: joints that stand still, and servos that stand askew."""
        joints, trace = self._registry.parts.robot.description.joints, trials.traces[-1]
        values = dict(zip(self._features.names, self._features.of([trace], trials.steps)[0], strict=True))
        shares = (
            self._features.shares(trace)
            if "currents" in self._features.sensors
            else np.full(len(joints), 1.0)
        )
        found = []
        for number, joint in enumerate(joints):
            moved = values.get(f"encoders: {joint} range [rad]", np.inf)
            error = values.get(f"encoders: {joint} mean error [rad]", 0.0)
            shown = {"locked": self._features.angle(trace, number), "offset": error, "weak": shares[number]}
            likely = {
                "locked": moved < _STILL,
                "offset": moved >= _STILL and abs(error) > _ASKEW,
                "weak": -_SHARE < shares[number] < 1 - _SHARE,
            }
            for kind, strength in shown.items():
                fault = self._registry.faults.get((f"joint={joint}", kind))
                if fault and likely[kind]:
                    found.append([fault.at(fault.place(strength))])
        models = self._models(found)
        self._singles = list(dict.fromkeys([*self._singles, *models]))
        return models

    def _composites(self) -> list[Model]:
        """Each leg's best explanation of its own joints' readings, put together."""
        (first, known), joints = self._first, self._registry.parts.robot.description.joints
        healthy = self._misfits(self.healthy.shown[first.row, first.steps][0], first)
        losses = self._misfits(np.array([model.shown[first.row, first.steps][0] for model in known]), first)
        gains: list[tuple[float, Defect]] = []
        for leg in self._registry.parts.robot.description.legs.values():
            own = np.isin(self._features.joints, [joints.index(joint) for joint in leg.joints])
            parts = [self._registry.joints_of(model.defects[0]) for model in known]
            here = [index for index, part in enumerate(parts) if part and part <= set(leg.joints)]
            if here and own.any():
                gain = healthy[own].sum() - losses[here][:, own].sum(axis=1)
                gains.append((float(gain.max()), known[here[int(np.argmax(gain))]].defects[0]))
        gains.sort(key=lambda pair: -pair[0])
        picked = [defect for gain, defect in gains[:MOST_FAULTS] if gain > _PRICE]
        return self._models(picked[:count] for count in range(2, len(picked) + 1))


def _defects_of(damage: Damage) -> tuple[Defect, ...]:
    """The defects of a damage."""
    if isinstance(damage, Combination):
        return damage.defects
    return (damage,) if isinstance(damage, Defect) else ()

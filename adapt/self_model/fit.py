"""`Fit`: looks for faults under which the model does what the robot did in its trials."""

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from adapt.damage.damage import Damage, Defect
from adapt.self_model.rating import Model, Rating, Trials
from adapt.self_model.registry import MOST_FAULTS, Registry
from robots.seeds import SeedFamily

_SINGLES = 200  # single faults to begin with, at least
_FINER = 10  # faults that are tried in more strengths
_PLACES = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)  # of these, in their ranges
_BEAM = 6  # models that are improved at a time
_CARRIED = 30  # models that are simulated in a new trial
_STEPS = (0.15, 0.15, 0.08, 0.04, 0.02)  # of strengths in each round, as shares of their ranges
_ROUNDS = 20
_PATIENCE = 3  # rounds without an improvement
_IMPROVED = 0.5  # log likelihood that counts as one
_STILL = 0.06  # [rad] range in which what the sensor of a stuck joint reads mostly stays
_SHARE = 0.1  # of its torque that a motor that may be weak lacks at the least
_GOLDEN = (5**0.5 - 1) / 2  # whose multiples are scattered evenly over the remainders of 1
_ASKEW = 0.1  # [rad] mean error of a servo that may be offset


class Fit:
    """The search for models, which goes on after each trial from what it knows.

    After the first trial all single faults run the gait that was tried, the likeliest of them in more
    strengths: often a little more of a fault makes a robot walk quite differently. Then each leg's best
    explanation of its own joints' readings are put together, and a beam search adds, removes and replaces
    faults and changes strengths.

    Args:
        rating: of models by the trials.
        registry: of faults.
        known: damages that are models in any case.
        seed: from which all random numbers derive.
    """

    def __init__(self, rating: Rating, registry: Registry, known: Sequence[Damage], *, seed: int) -> None:
        self._rating, self._registry = rating, registry
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(SeedFamily.THINKING),)))
        self._known = [rating.healthy, *self._models(damage.defects for damage in known)]
        self._singles = self._models((defect,) for defect in registry.singles(_SINGLES))

    def search(self, until: float) -> None:
        """Look for better models after a trial of another gait.

        What was rehearsed runs the gait in any case; all else only as long as the limits allow.

        Args:
            until: share of the limits after whose use to stop, if nothing stops getting better before.
        """
        rating = self._rating
        *_, last = rating.trials.values()
        before = [trials for trials in rating.active if trials is not last]
        carried = rating.ranked(before)[:_CARRIED] if before else []
        rating.simulate(self._known)
        rating.simulate(self._read_off(last), until)
        rating.simulate(carried or _scattered(self._singles), until)
        if not before:
            shown = [model.mean(last.row) for model in self._singles if last.row in model.shown]
            rating.spread = np.std(shown or [rating.healthy.mean(last.row)], axis=0)
            rating.simulate(self._finer(), until)
            rating.confirm(2 * _BEAM, until)
        rating.simulate(self._composites(), until)
        rating.confirm(_BEAM // 2, until)
        if not _settled(rating, carried):
            rating.reconsider(until)
        rating.calibrate(rating.best(1)[0])
        lowest, in_vain = rating.loss(rating.best(1)[0]), 0
        for number in range(_ROUNDS):
            if rating.spent >= until or in_vain >= (1 if _settled(rating, carried) else _PATIENCE):
                break
            rating.simulate(self._improved(_STEPS[min(number, len(_STEPS) - 1)]), until)
            rating.confirm(_BEAM // 2, until)
            loss = rating.loss(rating.best(1)[0])
            in_vain = in_vain + 1 if loss > lowest - _IMPROVED else 0
            lowest = min(lowest, loss)
        rating.confirm(_BEAM, until)
        rating.calibrate(rating.best(1)[0])

    def _models(self, several: Iterable[Sequence[Defect]]) -> list[Model]:
        """The models of some sets of faults, without those that cannot be."""
        damages = (self._registry.combine(defects) for defects in several)
        return list(dict.fromkeys(self._rating.model(damage) for damage in damages if damage is not None))

    def _improved(self, step: float) -> list[Model]:
        """Variants of the best models."""
        found: list[Model] = []
        for rank, model in enumerate(self._rating.best(_BEAM)):
            found += self._with_one_more(model, _BEAM if rank < _BEAM // 2 else _BEAM // 2)
            found += self._jittered(model, step, _BEAM if rank < 2 else _BEAM // 2)
            for out in model.defects:
                rest = [defect for defect in model.defects if defect is not out]
                found += self._models([rest] if rest else [])
                found += self._replaced(rest, out) if rank < 2 else []
        return found

    def _with_one_more(self, model: Model, count: int) -> list[Model]:
        """A model with one fault more, those first that would explain most if what they change adds up.

        Of each fault there is the strength that would explain most: others come from changing it.
        """
        if len(model.defects) >= MOST_FAULTS:
            return []
        first, known = self._first
        changes = model.mean(first.row) - self._rating.healthy.mean(first.row)
        order = self._order([single.mean(first.row) + changes for single in known], first)
        strongest: dict[object, Defect] = {}
        for index in order:
            (defect,) = known[index].defects
            fault = self._registry.fault(defect)
            strongest.setdefault((fault if fault and fault.graded else defect), defect)
        more = (self._models([(*model.defects, defect)]) for defect in strongest.values())
        return list(islice((other for (other,) in filter(None, more) if first.row not in other.shown), count))

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
        order = self._order([model.mean(first.row) for model in others], first)[: _BEAM // 2]
        return self._models((*rest, *others[index].defects) for index in order)

    def _order(self, shown: Sequence[np.ndarray], trials: Trials) -> np.ndarray:
        """Indices of what models show, those first that are nearest to some trials."""
        return np.argsort(self._rating.misfits(shown, trials).sum(axis=1), kind="stable")

    @property
    def _first(self) -> tuple[Trials, list[Model]]:
        """The first trial, and the single faults, all of which ran its gait."""
        first, *_ = self._rating.active
        every = [*self._singles, *(model for model in self._known if len(model.defects) == 1)]
        return first, [model for model in every if first.row in model.shown]

    def _read_off(self, trials: Trials) -> list[Model]:
        """Faults whose strengths sensors show: joints that stand still, and servos that stand askew."""
        features, trace = self._rating.features, trials.traces[-1]
        values = dict(zip(features.names, features.of([trace], trials.steps)[0], strict=True))
        found = []
        for number, joint in enumerate(features.robot.description.joints):
            error = values.get(f"encoders: {joint} mean error [rad]", 0.0)
            share = values.get(f"encoders+currents: {joint} share of usual torque [1]", 1.0)
            angle, moved = features.angle(trace, number) if "encoders" in features.sensors else (0.0, np.inf)
            for kind, strength, likely in (
                ("locked", angle, moved < _STILL),
                ("stuck-sensor", angle, moved < _STILL),
                ("offset", error, abs(error) > _ASKEW),
                ("weak", share, -_SHARE < share < 1 - _SHARE),
            ):
                fault = self._registry.faults.get((f"joint={joint}", kind))
                if fault and likely:
                    found.append(fault.at(fault.place(strength)))
        return self._further_singles(found)

    def _finer(self) -> list[Model]:
        """The likeliest single faults, in more strengths."""
        ranked = self._rating.ranked(self._rating.active)
        faults = [self._registry.fault(model.defects[0]) for model in ranked if len(model.defects) == 1]
        likeliest = list(dict.fromkeys(filter(None, faults)))[:_FINER]
        return self._further_singles(
            fault.at(place) for fault in likeliest if fault.graded for place in _PLACES
        )

    def _further_singles(self, defects: Iterable[Defect]) -> list[Model]:
        """Models of single faults, which are kept."""
        models = self._models([defect] for defect in defects)
        self._singles = list(dict.fromkeys([*self._singles, *models]))
        return models

    def _composites(self) -> list[Model]:
        """Each leg's best explanation of its own joints' readings, put together."""
        (first, known), rating, features = self._first, self._rating, self._rating.features
        healthy = rating.misfits(rating.healthy.mean(first.row), first)[0]
        losses = rating.misfits([model.mean(first.row) for model in known], first)
        parts = [self._registry.joints_of(model.defects[0]) for model in known]
        joints = features.robot.description.joints
        gains: list[tuple[float, Defect]] = []
        for leg in features.robot.description.legs.values():
            own = np.isin(features.joints, [joints.index(name) for name in leg.joints])
            here = [index for index, part in enumerate(parts) if part and part <= set(leg.joints)]
            if here and own.any():
                gain = healthy[own].sum() - losses[here][:, own].sum(axis=1)
                gains.append((float(gain.max()), known[here[int(np.argmax(gain))]].defects[0]))
        gains.sort(key=lambda pair: -pair[0])
        picked = [defect for gain, defect in gains[:MOST_FAULTS] if gain > self._rating.price]
        return self._models(picked[:count] for count in range(2, len(picked) + 1))


def _settled(rating: Rating, carried: Sequence[Model]) -> bool:
    """Whether the best model stayed the best after a further trial, or no fault could be worth its price."""
    best = rating.best(1)[0]
    return best in carried[:1] or rating.loss(best) < rating.price_of(best) + rating.price


def _scattered(models: Sequence[Model]) -> list[Model]:
    """Models in an order in which those that are alike are far apart, since there may not be time for all."""
    return [models[index] for index in np.argsort(np.arange(len(models)) * _GOLDEN % 1)]

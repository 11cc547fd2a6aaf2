"""`Fit`: looks for damages under which the model does what the robot did in its trials."""

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from adapt.damage.damage import Damage, SingleDamage
from adapt.self_model.rating import Model, Rating, Trials
from adapt.self_model.suspects import MOST_AT_ONCE, Suspects
from robots.seeds import SeedFamily

_GOLDEN = (5**0.5 - 1) / 2  # whose multiples are scattered evenly over the remainders of 1
# How widely and how long the search for models goes on
_SINGLES = 200  # single damages to begin with, at least
_FINER = 10  # suspects that are tried in more strengths ...
_PLACES = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)  # ... at these places of their ranges
_BEAM = 6  # models that are improved at a time
_CARRIED = 30  # models that are simulated in a new trial
_STEPS = (0.15, 0.15, 0.08, 0.04, 0.02)  # of strengths in each round, in shares of ranges
_ROUNDS = 20
_PATIENCE = 3  # rounds without an improvement
_IMPROVED = 0.5  # log likelihood that counts as one


class Fit:
    """The search for models, which goes on after each trial from what it knows.

    After the first trial all single damages run the gait that was tried, the likeliest in more strengths.
    Then the damages that best explain the joints of each leg are combined, and a beam search adds, removes
    and replaces damages and changes strengths. Rehearsed damages are models in any case.
    """

    def __init__(self, rating: Rating, suspects: Suspects, known: Sequence[Damage], *, seed: int) -> None:
        self._rating, self._suspects = rating, suspects
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(SeedFamily.THINKING),)))
        self._known = [rating.healthy, *self._models(damage.singles for damage in known)]
        self._singles = self._models((one,) for one in suspects.singles(_SINGLES))

    def search(self, until: float) -> None:
        """Look for better models after a trial of another gait, until a share of the limits is used up.

        What was rehearsed runs the gait in any case.
        """
        carried = self._start(until)
        self._combine(carried, until)
        self._improve(carried, until)

    def _start(self, until: float) -> list[Model]:
        """Run the last gait under what is known; returns the best models of the trials before, if any."""
        rating = self._rating
        *_, last = rating.trials.values()
        before = [trials for trials in rating.active if trials is not last]
        carried = rating.ranked(before)[:_CARRIED] if before else []
        rating.simulate(self._known)
        rating.simulate(self._read_off(last), until)
        # those that are alike far apart, since there may not be time for all
        scattered = np.argsort(np.arange(len(self._singles)) * _GOLDEN % 1)
        rating.simulate(carried or [self._singles[index] for index in scattered], until)
        if not before:
            shown = [model.mean(last.row) for model in self._singles if last.row in model.shown]
            rating.spread = np.std(shown or [rating.healthy.mean(last.row)], axis=0)
            rating.simulate(self._finer(), until)
            rating.confirm(2 * _BEAM, until)
        return carried

    def _combine(self, carried: Sequence[Model], until: float) -> None:
        """Try what the legs show together, and what contradicts the falls unless the search is settled."""
        rating = self._rating
        rating.simulate(self._composites(), until)
        rating.confirm(_BEAM // 2, until)
        if not _settled(rating, carried):
            rating.reconsider(until)
        rating.calibrate(rating.best(1)[0])

    def _improve(self, carried: Sequence[Model], until: float) -> None:
        """Improve the best models, round by round, until that is in vain."""
        rating = self._rating
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
        self._simplify()
        rating.calibrate(rating.best(1)[0])

    def _simplify(self) -> None:
        """Doubt each fault of several: it may explain no more than that the trial went the rarer way."""
        doubted = None
        while (best := self._rating.best(1)[0]) is not doubted and len(best.singles) > 1:
            doubted = best
            rest = ([one for one in best.singles if one is not out] for out in best.singles)
            self._rating.doubt(self._models(rest), 1.0)

    def _models(self, several: Iterable[Sequence[SingleDamage]]) -> list[Model]:
        damages = (self._suspects.combine(singles) for singles in several)
        return list(dict.fromkeys(self._rating.model(damage) for damage in damages if damage is not None))

    def _improved(self, step: float) -> list[Model]:
        found: list[Model] = []
        many, few = _BEAM, _BEAM // 2
        for rank, model in enumerate(self._rating.best(many)):
            found += self._with_one_more(model, many if rank < few else few)
            found += self._jittered(model, step, many if rank < 2 else few)
            for out in model.singles:
                rest = [single for single in model.singles if single is not out]
                found += self._models([rest] if rest else [])
                found += self._replaced(rest, out) if rank < 2 else []
        return found

    def _with_one_more(self, model: Model, count: int) -> list[Model]:
        """A model with one damage more, those first that would explain most if what they change adds up.

        Of each suspect there is the strength that would explain most: others come from changing it.
        """
        if len(model.singles) >= MOST_AT_ONCE:
            return []
        first, known = self._first
        changes = model.mean(first.row) - self._rating.healthy.mean(first.row)
        order = self._order([single.mean(first.row) + changes for single in known], first)
        strongest: dict[object, SingleDamage] = {}
        for index in order:
            (single,) = known[index].singles
            suspect = self._suspects.suspect(single)
            strongest.setdefault((suspect if suspect and suspect.strengths.graded else single), single)
        more = (self._models([(*model.singles, single)]) for single in strongest.values())
        return list(islice((other for (other,) in filter(None, more) if first.row not in other.shown), count))

    def _jittered(self, model: Model, step: float, count: int) -> list[Model]:
        suspects = [self._suspects.suspect(single) for single in model.singles]
        graded = [index for index, suspect in enumerate(suspects) if suspect and suspect.strengths.graded]
        several = []
        for _ in range(count if graded else 0):
            changed = list(model.singles)
            some = self._rng.random(len(graded)) < 1 / 2
            some[self._rng.integers(len(graded))] = True
            for index in np.array(graded)[some]:
                suspect, single = suspects[index], model.singles[index]
                if suspect and single.strength is not None:
                    place = suspect.strengths.place(single.strength) + step * self._rng.standard_normal()
                    changed[index] = suspect.at(place)
            several.append(changed)
        return self._models(several)

    def _replaced(self, rest: Sequence[SingleDamage], out: SingleDamage) -> list[Model]:
        """Some damages, and instead of another one of their model one of the same part."""
        first, known = self._first
        others = [
            model for model in known if model.singles[0].target == out.target and model.singles != (out,)
        ]
        order = self._order([model.mean(first.row) for model in others], first)[: _BEAM // 2]
        return self._models((*rest, *others[index].singles) for index in order)

    def _order(self, shown: Sequence[np.ndarray], trials: Trials) -> np.ndarray:
        """Indices of what models show, those first that are nearest to some trials."""
        return np.argsort(self._rating.misfits(shown, trials).sum(axis=1), kind="stable")

    @property
    def _first(self) -> tuple[Trials, list[Model]]:
        """The first trial, and the single damages, all of which ran its gait."""
        first, *_ = self._rating.active
        every = [*self._singles, *(model for model in self._known if len(model.singles) == 1)]
        return first, [model for model in every if first.row in model.shown]

    def _read_off(self, trials: Trials) -> list[Model]:
        """Damages whose strengths the sensors of joints show."""
        features, found = self._rating.features, []
        readings = features.readings(trials.traces[-1], trials.steps)
        for joint, reading in zip(features.robot.description.joints, readings, strict=True):
            for suspect in self._suspects.of_part(f"joint={joint}"):
                strength = suspect.kind.read_off(reading)
                if strength is not None:
                    found.append(suspect.at(suspect.strengths.place(strength)))
        return self._further_singles(found)

    def _finer(self) -> list[Model]:
        """The likeliest single damages, in more strengths."""
        ranked = self._rating.ranked(self._rating.active)
        suspects = [self._suspects.suspect(model.singles[0]) for model in ranked if len(model.singles) == 1]
        likeliest = list(dict.fromkeys(filter(None, suspects)))[:_FINER]
        return self._further_singles(
            suspect.at(place) for suspect in likeliest if suspect.strengths.graded for place in _PLACES
        )

    def _further_singles(self, singles: Iterable[SingleDamage]) -> list[Model]:
        """Models of single damages, which are kept."""
        models = self._models([single] for single in singles)
        self._singles = list(dict.fromkeys([*self._singles, *models]))
        return models

    def _composites(self) -> list[Model]:
        """Each leg's best explanation of its own joints' readings, put together."""
        (first, known), rating, features = self._first, self._rating, self._rating.features
        healthy = rating.misfits(rating.healthy.mean(first.row), first)[0]
        losses = rating.misfits([model.mean(first.row) for model in known], first)
        parts = [self._suspects.joints_of(model.singles[0]) for model in known]
        joints = features.robot.description.joints
        gains: list[tuple[float, SingleDamage]] = []
        for leg in features.robot.description.legs.values():
            own = np.isin(features.joints, [joints.index(name) for name in leg.joints])
            here = [index for index, part in enumerate(parts) if part and part <= set(leg.joints)]
            if here and own.any():
                gain = healthy[own].sum() - losses[here][:, own].sum(axis=1)
                gains.append((float(gain.max()), known[here[int(np.argmax(gain))]].singles[0]))
        gains.sort(key=lambda pair: -pair[0])
        picked = [single for gain, single in gains[:MOST_AT_ONCE] if gain > self._rating.price]
        return self._models(picked[:count] for count in range(2, len(picked) + 1))


def _settled(rating: Rating, carried: Sequence[Model]) -> bool:
    """Whether the best model stayed the best after a further trial, or no damage could be worth its price."""
    best = rating.best(1)[0]
    return best in carried[:1] or rating.loss(best) < rating.price_of(best) + rating.price

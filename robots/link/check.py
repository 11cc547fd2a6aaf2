"""`Exported`: a gait's file as a robot runs it; `differences`: where a log tells that it is run otherwise.

A fault changes what the gait sees, or what becomes of its actions. That which leaves the least of the
differences between the log and the gait is assumed, and then the next one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from robots.controllers.foreign import open_session
from robots.errors import InvalidFileError
from robots.link.logs import Log, as_actions
from robots.robot import Robot

# Differences are roots of means of squares, in the size of an action, 1.
_SAME = 1e-3  # those that are none
_CLOSE = 0.05  # those that noise, or another zero of the heading, may make where no fault explains them
_EXPLAINED = 0.3  # share of the differences that may be left of those that faults explain
_DONE = 0.05  # share that may be left where no further fault is looked for
_WORTH = 0.2  # share of them that a fault takes away at least
_MOST_FAULTS, _WIDTH, _ROUNDS = 3, 3, 8  # of a guess; guesses that are followed; of refining faults in turn
_MOST_STEPS = 200  # control steps that are compared
_LAGS = (1, 2, 3, 4, 5, 6, 8, 10)  # control steps
_FACTORS = np.geomspace(0.01, 100, 26)  # that are tried before the best one is refined
_SHARES = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)  # of what is read that may be within a limit
_UNKNOWN = (
    "no scale, sign, order, lag or limit explains what differs: is this the log of another gait, or does it "
    "begin later than the gait?"
)
_Change = Callable[[np.ndarray], np.ndarray]


class Exported:
    """A file that `onnx_model` or `unitree_files` made.

    Attributes:
        told: what its metadata say under `surefoot`.
    """

    def __init__(self, content: bytes, origin: str) -> None:
        self._session = open_session(content, origin)
        known = self._session.get_modelmeta().custom_metadata_map
        if "surefoot" not in known:
            raise InvalidFileError(f"{origin} is no gait that `surefoot export` wrote")
        self.told: dict[str, Any] = json.loads(known["surefoot"])
        self._first = {one.name: np.zeros(one.shape, np.float32) for one in self._session.get_inputs()}

    def actions(self, seen: np.ndarray, limited: bool = False) -> np.ndarray:
        """What follows from what it sees in each control step, from its first one on: (t, n) to (t, a).

        These are what it gives, or, `limited`, those of the targets that it gives.
        """
        feeds, made = dict(self._first), []
        names = ["targets" if limited else "actions", *["next_state"] * ("state" in feeds)]
        for row in seen.astype(np.float32)[:, None]:
            if "obs" in feeds:
                feeds["obs"] = row
            action, *kept = self._session.run(names, feeds)
            made.append(action[0])
            if kept:
                feeds["state"] = kept[0]
        found = np.array(made, np.float64)
        return as_actions(found, self.told["actions"]) if limited else found


def differences(gait: Exported, log: Log, robot: Robot) -> tuple[Sequence[str], str]:
    """Sentences about what differs, none where the log fits the gait, and one about how well it does."""
    search = _Search(gait, log._replace(seen=log.seen[:_MOST_STEPS], told=log.told[:_MOST_STEPS]), robot)
    before, best = search.first.apart, search.explained()
    words = f"{len(log.told[:_MOST_STEPS])} control steps: actions differ by {before:.2%} of their size"
    if best.faults and best.apart <= max(_SAME, _EXPLAINED * before):
        words += f", and by {best.apart:.2%} when that is taken into account"
        return [fault.words for fault in best.faults], words
    if before > _CLOSE:
        return [_UNKNOWN], words
    blind = search.blind()
    if blind:
        words += f"; they hardly depend on {', '.join(blind)}, which this log cannot judge"
    return [], words


class _Fault(NamedTuple):
    """What may be wrong on the robot: what becomes of what the gait sees, and of its actions."""

    words: str = ""
    seen: _Change | None = None
    told: _Change | None = None
    value: float = 0.0  # how much, where `like` gives the same fault at another value
    like: Callable[[float], _Fault] | None = None


class _Guess(NamedTuple):
    """Faults that are assumed, and what follows from them."""

    faults: tuple[_Fault, ...]
    seen: np.ndarray  # what the gait sees
    made: np.ndarray  # what becomes of its actions
    apart: float  # by how much these differ from the log's


class _Search:
    """What explains the differences between a gait and a log; `first` assumes nothing."""

    def __init__(self, gait: Exported, log: Log, robot: Robot) -> None:
        self._actions, self._robot, self._told = partial(gait.actions, limited=log.limited), robot, log.told
        self._motors, self._names = gait.told["actions"], [column["name"] for column in gait.told["obs"]]
        known = {entry.name: entry.term for entry in robot.entries}
        known |= {channel.name: channel.term for channel in robot.channels}
        self._terms = dict[str, list[int]]()  # columns of each that is not constant
        for place in np.flatnonzero(np.ptp(log.seen, axis=0)).tolist():
            name = self._names[place]
            self._terms.setdefault(known.get(name, name), []).append(place)
        made = self._actions(log.seen)
        self.first = _Guess((), log.seen, made, self._apart(made))

    def explained(self) -> _Guess:
        """The best guess: a few are followed, until one explains nearly all."""
        beam, best = [self.first], self.first
        while beam and len(best.faults) < _MOST_FAULTS and best.apart > max(_SAME, _DONE * self.first.apart):
            tried = [(self._with(guess, one).apart, guess, one) for guess in beam for one in self._all(guess)]
            tried = [one for one in tried if one[0] < (1 - _WORTH) * one[1].apart]
            tried.sort(key=lambda one: round(100 * np.log(one[0] + 1e-5)))  # equal ones: the simpler first
            beam = [self._refined(guess, fault) for _, guess, fault in tried[:_WIDTH]]
            best = min([best, *beam], key=lambda one: one.apart)
        for _ in range(_ROUNDS * (len(best.faults) > 1)):  # what was refined before the others were known
            rest = self.first
            for fault in best.faults[1:]:
                rest = self._with(rest, fault)
            best = self._refined(rest, best.faults[0])
        return best

    def blind(self) -> list[str]:
        """Terms whose sign makes no difference in this log."""
        flips = {term: _Fault(seen=_on(places, np.negative)) for term, places in self._terms.items()}
        most = max(_SAME, self.first.apart)
        return [term for term, flip in flips.items() if self._with(self.first, flip).apart <= most]

    def _apart(self, made: np.ndarray) -> float:
        return float(np.sqrt(np.nanmean((made - self._told) ** 2)))

    def _with(self, guess: _Guess, fault: _Fault) -> _Guess:
        seen, made = guess.seen, guess.made
        if fault.seen:
            seen = fault.seen(seen)
            made = self._actions(seen)
            for change in filter(None, [one.told for one in guess.faults]):
                made = change(made)
        made = fault.told(made) if fault.told else made
        return _Guess((*guess.faults, fault), seen, made, self._apart(made))

    def _refined(self, guess: _Guess, fault: _Fault) -> _Guess:
        """With the value that leaves the least."""
        known = self._with(guess, fault)
        if (like := fault.like) is None:
            return known
        sign, size = np.sign(fault.value), np.log(abs(fault.value))
        around = (size - 0.8, size + 0.8)
        found = minimize_scalar(
            lambda log: self._with(guess, like(sign * np.exp(log))).apart, around, bounds=around
        )
        return min(known, self._with(guess, like(float(sign * np.exp(found.x)))), key=lambda one: one.apart)

    def _all(self, guess: _Guess) -> Iterator[_Fault]:
        yield from self._of_commands(guess.made)
        yield from self._of_terms(guess.seen)
        yield from self._of_joints()

    def _of_commands(self, made: np.ndarray) -> Iterator[_Fault]:
        """Lags, scales, offsets and limits of what motors are told."""
        told, every = self._told, list(range(made.shape[1]))
        yield from (_Fault(f"commands lag by {_steps(lag)}", None, _late(every, lag)) for lag in _LAGS)
        scale, offset = (np.array([one[key] for one in self._motors]) for key in ("scale", "offset"))
        rest = np.divide(offset, scale, out=np.zeros(len(scale)), where=scale != 0)
        for what, less in (("action", 0 * rest), ("target", rest)):
            factor = _slopes((made + less).reshape(-1, 1), (told + less).reshape(-1, 1))
            yield _Fault(f"every {what} {_factor(factor[0])}", None, _scaled(factor, less))
        factors, shifts = _slopes(made, told), np.nanmean(told - made, axis=0)
        low, high = np.nanmin(told, axis=0), np.nanmax(told, axis=0)
        ends = np.sort([offset + scale * low, offset + scale * high], axis=0)
        units = [one["unit"] for one in self._motors]
        kinds: list[tuple[_Change, Callable[[int], str]]] = [
            (_scaled(factors, 0 * rest), lambda j: _factor(factors[j])),
            (lambda a: a + shifts, lambda j: f"is off by {shifts[j] * scale[j]:.3g} {units[j]}"),
            (
                lambda a: np.clip(a, low, high),
                lambda j: f"stays from {ends[0, j]:.3g} to {ends[1, j]:.3g} {units[j]}",
            ),
        ]
        before, moves = np.nanmean((made - told) ** 2, axis=0), np.var(made, axis=0)
        for change, words in kinds:
            after = np.nanmean((change(made) - told) ** 2, axis=0)
            own = (before > _SAME**2) & (after < _EXPLAINED**2 * np.minimum(before, moves))
            if own.any():
                said = [f"{self._motors[j]['joint']} {words(j)}" for j in np.flatnonzero(own).tolist()]
                only = lambda a, own=own, change=change: np.where(own, change(a), a)  # noqa: E731
                yield _Fault(f"the command of {', that of '.join(said)}", None, only)

    def _of_terms(self, seen: np.ndarray) -> Iterator[_Fault]:
        """Signs, lags, scales, limits and order of what is seen, those of whole terms first."""
        for term, places in self._terms.items():
            yield _Fault(f"{term} has the opposite sign", _on(places, np.negative))
            yield from (_Fault(f"{term} lags by {_steps(lag)}", _late(places, lag)) for lag in _LAGS)
            yield from (_too_large(term, places, sign * size) for size in _FACTORS for sign in (1, -1))
            ends = np.quantile(np.abs(seen[:, places]), _SHARES)
            yield from (_limited(term, places, float(end)) for end in ends if end > 0)
        for term, places in self._terms.items():
            if not term.startswith("joint_"):
                yield from _mixed({self._names[place]: ([place], []) for place in places})

    def _of_joints(self) -> Iterator[_Fault]:
        """Signs and order of joints and legs, in one kind of readings, in both, in commands, or in all."""
        joints, legs = self._robot.description.joints, self._robot.description.leg_joints
        groups = {joint: (joint,) for joint in joints} | {f"the leg {leg}": own for leg, own in legs.items()}
        position, speed = (" position",), (" speed",)
        cases: list[tuple[str, tuple[str, ...], bool]] = [
            (" in commands", (), True),
            (" in positions", position, False),
            (" in speeds", speed, False),
            (" in positions and speeds", position + speed, False),
            ("", position + speed, True),
        ]
        for where, kinds, told in cases:
            parts = {}
            for name, members in groups.items():
                columns = [f"{joint}{kind}" for kind in kinds for joint in members]
                seen = [self._names.index(column) for column in columns if column in self._names]
                parts[name] = seen, [joints.index(joint) for joint in members] if told else []
            yield from _mixed(parts, where)


def _too_large(term: str, places: list[int], factor: float) -> _Fault:
    change, like = _on(places, lambda part: factor * part), partial(_too_large, term, places)
    return _Fault(f"{term} {_factor(factor)}", change, None, factor, like)


def _limited(term: str, places: list[int], most: float) -> _Fault:
    change, like = _on(places, lambda part: np.clip(part, -most, most)), partial(_limited, term, places)
    return _Fault(f"{term} stays within ±{most:.3g}", change, None, most, like)


def _mixed(parts: Mapping[str, tuple[list[int], list[int]]], where: str = "") -> Iterator[_Fault]:
    """Parts of what is seen and told, by columns, of the opposite sign or swapped."""
    for name, (seen, told) in parts.items():
        if seen or told:
            negative = _on(seen, np.negative), _on(told, np.negative)
            yield _Fault(f"{name} has the opposite sign{where}", *negative)
    for (one, (seen, told)), (other, (seen2, told2)) in combinations(parts.items(), 2):
        if (len(seen), len(told)) == (len(seen2), len(told2)) and (seen or told):
            swap = _on(seen + seen2, _halves_swapped), _on(told + told2, _halves_swapped)
            yield _Fault(f"{one} and {other} are swapped{where}", *swap)


def _on(places: list[int], change: _Change) -> _Change | None:
    """A change of some columns, None where there are none."""

    def changed(rows: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows[:, places] = change(rows[:, places])
        return rows

    return changed if places else None


def _late(places: list[int], lag: int) -> _Change | None:
    return _on(places, lambda part: part[np.maximum(np.arange(len(part)) - lag, 0)])


def _halves_swapped(part: np.ndarray) -> np.ndarray:
    return np.roll(part, part.shape[1] // 2, axis=1)


def _scaled(factors: np.ndarray, less: np.ndarray) -> _Change:
    return lambda rows: factors * (rows + less) - less


def _slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The factors that make of x what is nearest to y, column by column."""
    known = np.isfinite(y)
    return np.sum(x * y, axis=0, where=known) / np.maximum(np.sum(x * x, axis=0, where=known), 1e-12)


def _factor(value: float) -> str:
    size = abs(value)
    times = f"{size:.3g} times too large" if size >= 1 else f"{1 / max(size, 1e-9):.3g} times too small"
    degrees = ", as degrees for radians" if 56.5 < size < 58 else ""
    return f"looks {times}{degrees}{' and has the opposite sign' if value < 0 else ''}"


def _steps(lag: int) -> str:
    return f"{lag} control step{'s' * (lag > 1)}"

"""`Periodic`: gaits whose joints follow smoothed square waves, and may react to roll, pitch and yaw."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from robots.compilation import compiled
from robots.controllers.controller import Controller, ControllerDescription, Legs, Mirror, Plant, Reflection
from robots.controllers.graph import Graph
from robots.errors import InvalidValueError
from robots.files.records import Positive, Record

# Standard deviation of the Gaussian that smooths a signal's edges, as a share of the period: 3 of the 100
# samples of Cully et al. 2015.
_SMOOTHING = 0.03
_MOST_SAMPLES = 10_000  # control steps of a period
_TRIES = 64  # initial gaits whose legs move alike
_PER_SIGNAL = 3  # amplitude, phase, duty
_STRIDE = 4.0  # a gain of 1 changes strides by this share per rad of yaw
_OFFSET = 2.0  # a gain of 1 moves an action by this per rad
# what each error is read from, in order of preference, and its sign there
_READ: Mapping[str, tuple[tuple[str, float], ...]] = {
    "roll": (("roll", 1.0), ("gravity y", -1.0)),
    "pitch": (("pitch", 1.0), ("gravity x", 1.0)),
    "yaw": (("heading error", 1.0), ("heading", 1.0), ("sine of the bearing of the target", -1.0)),
}
_NEEDED = {"roll": "roll or gravity", "pitch": "pitch or gravity", "yaw": "heading, heading_error or bearing"}


def _act(
    sizes: np.ndarray,
    memory: np.ndarray,
    _parameters: np.ndarray,
    _observation: np.ndarray,
    step: int,
    action: np.ndarray,
) -> None:
    """Read the action of a control step; see `Controller.kernel`."""
    row = step % sizes[0]
    for joint in range(len(action)):
        action[joint] = memory[row, joint]


def _react(
    sizes: np.ndarray,
    memory: np.ndarray,
    _parameters: np.ndarray,
    observation: np.ndarray,
    step: int,
    action: np.ndarray,
) -> None:
    """Play the signals and react to errors; see `Controller.kernel`.

    The memory holds the actions of a period, then how strides change with yaw, and then how actions change
    with each error; the sizes the number of control steps in a period, and where yaw and each error are seen.
    """
    samples = sizes[0]
    row, yaw = step % samples, observation[sizes[1]]
    for joint in range(len(action)):
        stride = np.float32(1.0) + memory[samples, joint] * yaw
        value = min(max(stride, np.float32(0.0)), np.float32(2.0)) * memory[row, joint]
        for error in range(2, len(sizes)):
            value += memory[samples + error - 1, joint] * observation[sizes[error]]
        action[joint] = min(max(value, np.float32(-1.0)), np.float32(1.0))


@compiled()
def _tabulate(parameters: np.ndarray, signals: np.ndarray, signs: np.ndarray, table: np.ndarray) -> None:
    samples = table.shape[0]
    for joint in range(len(signals)):
        first = _PER_SIGNAL * signals[joint]
        amplitude = min(max(parameters[first], 0.0), 1.0)
        phase = parameters[first + 1] - math.floor(parameters[first + 1])
        duty = min(max(parameters[first + 2], 0.0), 1.0)
        for sample in range(samples):
            at = (sample / samples + phase) % 1.0
            share = 0.0
            for k in range(-1, 2):
                share += _normal((at + k) / _SMOOTHING) - _normal((at + k - duty) / _SMOOTHING)
            table[sample, joint] = signs[joint] * amplitude * (2.0 * share - 1.0)


def _reverse(signals: np.ndarray, which: Sequence[int] | np.ndarray) -> None:
    """Give some of the signals (..., k, 3) the other sign, in place: where one was 1 its duty is over."""
    signals[..., which, 1] -= signals[..., which, 2]
    signals[..., which, 2] = 1 - signals[..., which, 2]


@compiled()
def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@dataclass(frozen=True)
class Periodic(Controller):
    """Each joint plays a periodic signal, or another joint's with the opposite sign, and may react to errors.

    A signal is 1 for a share of the period (its duty), then -1, smoothed by a circular Gaussian of 0.03
    periods, scaled by an amplitude and shifted ahead by a phase: that of Cully et al. 2015 (Nature 521),
    without its sampling. With Φ the cumulative normal distribution and σ = 0.03,

        s(τ) = amplitude (2 Σ_k [Φ((u + k) / σ) - Φ((u + k - duty) / σ)] - 1),   u = τ + phase mod 1

    With a joint's side d (1 left, -1 right, 0 neither), the yaw ψ to the left [rad], and errors e [rad],

        action = s · (1 + 4 g d ψ, from 0 to 2) + Σ_e 2 k_e e,   clipped to ±1

    A parameter vector holds amplitude, phase and duty of one signal after the other, then g if there are
    sides, and then k of each signal for one error after the other. Amplitude and duty count as clipped to
    [0, 1] and a phase by its fraction, so that a search needs no bounds.
    """

    observation_dim: int
    signals: tuple[int, ...]  # which signal each joint plays, (a,)
    signs: tuple[int, ...]  # with which sign, (a,)
    samples: int  # control steps in a period
    # by what share of the period the signals of each leg come earlier than those of the first, and these
    alike: tuple[tuple[float, tuple[int, ...]], ...] = ()
    reversed_signals: tuple[int, ...] = ()  # those of these that start reversed
    sides: tuple[int, ...] = ()  # of each joint, (a,)
    offsets: tuple[str, ...] = ()  # names of errors
    sources: tuple[int, ...] = ()  # where the observation has yaw, and then each error; none without reflexes
    factors: tuple[float, ...] = ()  # that make angles [rad] of these

    sigma0 = 0.15

    @property
    def kernel(self) -> Callable[..., None]:  # type: ignore[override]
        return _react if self.sources else _act

    @property
    def closed_loop(self) -> bool:  # type: ignore[override]
        """Whether it has reflexes."""
        return bool(self.sources)

    @property
    def tries(self) -> int:  # type: ignore[override]
        """Many where legs start alike: most of these gaits fall or get nowhere, and a few walk."""
        return _TRIES if self.alike else 1

    @property
    def action_dim(self) -> int:  # type: ignore[override]
        """Number of outputs."""
        return len(self.signals)

    @property
    def parameter_count(self) -> int:
        """Three for each signal, one of strides, and one for each signal and error."""
        return self._own + any(self.sides) + len(self.offsets) * self._signals

    @property
    def _signals(self) -> int:
        return 1 + max(self.signals)

    @property
    def _own(self) -> int:
        """Number of the parameters of signals."""
        return _PER_SIGNAL * self._signals

    @property
    def holds_heading(self) -> bool:
        """See `Controller`: whether it reacts to yaw."""
        return any(self.sides) or "yaw" in self.offsets

    @property
    def shape(self) -> str:
        """For example `periodic-36`, or `periodic-36-37` with reflexes."""
        return f"periodic-{self._own}" + f"-{self.parameter_count}" * bool(self.sources)

    @property
    def label(self) -> str:
        """The kind alone: its size says nothing to people."""
        return "periodic" + " with reflexes" * bool(self.sources)

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Uniform in [0, 1], but offsets of 0, (p,) float32; legs that start alike have the same signals."""
        signals = rng.uniform(0, 1, (self._signals, _PER_SIGNAL)).astype(np.float32)
        first = signals[list(self.alike[0][1])].copy() if self.alike else signals
        for phase, own in self.alike:
            signals[list(own)] = first
            signals[list(own), 1] += phase
        _reverse(signals, list(self.reversed_signals))
        found = np.zeros(self.parameter_count, np.float32)
        found[: self._own] = signals.reshape(-1)
        found[self._own : self._own + any(self.sides)] = rng.uniform(0, 1, int(any(self.sides)))
        return found

    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        rows = self.samples + len(self.sources)
        return np.array([self.samples, *self.sources]), np.zeros((rows, self.action_dim), np.float32)

    def prepare(self, parameters: np.ndarray, memory: np.ndarray) -> None:
        signals, signs, own = np.array(self.signals), np.array(self.signs), self._own
        _tabulate(parameters[:own], signals, signs, memory[: self.samples])
        changes, gains = memory[self.samples :], parameters[own + any(self.sides) :]
        if any(self.sides):
            changes[0] = _STRIDE * self.factors[0] * parameters[own] * np.array(self.sides)
        for number, factor in enumerate(self.factors[1:]):
            of_error = gains[number * self._signals : (number + 1) * self._signals]
            changes[1 + number] = _OFFSET * factor * of_error[signals] * signs

    def bounded(self, parameters: np.ndarray) -> np.ndarray:
        """See `Controller.bounded`: amplitudes and duties are clipped to [0, 1]."""
        found = np.array(parameters)
        for first in (0, 2):
            part = found[:, first : self._own : _PER_SIGNAL]
            part[:] = part.clip(0, 1)
        return found

    def mirrored(self, parameters: np.ndarray, mirror: Mirror) -> np.ndarray | None:
        """See `Controller.mirrored`: None where signals, sides or errors have other images."""
        own, rows, strides = self._own, len(parameters), int(any(self.sides))
        played, errors = self._mirrored_signals(mirror), self._mirrored_errors(mirror)
        if played is None or errors is None:
            return None
        signals = self.bounded(parameters)[:, :own].reshape(rows, self._signals, _PER_SIGNAL)
        signals = signals[:, played.images]
        _reverse(signals, np.flatnonzero(played.signs < 0))
        gains = parameters[:, own + strides :].reshape(rows, len(errors), self._signals)
        gains = gains[:, :, played.images] * played.signs * errors[:, None]
        parts = (
            signals.reshape(rows, own),
            parameters[:, own : own + strides],
            gains.reshape(rows, len(errors) * self._signals),
        )
        return np.concatenate(parts, axis=1).astype(parameters.dtype)

    def _mirrored_signals(self, mirror: Mirror) -> Reflection | None:
        """What becomes of the signals; None where joints that share one have images that do not."""
        played, signs = np.array(self.signals), np.array(self.signs)
        first = [self.signals.index(signal) for signal in range(self._signals)]
        images, ways = mirror.actions
        ways = signs * ways * signs[images]  # of what a joint plays
        found = Reflection(played[images[first]], ways[first])
        alike = (found.images[played] == played[images]).all() and (found.signs[played] == ways).all()
        return found if alike else None

    def _mirrored_errors(self, mirror: Mirror) -> np.ndarray | None:
        """Signs of errors in a mirror; None where sides or errors have other images."""
        sides = np.array(self.sides)
        sources = list(self.sources if sides.any() else self.sources[1:])
        signs = mirror.observations.signs[sources]
        if (mirror.observations.images[sources] != sources).any():
            return None
        if not sides.any():
            return signs
        turns_around = signs[0] == -1 and (sides[mirror.actions.images] == -sides).all()
        return signs[1:] if turns_around else None

    def period(self, parameters: np.ndarray) -> np.ndarray:
        return self._prepared(parameters)[: self.samples]

    def written(self, parameters: np.ndarray, graph: Graph, observation: str) -> str:
        table, changes = np.split(self._prepared(parameters), [self.samples])
        signals = graph.of("Gather", table, graph.step_in(self.samples), axis=0)
        if not self.sources:
            return signals
        seen = graph.chosen(observation, self.sources)
        yaw, errors = graph.chosen(seen, [0]), graph.chosen(seen, range(1, len(self.sources)))
        stride = graph.of("Add", graph.of("Mul", yaw, changes[0]), 1.0)
        strode = graph.of("Mul", graph.clipped(stride, 0.0, 2.0), signals)
        return graph.of("Add", strode, graph.of("MatMul", errors, changes[1:]))

    def _prepared(self, parameters: np.ndarray) -> np.ndarray:
        _, memory = self.arguments()
        self.prepare(self.checked_parameters(parameters), memory)
        return memory


class Reflexes(Record):
    """What a periodic gait reacts to, see `docs/reference/gaits.md`; each of its gains is a parameter."""

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    offsets: Annotated[tuple[Literal["roll", "pitch", "yaw"], ...], Field(max_length=3)] = ()

    def read_from(self, plant: Plant) -> dict[str, tuple]:
        """The attributes of `Periodic` that are about reflexes."""
        # of several lags the first counts
        seen = {entry.name: number for number, entry in reversed(list(enumerate(plant.entries)))}
        strides = bool(self.left or self.right)
        sources, factors = ([], []) if strides else ([0], [0.0])
        for error in ("yaw", *self.offsets) if strides else self.offsets:
            name, sign = next(((name, sign) for name, sign in _READ[error] if name in seen), ("", 0.0))
            if not name:
                raise InvalidValueError(
                    f"controller.reflexes react to {error}, so observations must have {_NEEDED[error]}"
                )
            sources.append(seen[name])
            factors.append(sign / plant.entries[seen[name]].scale)
        left, right = (
            {joint for leg in side for joint in plant.legs[leg]} for side in (self.left, self.right)
        )
        sides = tuple((joint in left) - (joint in right) for joint in plant.joints)
        return {"sides": sides, "offsets": self.offsets, "sources": (*sources,), "factors": (*factors,)}


class PeriodicDescription(ControllerDescription):
    """The robot is driven by periodic signals.

    Attributes:
        period: of the signals [s]; a whole number of control steps.
        opposite: joints that play another joint's signal with the opposite sign, and which joint that is.
        phases: legs with which a search starts alike, and the share of the period by which each is ahead.
        mirrored: joints of these legs whose signals start reversed.
        reflexes: None for open-loop gaits.
    """

    kind = "periodic"
    period: Positive
    opposite: Mapping[str, str] = Field(default={})
    phases: Mapping[str, Annotated[float, Field(ge=0, le=1)]] = Field(default={})
    mirrored: tuple[str, ...] = ()
    reflexes: Reflexes | None = None

    def build(self, plant: Plant) -> Periodic:
        """See `ControllerDescription.build`: joints that play another's signal have none of their own."""
        joints, control_step = plant.joints, plant.control_step
        samples = round(min(self.period / control_step, _MOST_SAMPLES + 1.0))
        if not 1 <= samples <= _MOST_SAMPLES or not math.isclose(
            samples * control_step, self.period, rel_tol=1e-6
        ):
            raise InvalidValueError(
                f"the controller's period must last a whole number of control steps of {control_step:g} s, "
                f"at most {_MOST_SAMPLES:,}, not {self.period:g} s"
            )
        own = [joint for joint in joints if joint not in self.opposite]
        return Periodic(
            observation_dim=len(plant.entries),
            signals=tuple(own.index(self.opposite.get(joint, joint)) for joint in joints),
            signs=tuple(-1 if joint in self.opposite else 1 for joint in joints),
            samples=samples,
            alike=tuple(
                (phase, tuple(own.index(joint) for joint in plant.legs[leg] if joint in own))
                for leg, phase in self.phases.items()
            ),
            reversed_signals=tuple(own.index(joint) for joint in self.mirrored),
            **(self.reflexes.read_from(plant) if self.reflexes else {}),
        )

    def check_parts(self, joints: Sequence[str], legs: Legs) -> None:
        sides = (*self.reflexes.left, *self.reflexes.right) if self.reflexes else ()
        for kind, key, named, known in (
            ("joint", "opposite", (*self.opposite, *self.opposite.values()), joints),
            ("leg", "reflexes", sides, legs),
            ("leg", "phases", self.phases, legs),
            ("joint", "mirrored", self.mirrored, [joint for joint in joints if joint not in self.opposite]),
        ):
            for name in named:
                if name not in known:
                    raise ValueError(
                        f"controller.{key} names the {kind} {name!r}, which is not among its {kind}s: "
                        f"{', '.join(known)}"
                    )
        counts = {leg: sum(joint not in self.opposite for joint in legs[leg]) for leg in self.phases}
        if len(set(counts.values())) > 1:
            words = ", ".join(f"{leg} {count}" for leg, count in counts.items())
            raise ValueError(f"controller.phases needs legs with as many signals each, not: {words}")
        if len(set(sides)) != len(sides):
            raise ValueError(f"controller.reflexes names the leg {max(sides, key=sides.count)!r} twice")
        for joint, leader in self.opposite.items():
            if leader in self.opposite:
                raise ValueError(
                    f"controller.opposite has {joint!r} follow {leader!r}, which has no signal of its own"
                )

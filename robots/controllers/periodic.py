"""`Periodic`: open-loop controllers whose joints follow smoothed square waves.

`Reflexive`: such gaits that react to roll, pitch and yaw, so that they hold their heading.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from robots.compilation import compiled
from robots.controllers.controller import Controller, ControllerDescription, Legs, Mirror, Reflection
from robots.errors import InvalidValueError
from robots.files.records import Positive, Record
from robots.task.observations import Entry

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
    _sizes: np.ndarray,
    memory: np.ndarray,
    _parameters: np.ndarray,
    _observation: np.ndarray,
    step: int,
    action: np.ndarray,
) -> None:
    """Read the action of a control step; see `Controller.kernel`."""
    row = step % len(memory)
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

    The memory holds the actions of every control step of a period, then how strides change with yaw, and then
    how actions change with each error; the sizes the number of these control steps, then where yaw is seen,
    and then each error.
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
    """Write the actions of every control step of a period; see `Periodic`."""
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
    """Cumulative distribution of the standard normal."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@dataclass(frozen=True)
class Periodic(Controller):
    """Each joint plays a periodic signal, or another joint's with the opposite sign.

    A signal is 1 for a share of the period (its duty), then -1, smoothed by a circular Gaussian of 0.03
    periods, scaled by an amplitude and shifted ahead by a phase: that of Cully et al. 2015 (Nature 521),
    without its sampling. With Φ the cumulative normal distribution and σ = 0.03,

        s(τ) = amplitude (2 Σ_k [Φ((u + k) / σ) - Φ((u + k - duty) / σ)] - 1),   u = τ + phase mod 1

    A parameter vector holds amplitude, phase and duty of one signal after the other, in the order of the
    joints that have one. Amplitude and duty count as clipped to [0, 1] and a phase by its fraction, so that
    a search needs no bounds.

    Attributes:
        observation_dim: number of observations, none of which is used.
        signals: which signal each joint plays, (a,).
        signs: with which sign, (a,).
        samples: control steps in a period.
        alike: the signals of each leg with which a search starts alike, and by what share of the period they
            come earlier than they are drawn.
        reversed_signals: those of these that start reversed.
    """

    observation_dim: int
    signals: tuple[int, ...]
    signs: tuple[int, ...]
    samples: int
    alike: tuple[tuple[float, tuple[int, ...]], ...] = ()
    reversed_signals: tuple[int, ...] = ()

    sigma0 = 0.15
    closed_loop = False
    kernel = staticmethod(_act)

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
        """Three for each signal."""
        return _PER_SIGNAL * (1 + max(self.signals))

    @property
    def shape(self) -> str:
        """For example `periodic-36`."""
        return f"periodic-{self.parameter_count}"

    @property
    def label(self) -> str:
        """The kind alone: its size says nothing to people."""
        return "periodic"

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Uniform in [0, 1], (p,) float32; legs that start alike have the signals of the first of them."""
        signals = rng.uniform(0, 1, (self.parameter_count // _PER_SIGNAL, _PER_SIGNAL)).astype(np.float32)
        first = signals[list(self.alike[0][1])].copy() if self.alike else signals
        for phase, own in self.alike:
            signals[list(own)] = first
            signals[list(own), 1] += phase
        _reverse(signals, list(self.reversed_signals))
        return signals.reshape(-1)

    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        """See `Controller.arguments`: the memory holds the actions of every control step of a period."""
        return np.zeros(0, np.int64), np.zeros((self.samples, self.action_dim), np.float32)

    def prepare(self, parameters: np.ndarray, memory: np.ndarray) -> None:
        """Write the actions of every control step of a period, (samples, a) float32."""
        _tabulate(parameters, np.array(self.signals), np.array(self.signs), memory)

    def bounded(self, parameters: np.ndarray) -> np.ndarray:
        """See `Controller.bounded`: amplitudes and duties are clipped to [0, 1]."""
        found = np.array(parameters)
        for first in (0, 2):
            found[:, first::_PER_SIGNAL] = found[:, first::_PER_SIGNAL].clip(0, 1)
        return found

    def mirrored(self, parameters: np.ndarray, mirror: Mirror) -> np.ndarray | None:
        """See `Controller.mirrored`: None where joints that share a signal have images that do not."""
        reflection = self.reflection(mirror)
        if reflection is None:
            return None
        signals = self.bounded(parameters).reshape(len(parameters), len(reflection.images), _PER_SIGNAL)
        signals = signals[:, reflection.images]
        _reverse(signals, np.flatnonzero(reflection.signs < 0))
        return signals.reshape(parameters.shape)

    def reflection(self, mirror: Mirror) -> Reflection | None:
        """What becomes of the signals in a mirror."""
        played, signs = np.array(self.signals), np.array(self.signs)
        first = [self.signals.index(signal) for signal in range(1 + max(self.signals))]
        images, ways = mirror.actions
        ways = signs * ways * signs[images]  # of what a joint plays
        found = Reflection(played[images[first]], ways[first])
        alike = (found.images[played] == played[images]).all() and (found.signs[played] == ways).all()
        return found if alike else None

    def period(self, parameters: np.ndarray) -> np.ndarray:
        """See `Controller.period`."""
        _, table = self.arguments()
        self.prepare(self.checked_parameters(parameters), table)
        return table

    def fold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """See `Controller.fold`: these controllers ignore observations."""
        return np.array(parameters)

    def unfold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """See `Controller.unfold`."""
        return np.array(parameters)


class Reflexes(Record):
    """What a periodic gait reacts to; each of its gains is a parameter.

    Attributes:
        left, right: legs that make longer and shorter strides while the robot heads to the left, and the
            other way round while it heads to the right, by one gain; none without them.
        offsets: errors to which the action of each joint with a signal of its own adds its gain times the
            error.
    """

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    offsets: Annotated[tuple[Literal["roll", "pitch", "yaw"], ...], Field(max_length=3)] = ()


@dataclass(frozen=True)
class Reflexive(Controller):
    """A periodic gait whose actions also depend on the torso's roll, pitch and yaw [rad].

    With a joint's signal s, its side d (1 left, -1 right, 0 neither), the yaw ψ to the left, and errors e,

        action = s · (1 + 4 g d ψ, from 0 to 2) + Σ_e 2 k_e e,   clipped to ±1

    A parameter vector holds that of the periodic gait, then g if there are sides, and then k of each signal
    for one error after the other. Joints that play another's signal reversed take its k reversed, too.

    Attributes:
        gait: what is played without errors.
        sides: of each joint, (a,).
        offsets: names of errors.
        sources: where the observation has yaw, and then each error.
        factors: that make angles [rad] of these.
    """

    gait: Periodic
    sides: tuple[int, ...]
    offsets: tuple[str, ...]
    sources: tuple[int, ...]
    factors: tuple[float, ...]

    normalises = False
    kernel = staticmethod(_react)

    @classmethod
    def of(
        cls,
        gait: Periodic,
        reflexes: Reflexes,
        *,
        entries: Sequence[Entry],
        joints: Sequence[str],
        legs: Legs,
    ) -> "Reflexive":
        """The controller with the reflexes of a description; the other arguments are those of `build`."""
        seen = {
            entry.name: number for number, entry in reversed(list(enumerate(entries)))
        }  # the last is first
        sources, factors = [], []
        for error in ("yaw", *reflexes.offsets) if reflexes.left or reflexes.right else reflexes.offsets:
            name, sign = next(((name, sign) for name, sign in _READ[error] if name in seen), ("", 0.0))
            if not name:
                raise InvalidValueError(
                    f"controller.reflexes react to {error}, so observations must have {_NEEDED[error]}"
                )
            sources.append(seen[name])
            factors.append(sign / entries[seen[name]].scale)
        if not (reflexes.left or reflexes.right):
            sources, factors = [0, *sources], [0.0, *factors]
        left, right = (
            {joint for leg in side for joint in legs[leg]} for side in (reflexes.left, reflexes.right)
        )
        sides = tuple((joint in left) - (joint in right) for joint in joints)
        return cls(gait, sides, reflexes.offsets, tuple(sources), tuple(factors))

    @property
    def observation_dim(self) -> int:  # type: ignore[override]
        """Number of observations."""
        return self.gait.observation_dim

    @property
    def action_dim(self) -> int:  # type: ignore[override]
        """Number of outputs."""
        return self.gait.action_dim

    @property
    def sigma0(self) -> float:  # type: ignore[override]
        """That of periodic gaits."""
        return self.gait.sigma0

    @property
    def tries(self) -> int:  # type: ignore[override]
        """That of periodic gaits."""
        return self.gait.tries

    @property
    def parameter_count(self) -> int:
        """Those of the gait, one of strides, and one for each signal and error."""
        return self.gait.parameter_count + any(self.sides) + len(self.offsets) * self._signals

    @property
    def holds_heading(self) -> bool:
        """See `Controller`: whether it reacts to yaw."""
        return any(self.sides) or "yaw" in self.offsets

    @property
    def shape(self) -> str:
        """For example `periodic-36-37`, without and with reflexes."""
        return f"{self.gait.shape}-{self.parameter_count}"

    @property
    def label(self) -> str:
        """The kind alone."""
        return "periodic with reflexes"

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Uniform in [0, 1], but without offsets, (p,) float32."""
        strides = int(any(self.sides))
        offsets = np.zeros(self.parameter_count - self.gait.parameter_count - strides, np.float32)
        return np.concatenate(
            [self.gait.initial(rng), rng.uniform(0, 1, strides).astype(np.float32), offsets]
        )

    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        """See `Controller.arguments`, and `_react` for what they are."""
        rows = self.gait.samples + len(self.sources)
        return np.array([self.gait.samples, *self.sources]), np.zeros((rows, self.action_dim), np.float32)

    def prepare(self, parameters: np.ndarray, memory: np.ndarray) -> None:
        """Write the actions of a period, and how errors change them."""
        signs, own = np.array(self.gait.signs), self.gait.parameter_count
        self.gait.prepare(parameters[:own], memory[: self.gait.samples])
        changes = memory[self.gait.samples :]
        stride = parameters[own] if any(self.sides) else 0.0
        changes[0] = _STRIDE * self.factors[0] * stride * np.array(self.sides)
        gains = parameters[self.parameter_count - len(self.offsets) * self._signals :]
        for number, factor in enumerate(self.factors[1:]):
            of_error = gains[number * self._signals : (number + 1) * self._signals]
            changes[1 + number] = _OFFSET * factor * of_error[list(self.gait.signals)] * signs

    def bounded(self, parameters: np.ndarray) -> np.ndarray:
        """See `Controller.bounded`."""
        own = self.gait.parameter_count
        return np.concatenate([self.gait.bounded(parameters[:, :own]), parameters[:, own:]], axis=1)

    def mirrored(self, parameters: np.ndarray, mirror: Mirror) -> np.ndarray | None:
        """See `Controller.mirrored`: None where sides or errors have other images, too."""
        own, sides = self.gait.parameter_count, np.array(self.sides)
        gait, reflection = self.gait.mirrored(parameters[:, :own], mirror), self.gait.reflection(mirror)
        sources = list(self.sources) if sides.any() else list(self.sources[1:])
        errors = mirror.observations.signs[sources]
        itself = (mirror.observations.images[sources] == sources).all()
        if gait is None or reflection is None or not itself:
            return None
        if sides.any():
            if errors[0] != -1 or (sides[mirror.actions.images] != -sides).any():
                return None
            errors, own = errors[1:], own + 1
        shape = len(parameters), len(errors), self._signals
        gains = parameters[:, own:].reshape(shape)[:, :, reflection.images] * reflection.signs
        rest = (gains * errors[:, None]).reshape(shape[0], shape[1] * shape[2]).astype(parameters.dtype)
        return np.concatenate([gait, parameters[:, self.gait.parameter_count : own], rest], axis=1)

    def period(self, parameters: np.ndarray) -> np.ndarray:
        """See `Controller.period`."""
        return self.gait.period(self.checked_parameters(parameters)[: self.gait.parameter_count])

    def reactions(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Controller.reactions`."""
        _, memory = self.arguments()
        self.prepare(self.checked_parameters(parameters), memory)
        strides, offsets = np.zeros((2, self.observation_dim, self.action_dim), np.float32)
        strides[self.sources[0]] = memory[self.gait.samples]
        np.add.at(offsets, list(self.sources[1:]), memory[self.gait.samples + 1 :])
        return strides, offsets

    def fold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """See `Controller.fold`: reflexes act on angles as they are."""
        return np.array(parameters)

    def unfold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """See `Controller.unfold`."""
        return np.array(parameters)

    @property
    def _signals(self) -> int:
        return 1 + max(self.gait.signals)


class PeriodicDescription(ControllerDescription):
    """The robot is driven by periodic signals.

    Attributes:
        period: of the signals [s]; a whole number of control steps.
        opposite: joints that play another joint's signal with the opposite sign, and which joint that is.
        phases: legs with which a search starts alike, the signals of each shifted ahead by this share of the
            period, as in a trot. None by default: every signal is drawn on its own.
        mirrored: joints of these legs whose signals start reversed, since their axes point the other way than
            those of the first leg.
        reflexes: how the gait reacts to errors of its attitude; None for open-loop gaits.
    """

    kind = "periodic"
    period: Positive
    opposite: Mapping[str, str] = Field(default={})
    phases: Mapping[str, Annotated[float, Field(ge=0, le=1)]] = Field(default={})
    mirrored: tuple[str, ...] = ()
    reflexes: Reflexes | None = None

    def build(
        self, *, entries: Sequence[Entry], joints: Sequence[str], legs: Legs, control_step: float
    ) -> Controller:
        """See `ControllerDescription.build`: joints that play another's signal have none of their own."""
        samples = round(min(self.period / control_step, _MOST_SAMPLES + 1.0))
        if not 1 <= samples <= _MOST_SAMPLES or not math.isclose(
            samples * control_step, self.period, rel_tol=1e-6
        ):
            raise InvalidValueError(
                f"the controller's period must last a whole number of control steps of {control_step:g} s, "
                f"at most {_MOST_SAMPLES:,}, not {self.period:g} s"
            )
        own = [joint for joint in joints if joint not in self.opposite]
        gait = Periodic(
            observation_dim=len(entries),
            signals=tuple(own.index(self.opposite.get(joint, joint)) for joint in joints),
            signs=tuple(-1 if joint in self.opposite else 1 for joint in joints),
            samples=samples,
            alike=tuple(
                (phase, tuple(own.index(joint) for joint in legs[leg] if joint in own))
                for leg, phase in self.phases.items()
            ),
            reversed_signals=tuple(own.index(joint) for joint in self.mirrored),
        )
        if self.reflexes is None:
            return gait
        return Reflexive.of(gait, self.reflexes, entries=entries, joints=joints, legs=legs)

    def check_parts(self, joints: Sequence[str], legs: Legs) -> None:
        """See `ControllerDescription.check_parts`."""
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

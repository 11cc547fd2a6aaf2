"""`Periodic`: open-loop controllers whose joints follow smoothed square waves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from robots.compilation import compiled
from robots.controllers.controller import Controller, ControllerDescription
from robots.errors import InvalidValueError
from robots.files.records import Positive

# Standard deviation of the Gaussian that smooths a signal's edges, as a share of the period: 3 of the 100
# samples of Cully et al. 2015.
_SMOOTHING = 0.03
_MOST_SAMPLES = 10_000  # control steps of a period
_PER_SIGNAL = 3  # amplitude, phase, duty


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
    """

    observation_dim: int
    signals: tuple[int, ...]
    signs: tuple[int, ...]
    samples: int

    sigma0 = 0.15
    closed_loop = False
    kernel = staticmethod(_act)

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
        """Uniform in [0, 1], (p,) float32."""
        return rng.uniform(0, 1, self.parameter_count).astype(np.float32)

    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        """See `Controller.arguments`: the memory holds the actions of every control step of a period."""
        return np.zeros(0, np.int64), np.zeros((self.samples, self.action_dim), np.float32)

    def prepare(self, parameters: np.ndarray, memory: np.ndarray) -> None:
        """Write the actions of every control step of a period, (samples, a) float32."""
        _tabulate(parameters, np.array(self.signals), np.array(self.signs), memory)

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


class PeriodicDescription(ControllerDescription):
    """The robot is driven by periodic signals.

    Attributes:
        period: of the signals [s]; a whole number of control steps.
        opposite: joints that play another joint's signal with the opposite sign, and which joint that is.
    """

    kind = "periodic"
    period: Positive
    opposite: Mapping[str, str] = Field(default={})

    def build(self, *, observation_dim: int, joints: Sequence[str], control_step: float) -> Periodic:
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
        return Periodic(
            observation_dim=observation_dim,
            signals=tuple(own.index(self.opposite.get(joint, joint)) for joint in joints),
            signs=tuple(-1 if joint in self.opposite else 1 for joint in joints),
            samples=samples,
        )

    def check_joints(self, joints: Sequence[str]) -> None:
        """See `ControllerDescription.check_joints`."""
        for joint in (*self.opposite, *self.opposite.values()):
            if joint not in joints:
                raise ValueError(
                    f"controller.opposite names the joint {joint!r}, which is not among its joints: "
                    f"{', '.join(joints)}"
                )
        for joint, leader in self.opposite.items():
            if leader in self.opposite:
                raise ValueError(
                    f"controller.opposite has {joint!r} follow {leader!r}, which has no signal of its own"
                )

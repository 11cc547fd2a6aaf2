"""`Periodic`: open-loop controllers whose joints follow smoothed square waves."""

import math
from dataclasses import dataclass

import numpy as np

from robots.compilation import compiled
from robots.controllers.controller import Controller
from robots.errors import InvalidValueError

# Standard deviation of the Gaussian that smooths a signal's edges, as a share of the period: 3 of the 100
# samples of Cully et al. 2015.
_SMOOTHING = 0.03
_PER_SIGNAL = 3  # amplitude, phase, duty


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
        inputs: number of observations, none of which is used.
        signals: which signal each joint plays, (a,).
        signs: with which sign, (a,).
        samples: control steps in a period.
    """

    inputs: int
    signals: tuple[int, ...]
    signs: tuple[int, ...]
    samples: int

    sigma0 = 0.15

    @property
    def observation_dim(self) -> int:  # type: ignore[override]
        """Number of inputs."""
        return self.inputs

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

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Uniform in [0, 1], (p,) float32."""
        return rng.uniform(0, 1, self.parameter_count).astype(np.float32)

    def act(
        self,
        parameters: np.ndarray,
        observations: np.ndarray,
        steps: np.ndarray,
        actions: np.ndarray,
        ids: np.ndarray,
    ) -> None:
        """See `Controller.act`."""
        table = np.empty((self.samples, self.action_dim), np.float32)
        for i in ids:
            self.tabulate(parameters[i], table)
            actions[i] = table[steps[i] % self.samples]

    def tabulate(self, parameters: np.ndarray, table: np.ndarray) -> None:
        """Write the actions of every control step of a period, (samples, a) float32."""
        tabulate(parameters, np.array(self.signals), np.array(self.signs), table)

    def fold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """See `Controller.fold`: what is not looked at needs no normalisation."""
        return np.array(parameters)

    def unfold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """See `Controller.unfold`."""
        return np.array(parameters)


def whole_samples(period: float, control_step: float) -> int:
    """Control steps in a period.

    Raises:
        InvalidValueError: it does not last a whole number of control steps.
    """
    samples = round(period / control_step)
    if samples < 1 or not math.isclose(samples * control_step, period, rel_tol=1e-6):
        raise InvalidValueError(
            f"the controller's period must last a whole number of control steps of {control_step:g} s, "
            f"not {period:g} s"
        )
    return samples


@compiled()
def tabulate(parameters: np.ndarray, signals: np.ndarray, signs: np.ndarray, table: np.ndarray) -> None:
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

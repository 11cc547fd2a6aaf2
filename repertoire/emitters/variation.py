"""An emitter that varies elites: the genetic operators of MAP-Elites.

Sources: J.-B. Mouret, J. Clune, "Illuminating search spaces by mapping elites", 2015, arXiv:1504.04909, for
    Gaussian variation; V. Vassiliades, J.-B. Mouret, "Discovering the Elite Hypervolume by Leveraging
    Interspecies Correlation", GECCO 2018 (Vassiliades below), for iso + line.
"""

import math
from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import Field

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import Emitter, EmitterSettings, Outcomes, Telemetry
from repertoire.problems.problem import Problem
from repertoire.state import select
from repertoire.strategies.noise import Noise, check_generator, generator_state, restore_generator
from repertoire.strategies.strategy import BatchSize, StepSize
from robots.compilation import compiled
from robots.errors import InvalidValueError

LineStep = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]


class VariationSettings(EmitterSettings):
    """Settings of `VariationEmitter`.

    Attributes:
        batch_size: solutions a generation; 100 as in Tjanaka et al. 2023.
        sigma0: constant standard deviation of the Gaussian noise, in units of the parameters.
        line_sigma: standard deviation of the step along the line between two elites, as a fraction of their
            distance; 0 for Gaussian noise alone.
    """

    kind = "variation"
    summary = "varies elites by Gaussian noise and by steps along lines between them"
    batch_size: BatchSize = 100
    sigma0: StepSize = 0.02
    line_sigma: LineStep = 0.2

    def make(self, problem: Problem, initial: np.ndarray, rng: np.random.Generator) -> "VariationEmitter":
        """See `EmitterSettings.make`."""
        return VariationEmitter(
            initial, iso_sigma=self.sigma0, line_sigma=self.line_sigma, batch_size=self.batch_size, rng=rng
        )


class VariationEmitter(Emitter):
    """Adds Gaussian noise to uniformly chosen elites, and a step along the line to another elite.

    While the archive is empty, the initial solution takes the elites' place.

    Args:
        initial: (n,), finite.
        iso_sigma: standard deviation of the noise of every parameter, in units of the parameters; positive.
        line_sigma: standard deviation of the step along the line, as a fraction of the distance to the other
            elite; 0 for Gaussian variation alone.
        batch_size: solutions a generation; at least 1.
        rng: the only source of randomness; driven by `numpy.random.SFC64`.

    Raises:
        InvalidValueError: if an argument is outside what is said here.
    """

    _state_names = frozenset({"noise/key", "noise/draws", "generator"})

    def __init__(
        self,
        initial: np.ndarray,
        *,
        iso_sigma: float,
        line_sigma: float,
        batch_size: int,
        rng: np.random.Generator,
    ) -> None:
        if not 0 < iso_sigma < math.inf:
            raise InvalidValueError(f"iso_sigma must be positive and finite, got {iso_sigma}")
        if not 0 <= line_sigma < math.inf:
            raise InvalidValueError(f"line_sigma must be finite and not negative, got {line_sigma}")
        if batch_size < 1:
            raise InvalidValueError(f"batch_size must be at least 1, got {batch_size}")
        check_generator(rng)
        self.batch_size = int(batch_size)
        self._initial = np.array(initial, np.float32)
        if self._initial.ndim != 1 or not np.isfinite(self._initial).all():
            raise InvalidValueError("initial must be a vector of finite numbers")
        self._iso_sigma, self._line_sigma = float(iso_sigma), float(line_sigma)
        self._rng = rng
        self._random = Noise(rng)
        self._steps = np.empty(batch_size, np.float32)  # along the lines

    @property
    def telemetry(self) -> Telemetry:
        """See `Emitter.telemetry`; the step size is that of the Gaussian noise."""
        return Telemetry(self._iso_sigma, math.nan, self._improved, restarts=0, stop=None)

    def _fill(self, solutions: np.ndarray, archive: Archive) -> None:
        draw, half = self._random.next_draw(), self.batch_size // 2
        self._random.fill(self._steps, draw=draw, stream=self.batch_size)
        self._steps *= np.float32(self._line_sigma)
        parents = self._choose(archive)
        others = self._choose(archive) if self._line_sigma else parents
        self._random.fill(solutions[:half], draw=draw, stream=0)
        self._random.fill(solutions[half:], draw=draw, stream=half)
        _vary(parents, others, self._iso_sigma, self._steps, solutions)

    def _choose(self, archive: Archive) -> np.ndarray:
        elites = archive.sample_elites(self.batch_size, self._rng)
        return elites if len(elites) else np.tile(self._initial, (self.batch_size, 1))

    def _learn(self, outcomes: Outcomes, archive: Archive) -> None:
        """There is nothing to learn."""

    def _current_state(self) -> dict[str, np.ndarray]:
        noise = {f"noise/{name}": value for name, value in self._random.state().items()}
        return {**noise, "generator": generator_state(self._rng)}

    def _restore(self, state: Mapping[str, np.ndarray]) -> None:
        self._random.restore(select(state, "noise/"))
        restore_generator(self._rng, state["generator"])


@compiled()
def _vary(
    parents: np.ndarray, others: np.ndarray, iso_sigma: float, steps: np.ndarray, solutions: np.ndarray
) -> None:
    """Turn noise into solutions, in place."""
    for i in range(steps.size):
        _vary_row(parents[i], others[i], np.float32(iso_sigma), steps[i], solutions[i])


@compiled(fastmath={"contract"})
def _vary_row(
    parent: np.ndarray, other: np.ndarray, iso_sigma: np.float32, step: np.float32, solution: np.ndarray
) -> None:
    for j in range(parent.size):
        # Vassiliades 2018, eq. 1
        solution[j] = parent[j] + iso_sigma * solution[j] + step * (other[j] - parent[j])

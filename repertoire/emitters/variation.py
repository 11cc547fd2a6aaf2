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
from repertoire.emitters.emitter import Emitter, EmitterSettings
from repertoire.problems.problem import Problem
from repertoire.state import nested, select
from repertoire.strategies.noise import Noise, generator_state, restore_generator
from repertoire.strategies.strategy import FARTHEST, BatchSize, StepSize
from robots.compilation import compiled
from robots.evaluations import Evaluations

# where steps along lines end that grow with the distance of elites, as where the objective has no bound
_FARTHEST = np.float32(FARTHEST)
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
        return VariationEmitter(self, initial, rng)


class VariationEmitter(Emitter):
    """Adds Gaussian noise to uniformly chosen elites, and a step along the line to another elite.

    While the archive is empty, the initial solution takes the elites' place.
    """

    def __init__(self, settings: VariationSettings, initial: np.ndarray, rng: np.random.Generator) -> None:
        self.batch_size = settings.batch_size
        self._initial = np.array(initial, np.float32)
        self._iso_sigma, self._line_sigma = settings.sigma0, settings.line_sigma
        self._rng = rng
        self._random = Noise(rng)
        self._steps = np.empty(self.batch_size, np.float32)  # along the lines

    def _width(self) -> tuple[float, float]:
        return self._iso_sigma, math.nan

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

    def _learn(self, evaluations: Evaluations, archive: Archive) -> None:
        """There is nothing to learn."""

    def state(self) -> dict[str, np.ndarray]:
        return {**nested(noise=self._random.state()), "generator": generator_state(self._rng)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
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
        varied = parent[j] + iso_sigma * solution[j] + step * (other[j] - parent[j])
        solution[j] = min(max(varied, -_FARTHEST), _FARTHEST)

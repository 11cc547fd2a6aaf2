"""An emitter that varies elites: the genetic operators of MAP-Elites.

Sources: J.-B. Mouret, J. Clune, "Illuminating search spaces by mapping elites", 2015, arXiv:1504.04909, for
    Gaussian variation; V. Vassiliades, J.-B. Mouret, "Discovering the Elite Hypervolume by Leveraging
    Interspecies Correlation", GECCO 2018 (Vassiliades below), for iso + line.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import Emitter, Telemetry, check_complete, check_improvements
from repertoire.emitters.outcomes import Outcomes
from repertoire.state import select
from repertoire.strategies.generator import check_generator, generator_state, restore_generator
from repertoire.strategies.noise import Noise
from robots.compilation import compiled
from robots.errors import InvalidValueError


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
        self._improvements = 0
        self._asked = False

    @property
    def telemetry(self) -> Telemetry:
        """See `Emitter.telemetry`; the step size is that of the Gaussian noise."""
        return Telemetry(self._iso_sigma, math.nan, self._improvements, restarts=0, stop=None)

    def tasks(self, solutions: np.ndarray, archive: Archive) -> list[Callable[[], None]]:
        """Choose the elites to vary."""
        if self._asked:
            raise RuntimeError("ask was called twice: tell the improvements of the solutions asked before")
        self._asked = True
        draw = self._random.next_draw()
        self._random.fill(self._steps, draw=draw, stream=self.batch_size)
        self._steps *= np.float32(self._line_sigma)
        parents = self._choose(archive)
        others = self._choose(archive) if self._line_sigma else parents
        half = self.batch_size // 2
        parts = (slice(0, half), slice(half, self.batch_size))
        return [partial(self._vary, solutions, parents, others, rows, draw) for rows in parts]

    def tell(self, outcomes: Outcomes, archive: Archive) -> None:
        """Count the improvements; there is nothing to learn."""
        if not self._asked:
            raise RuntimeError("tell was called before ask: there are no solutions to tell of")
        self._improvements = int(np.count_nonzero(check_improvements(outcomes, self.batch_size) > 0))
        self._asked = False

    def state(self) -> dict[str, np.ndarray]:
        """Return the random number generators' state."""
        if self._asked:
            raise RuntimeError("the state was asked for between ask and tell: tell the improvements first")
        noise = {f"noise/{name}": value for name, value in self._random.state().items()}
        return {**noise, "generator": generator_state(self._rng)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Restore the random number generators."""
        check_complete(state, {"noise/key", "noise/draws", "generator"})
        self._random.restore(select(state, "noise/"))
        restore_generator(self._rng, state["generator"])
        self._asked = False

    def _choose(self, archive: Archive) -> np.ndarray:
        elites = archive.sample_elites(self.batch_size, self._rng)
        return elites if len(elites) else np.tile(self._initial, (self.batch_size, 1))

    def _vary(
        self, solutions: np.ndarray, parents: np.ndarray, others: np.ndarray, rows: slice, draw: int
    ) -> None:
        noise = solutions[rows]
        self._random.fill(noise, draw=draw, stream=rows.start)
        _vary(parents[rows], others[rows], self._iso_sigma, self._steps[rows], noise)


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

"""ME-ES: an evolution strategy that takes a few steps from one elite after another.

Source: C. Colas, V. Madhavan, J. Huizinga, J. Clune, "Scaling MAP-Elites to Deep Neuroevolution", GECCO 2020,
    arXiv:2003.01825 (Colas below), with the numbers of Tjanaka et al. 2023.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import Emitter, EmitterSettings, Outcomes, Telemetry
from repertoire.emitters.parents import Goal, Parents, novelty
from repertoire.problems.problem import Normaliser, Problem, Request
from repertoire.state import select
from repertoire.strategies.openai_es import AdamRates, OpenAIES, OpenAIESSettings
from robots.errors import InvalidValueError
from robots.simulation.episodes import ObservationMoments

STEPS = 10  # from each parent
# The observations of one in so many samples are requested: of two episodes of 200. A hundred steps then see
# 200,000 observations, enough for any mean, and no step moves the statistics by much.
OBSERVED_EVERY = 100

Mode = Literal["explore", "exploit", "explore-exploit"]
# What successive parents are improved in; which is first is as in the experiments of Tjanaka et al. 2023
_GOALS: dict[Mode, tuple[Goal, ...]] = {
    "explore": ("explore",),
    "exploit": ("exploit",),
    "explore-exploit": ("exploit", "explore"),
}

_STATISTICS = {"normalisation/count", "normalisation/sums", "normalisation/squares"}


class Normalisation:
    """Turns controllers that are meant to see normalised observations into solutions, and back.

    The statistics become part of each solution, so that wherever it goes it sees what it saw when it was
    made. They start as those that change nothing.

    Args:
        normaliser: how solutions take them up.
    """

    def __init__(self, normaliser: Normaliser) -> None:
        self._normaliser = normaliser
        self._moments = ObservationMoments.none(normaliser.observation_dim)

    def fold(self, controllers: np.ndarray) -> np.ndarray:
        """Return the solutions (n, d) that do with observations what controllers do with normalised ones."""
        return self._normaliser.fold(controllers, self._moments.mean, self._moments.std)

    def unfold(self, solutions: np.ndarray) -> np.ndarray:
        """Return the controllers (n, d) that become these solutions once folded."""
        return self._normaliser.unfold(solutions, self._moments.mean, self._moments.std)

    def learn(self, moments: ObservationMoments | None) -> None:
        """Take further observations into account, if there are any."""
        if moments is not None:
            self._moments = self._moments.merge(moments)

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold."""
        return self._moments.state()

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `state` returned; see `ObservationMoments.restored`."""
        self._moments = self._moments.restored(state)


class MEESSettings(EmitterSettings):
    """Settings of `MEESEmitter`.

    Attributes:
        mode: what to climb towards, by turns where it names both.
        strategy: takes the steps.
    """

    kind = "me-es"
    summary = "takes steps of OpenAI-ES from one elite after another"
    mode: Mode
    strategy: OpenAIESSettings

    def make(self, problem: Problem, initial: np.ndarray, rng: np.random.Generator) -> "MEESEmitter":
        """See `EmitterSettings.make`."""
        return MEESEmitter(
            initial,
            mode=self.mode,
            sigma0=self.strategy.sigma0,
            batch_size=self.strategy.batch_size,
            rng=rng,
            measure_dim=len(problem.measure_ranges),
            normaliser=problem.normaliser,
        )


class MEESEmitter(Emitter):
    """Takes ten steps of OpenAI-ES from an elite, offers the mean after each, and turns to another elite.

    To exploit is to climb towards the objective from elites that have much of it, to explore towards novelty
    from elites that are novel: the mean distance to the ten nearest of the measures of all means evaluated.
    Samples are evaluated for the gradient alone; only means are offered to the archive.

    A batch is the mean, then samples around it. The mean after the last step comes alone, since the next
    parent depends on what becomes of it. Samples around that parent come without a mean: it was evaluated
    before. While the archive is empty the initial solution takes an elite's place.

    Where the problem has observations, controllers see them normalised by running statistics, which are
    folded into every solution.

    Args:
        initial: (n,), finite.
        mode: what to climb towards, by turns where it names both.
        sigma0: standard deviation of the samples, in units of the parameters.
        batch_size: samples a step; even, half of them mirrored.
        rng: the only source of randomness; driven by `numpy.random.SFC64`.
        measure_dim: number of measures, m.
        normaliser: how solutions take up statistics of observations; None if the problem has none.

    Raises:
        InvalidValueError: if an argument is outside what is said here.
    """

    _state_names = frozenset({"turns", "step", "parents/seen", "parents/updated"})

    def __init__(
        self,
        initial: np.ndarray,
        *,
        mode: Mode,
        sigma0: float,
        batch_size: int,
        rng: np.random.Generator,
        measure_dim: int,
        normaliser: Normaliser | None,
    ) -> None:
        self.strategy = OpenAIES(initial, sigma0=sigma0, batch_size=batch_size, rng=rng, adam=_rates(sigma0))
        self._goals = _GOALS[mode]
        self._parents = Parents(measure_dim)
        self._turns = 0  # to another parent so far
        self._step = STEPS  # from the parent; at first there is none, and the initial solution comes alone
        self._normalisation = None if normaliser is None else Normalisation(normaliser)
        if normaliser is not None:
            self._state_names |= _STATISTICS
        self._plan()

    def _plan(self) -> None:
        """Say what the next batch is made of."""
        means = int(self._step > 0)
        self.batch_size = means + (self.strategy.batch_size if self._step < STEPS else 0)
        self.offered: slice = slice(0, means)
        if self._normalisation is not None:
            observed = np.zeros(self.batch_size, np.bool_)
            observed[means::OBSERVED_EVERY] = True
            self.request = Request(observed=observed)

    @property
    def goal(self) -> Goal:
        """What the present parent is improved in; before the first, what that will be."""
        return self._goals[max(self._turns - 1, 0) % len(self._goals)]

    @property
    def telemetry(self) -> Telemetry:
        """See `Emitter.telemetry`; to turn to another parent is no restart."""
        return Telemetry(
            self.strategy.sigma, self.strategy.condition_number, self._improved, restarts=0, stop=None
        )

    def _fill(self, solutions: np.ndarray, archive: Archive) -> None:
        samples = solutions[self.offered.stop :]
        solutions[self.offered] = self.strategy.mean
        if len(samples):
            self.strategy.ask(out=samples)
        if self._normalisation is not None:
            solutions[:] = self._normalisation.fold(solutions)

    def _learn(self, outcomes: Outcomes, archive: Archive) -> None:
        """Remember what became of the mean, and take a step or turn to another parent."""
        if self._normalisation is not None:
            self._normalisation.learn(outcomes.moments)
        if self._step > 0 and not outcomes.failed[0]:
            self._remember(outcomes, archive)
        if self._step < STEPS:
            self.strategy.tell(self._ranking(outcomes))
            self._step += 1
        else:
            self._turn(archive)
        self._plan()

    def _remember(self, outcomes: Outcomes, archive: Archive) -> None:
        """Count the mean as seen, and its cell as updated if it became the elite."""
        measures = np.asarray(outcomes.measures[:1], np.float64)
        stored = outcomes.opened[0] or outcomes.improvements[0] > 0
        self._parents.remember(measures[0], int(archive.cells_of(measures)[0]) if stored else None)

    def _ranking(self, outcomes: Outcomes) -> np.ndarray:
        """Indices of the samples, best first, failures last; of equals the first."""
        samples = slice(self.offered.stop, None)
        if self.goal == "exploit":
            fitness = outcomes.objectives[samples]
        else:
            fitness = novelty(outcomes.measures[samples], self._parents.seen)
        return np.argsort(-np.where(outcomes.failed[samples], -np.inf, fitness), kind="stable")

    def _turn(self, archive: Archive) -> None:
        """Start from another parent."""
        self._turns += 1
        self._step = 0
        chosen = self._parents.choose(self.goal, archive, self.strategy.rng)
        parent = self.strategy.initial if chosen is None else chosen.astype(np.float64)
        if self._normalisation is not None:
            parent = self._normalisation.unfold(parent[None])[0]
        self.strategy.restart(parent)

    def _current_state(self) -> dict[str, np.ndarray]:
        parts = {"strategy": self.strategy.state(), "parents": self._parents.state()}
        if self._normalisation is not None:
            parts["normalisation"] = self._normalisation.state()
        state = {f"{part}/{name}": value for part, one in parts.items() for name, value in one.items()}
        return {**state, "turns": np.array(self._turns), "step": np.array(self._step)}

    def _restore(self, state: Mapping[str, np.ndarray]) -> None:
        self.strategy.restore(select(state, "strategy/"))
        self._parents.restore(select(state, "parents/"))
        if self._normalisation is not None:
            self._normalisation.restore(select(state, "normalisation/"))
        turns, step = int(state["turns"]), int(state["step"])
        if not (turns >= 0 and 0 <= step <= STEPS):
            raise InvalidValueError(f"turns must not be negative, and step be 0 to {STEPS}: {turns}, {step}")
        self._turns, self._step = turns, step
        self._plan()


def _rates(sigma0: float) -> AdamRates:
    """Adam's settings for a gradient in the units of `OpenAIES`.

    The mean over all pairs of (r+ - r-) ε, r the centred ranks, is the gradient that L2 and epsilon are meant
    for in the experiments of Tjanaka et al. 2023. `OpenAIES` divides it by 2 σ, and Adam takes the same steps
    if these two are divided as well.
    """
    rates = AdamRates()
    return rates._replace(l2=rates.l2 / (2 * sigma0), epsilon=rates.epsilon / (2 * sigma0))

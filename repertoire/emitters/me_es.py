"""ME-ES: an evolution strategy that takes a few steps from one elite after another.

Source: C. Colas, V. Madhavan, J. Huizinga, J. Clune, "Scaling MAP-Elites to Deep Neuroevolution", GECCO 2020,
    arXiv:2003.01825 (Colas below), with the numbers of Tjanaka et al. 2023.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from repertoire.archives.archive import Archive, Elites
from repertoire.emitters.emitter import Emitter, EmitterSettings, accepted
from repertoire.problems.problem import Problem
from repertoire.state import nested, select
from repertoire.strategies.openai_es import AdamRates, OpenAIES, OpenAIESSettings
from robots.evaluations import Evaluations, ObservationMoments, Request

STEPS = 10  # from each parent
# The observations of one in so many samples are requested: of two episodes of 200. A hundred steps then see
# 200,000 observations, enough for any mean, and no step moves the statistics by much.
OBSERVED_EVERY = 100
NEIGHBOURS = 10  # of which novelty is the mean distance, as in Colas 2020
_RECENT = 5  # cells that count as updated last
_BEST = 2  # elites to choose from for their objective
_NOVEL = 5  # and for their novelty

Goal = Literal["explore", "exploit"]
Mode = Literal["explore", "exploit", "explore-exploit"]
# What successive parents are improved in; which is first is as in the experiments of Tjanaka et al. 2023
_GOALS: dict[Mode, tuple[Goal, ...]] = {
    "explore": ("explore",),
    "exploit": ("exploit",),
    "explore-exploit": ("exploit", "explore"),
}


class Parents:
    """Remembers every mean that was evaluated, and chooses the elite to improve next (Colas 2020).

    To exploit, that is one of the two best elites or, every other time, of the two best in the five cells
    updated last. To explore, it is one of the five elites that are most novel compared with everything seen.

    Attributes:
        seen: measures of all means evaluated, (k, m).
    """

    def __init__(self, measure_dim: int) -> None:
        self.seen = np.empty((0, measure_dim))
        self._updated = np.empty(0, np.int64)  # cells, distinct, the latest last

    def remember(self, measures: np.ndarray, cell: int | None) -> None:
        """Count the measures of a mean, (m,), as seen; the cell is where it became the elite, if it did."""
        self.seen = np.concatenate([self.seen, measures[None]])
        if cell is not None:
            self._updated = np.append(self._updated[self._updated != cell], cell)[-_RECENT:]

    def choose(self, goal: Goal, archive: Archive, rng: np.random.Generator) -> np.ndarray | None:
        """Return a copy of an elite's solution, (solution_dim,) float32; None if the archive is empty."""
        elites = archive.elites()
        if not len(elites):
            return None
        if goal == "exploit":
            candidates = self._promising(elites, rng)
        else:
            candidates = np.argsort(-novelty(elites.measures, self.seen), kind="stable")[:_NOVEL]
        return elites.solutions[rng.choice(candidates)]

    def _promising(self, elites: Elites, rng: np.random.Generator) -> np.ndarray:
        candidates = np.arange(len(elites))
        if rng.random() < 0.5:
            updated = np.flatnonzero(np.isin(elites.cells, self._updated))
            candidates = updated if len(updated) else candidates
        return candidates[np.argsort(-elites.objectives[candidates], kind="stable")[:_BEST]]

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold."""
        return {"seen": self.seen, "updated": self._updated}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `state` returned."""
        self.seen, self._updated = state["seen"].copy(), state["updated"].copy()


def novelty(measures: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the mean distances (n,) of measures (n, m) to their 10 nearest ones of those seen, (k, m).

    This is the novelty of J. Lehman, K. Stanley, "Abandoning Objectives", 2011. Measures that are NaN are as
    new as NaN, and while nothing was seen all are 0.
    """
    if not len(seen):
        return np.zeros(len(measures))
    squares = np.zeros((len(measures), len(seen)))
    for new, old in zip(measures.T, seen.T, strict=True):
        squares += (new[:, None] - old) ** 2
    count = min(NEIGHBOURS, len(seen))
    nearest = np.partition(squares, count - 1, axis=1)[:, :count]
    nearest.sort(axis=1)  # sums then do not depend on how this machine's NumPy partitions
    return np.sqrt(nearest).mean(axis=1)


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
        return MEESEmitter(self, problem, initial, rng)


class MEESEmitter(Emitter):
    """Takes ten steps of OpenAI-ES from an elite, offers the mean after each, and turns to another elite.

    To exploit is to climb towards the objective from elites that have much of it, to explore towards novelty
    from elites that are novel: the mean distance to the ten nearest of the measures of all means evaluated.
    Samples are evaluated for the gradient alone; only means are offered to the archive.

    A batch is the mean, then samples around it. The mean after the last step comes alone, since the next
    parent depends on what becomes of it. Samples around that parent come without a mean: it was evaluated
    before. While the archive is empty the initial solution takes an elite's place.

    Where the problem has observations, controllers see them normalised by running statistics, which start as
    those that change nothing. They are folded into every solution, so that wherever it goes it sees what it
    saw when it was made.
    """

    def __init__(
        self, settings: MEESSettings, problem: Problem, initial: np.ndarray, rng: np.random.Generator
    ) -> None:
        self.strategy = OpenAIES(settings.strategy, initial, rng, adam=_rates(settings.strategy.sigma0))
        self._goals = _GOALS[settings.mode]
        self._parents = Parents(len(problem.measure_ranges))
        self._turns = 0  # to another parent so far
        self._step = STEPS  # from the parent; at first there is none, and the initial solution comes alone
        self._normaliser = problem.normaliser
        if self._normaliser is not None:
            self._moments = ObservationMoments.none(self._normaliser.observation_dim)
        self._plan()

    def _plan(self) -> None:
        means = int(self._step > 0)
        self.batch_size = means + (self.strategy.batch_size if self._step < STEPS else 0)
        self.offered: slice = slice(0, means)
        if self._normaliser is not None:
            observed = np.zeros(self.batch_size, np.bool_)
            observed[means::OBSERVED_EVERY] = True
            self.request = Request(observed=observed)

    @property
    def goal(self) -> Goal:
        """What the present parent is improved in; before the first, what that will be."""
        return self._goals[max(self._turns - 1, 0) % len(self._goals)]

    def _width(self) -> tuple[float, float]:
        return self.strategy.sigma, self.strategy.condition_number

    def _fill(self, solutions: np.ndarray, archive: Archive) -> None:
        samples = solutions[self.offered.stop :]
        solutions[self.offered] = self.strategy.mean
        if len(samples):
            self.strategy.ask(out=samples)
        if self._normaliser is not None:
            solutions[:] = self._normaliser.fold(solutions, self._moments.mean, self._moments.std)

    def _learn(self, evaluations: Evaluations, archive: Archive) -> None:
        if self._normaliser is not None and evaluations.moments is not None:
            self._moments = self._moments.merge(evaluations.moments)
        if self._step > 0 and not evaluations.diverged[0]:
            self._remember(evaluations, archive)
        if self._step < STEPS:
            self.strategy.tell(self._ranking(evaluations))
            self._step += 1
        else:
            self._turn(archive)
        self._plan()

    def _remember(self, evaluations: Evaluations, archive: Archive) -> None:
        """Count the mean as seen, and its cell as updated if it became the elite."""
        measures = np.asarray(evaluations.measures[:1], np.float64)
        stored = accepted(evaluations)[0]
        self._parents.remember(measures[0], int(archive.cells_of(measures)[0]) if stored else None)

    def _ranking(self, evaluations: Evaluations) -> np.ndarray:
        """Indices of the samples, best first, failures last; of equals the first."""
        samples = slice(self.offered.stop, None)
        if self.goal == "exploit":
            fitness = evaluations.objectives[samples]
        else:
            fitness = novelty(evaluations.measures[samples], self._parents.seen)
        return np.argsort(-np.where(evaluations.diverged[samples], -np.inf, fitness), kind="stable")

    def _turn(self, archive: Archive) -> None:
        self._turns += 1
        self._step = 0
        chosen = self._parents.choose(self.goal, archive, self.strategy.rng)
        parent = self.strategy.initial if chosen is None else chosen.astype(np.float64)
        if self._normaliser is not None:
            parent = self._normaliser.unfold(parent[None], self._moments.mean, self._moments.std)[0]
        self.strategy.restart(parent)

    def state(self) -> dict[str, np.ndarray]:
        state = nested(strategy=self.strategy.state(), parents=self._parents.state())
        if self._normaliser is not None:
            moments = self._moments
            count = np.array(moments.count)
            state |= nested(normalisation={"count": count, "sums": moments.sums, "squares": moments.squares})
        return {**state, "turns": np.array(self._turns), "step": np.array(self._step)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        self.strategy.restore(select(state, "strategy/"))
        self._parents.restore(select(state, "parents/"))
        if self._normaliser is not None:
            moments = select(state, "normalisation/")
            self._moments = ObservationMoments(int(moments["count"]), moments["sums"], moments["squares"])
        self._turns, self._step = int(state["turns"]), int(state["step"])
        self._plan()


def _rates(sigma0: float) -> AdamRates:
    """Adam's settings for a gradient in the units of `OpenAIES`.

    The mean over all pairs of (r+ - r-) ε, r the centred ranks, is the gradient that L2 and epsilon are meant
    for in the experiments of Tjanaka et al. 2023. `OpenAIES` divides it by σ, and Adam takes the same steps
    if these two are divided as well.
    """
    rates = AdamRates()
    return rates._replace(l2=rates.l2 / sigma0, epsilon=rates.epsilon / sigma0)

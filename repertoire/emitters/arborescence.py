"""An emitter that branches off a solution along estimated gradients: CMA-MEGA (ES) and CMA-MEGA (TD3, ES).

Sources: M. C. Fontaine, S. Nikolaidis, "Differentiable Quality Diversity", NeurIPS 2021, arXiv:2106.03894,
    Algorithm 1 (Fontaine below), for CMA-MEGA; B. Tjanaka et al., "Approximating Gradients for Differentiable
    Quality Diversity in Reinforcement Learning", GECCO 2022, arXiv:2202.03666, for gradients estimated from
    samples.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import (
    EVERYTHING,
    Emitter,
    EmitterSettings,
    LearningSettings,
    accepted,
    by_discovery,
)
from repertoire.networks.td3 import TD3, Updates
from repertoire.problems.problem import Problem
from repertoire.state import nested, select
from repertoire.strategies.cma_es import CMAESSettings, add_scaled, logarithmic
from repertoire.strategies.openai_es import MirroredSamples
from repertoire.strategies.strategy import StepSize, Strategy
from robots.compilation import compiled
from robots.evaluations import Evaluations, Request

_EPSILON = 1e-8  # keeps the length of a gradient of 0 from dividing by 0; the published code's


class EstimatedArborescenceSettings(EmitterSettings):
    """Settings of `ArborescenceEmitter` with gradients estimated from samples.

    Attributes:
        strategy: draws the coefficients of the branches, which are the solutions of its batch.
        ranking: of branches; that of CMA-MEGA.
        restart_unchanged: whether to restart when no branch changed the archive; that of CMA-MEGA.
        gradient_samples: solutions to estimate gradients from; even.
        gradient_sigma: standard deviation of the samples of gradients, in units of the parameters.
    """

    kind = "estimated-gradient-arborescence"
    summary = "branches off a moving solution along gradients that mirrored samples estimate"
    strategy: CMAESSettings
    ranking: Literal["discovery"] = "discovery"
    restart_unchanged: Literal[True] = True
    gradient_samples: Annotated[int, Field(gt=0, le=10_000, strict=True)] = 100
    gradient_sigma: StepSize = 0.02

    def make(self, problem: Problem, initial: np.ndarray, rng: np.random.Generator) -> "ArborescenceEmitter":
        n = initial.size
        # of the gradients of the objective and of each measure
        coefficients = self.strategy.make(np.zeros(1 + len(problem.measure_ranges)), rng)
        samples = MirroredSamples(self.gradient_samples, sigma=self.gradient_sigma, solution_dim=n, rng=rng)
        learner = self._learner(problem, rng)
        return ArborescenceEmitter(initial, coefficients=coefficients, samples=samples, learner=learner)

    def _learner(self, problem: Problem, rng: np.random.Generator) -> TD3 | None:
        return None


class LearnedArborescenceSettings(EstimatedArborescenceSettings, LearningSettings):
    """Settings of `ArborescenceEmitter` with samples for the gradients of the measures, and critics.

    The gradient of the objective is that of what a critic estimates.

    Attributes:
        critic_samples: transitions of which the critic's gradient of the objective is the mean.
    """

    kind = "learned-gradient-arborescence"
    summary = "branches off a moving solution along gradients that mirrored samples and a critic estimate"
    critic_updates: Updates = 600
    critic_samples: Annotated[int, Field(gt=0, le=10_000_000, strict=True)] = 65_536

    def _learner(self, problem: Problem, rng: np.random.Generator) -> TD3:
        return TD3(self, problem.policy_layers, rng.spawn(1)[0], samples=self.critic_samples)


class ArborescenceEmitter(Emitter):
    """Learns which combinations of the gradients at a point improve the archive, and moves the point along.

    A generation is two batches. The first is the point θ and samples around it, which estimate its gradients
    and are not offered to the archive. The second are branches θ + Σ c_i ∇_i, the gradients of the objective
    and each measure scaled to length 1, whose coefficients c a strategy draws and is told the ranking of.
    Then θ moves to the mean of the better half of the branches, with the strategy's weights. A coefficient
    of either sign is taken as drawn, as in CMA-MEGA: the absolute value of c_0 belongs to OMG-MEGA.

    With a learner, critics learn from the transitions of all solutions once a generation, and the gradient of
    the objective is theirs. Their greedy actor follows the branches: it is offered to the archive, but takes
    no part in the ranking.

    When the strategy has converged, or no branch changed the archive, it restarts, and θ becomes a uniformly
    random elite of the archive that it is told with or, if that is empty, the initial solution.

    Args:
        initial: (n,), finite, the first θ.
        coefficients: draws 1 + m coefficients, starting from 0; from here on the emitter's own.
        samples: around θ, to estimate gradients from.
        learner: of the objective's gradient.
    """

    def __init__(
        self,
        initial: np.ndarray,
        *,
        coefficients: Strategy,
        samples: MirroredSamples,
        learner: TD3 | None = None,
    ) -> None:
        self._initial = np.array(initial, np.float64)
        self.coefficients = coefficients
        self._samples = samples
        self._learner = learner
        self._weights, _ = logarithmic(coefficients.batch_size)
        self._drawn = np.empty((coefficients.batch_size, coefficients.solution_dim), np.float32)
        self._point = self._initial.copy()
        self._gradients: np.ndarray | None = None  # (1 + m, n) of length 1, when branches are next
        self.request = Request(transitions=learner is not None)
        self._plan()

    def _plan(self) -> None:
        branching = self._gradients is not None
        branches = self.coefficients.batch_size + (self._learner is not None)
        self.batch_size = branches if branching else 1 + self._samples.count
        self.offered = EVERYTHING if branching else slice(0, 1)

    @property
    def point(self) -> np.ndarray:
        """A copy of θ, (n,) float64."""
        return self._point.copy()

    def _width(self) -> tuple[float, float]:
        # of the coefficients, which are lengths, as gradients have length 1
        return self.coefficients.sigma, self.coefficients.condition_number

    def _fill(self, solutions: np.ndarray, archive: Archive) -> None:
        if self._gradients is None:
            solutions[0] = self._point
            self._samples.draw(self._point, solutions[1:])
            return
        self.coefficients.ask(out=self._drawn)
        _branch(self._point, self._drawn, self._gradients, solutions[: len(self._drawn)])
        if self._learner:
            solutions[-1] = self._learner.actor

    def _learn(self, evaluations: Evaluations, archive: Archive) -> None:
        self._stop = None
        if self._learner:
            self._learner.add(evaluations.transitions, len(evaluations.objectives))
        gradients, self._gradients = self._gradients, None
        if gradients is None:
            found = self._estimate(evaluations)  # made of length 1, but for those of length 0
            self._gradients = found / (np.linalg.norm(found, axis=1, keepdims=True) + _EPSILON)
        else:
            self._advance(gradients, evaluations.part(slice(0, self.coefficients.batch_size)), archive)
        self._plan()

    def _estimate(self, evaluations: Evaluations) -> np.ndarray:
        """The gradients at the point, (1 + m, n), as they are."""
        objectives = np.where(evaluations.diverged, -np.inf, evaluations.objectives)
        gradients = self._samples.gradients(np.column_stack([objectives, evaluations.measures])[1:])
        if self._learner:
            self._learner.train()
            gradients[0] = self._learner.gradient(self._point)
        return gradients

    def _advance(self, gradients: np.ndarray, evaluations: Evaluations, archive: Archive) -> None:
        """Tell the strategy how the branches rank, move the point, and restart if that was the last of it."""
        ranking, values = by_discovery(evaluations)
        self.coefficients.tell(ranking)
        parents = self._drawn[ranking[: self._weights.size]]
        # Fontaine 2021, Algorithm 1, lines 14 and 15, with η = 1
        self._point += (self._weights @ parents) @ gradients
        self._stop = self.coefficients.converged(values)
        if self._stop is None and not accepted(evaluations).any():
            self._stop = "archive unchanged"  # Fontaine 2021, Algorithm 1, line 17
        if self._stop is not None:
            elites = archive.sample_elites(1, self.coefficients.rng)
            self._point = np.array(elites[0] if len(elites) else self._initial, np.float64)
            self.coefficients.restart(self.coefficients.initial)
            self._restarts += 1

    def state(self) -> dict[str, np.ndarray]:
        state = nested(coefficients=self.coefficients.state(), samples=self._samples.noise.state())
        if self._learner:
            state |= nested(learner=self._learner.state())
        gradients = np.empty((0, self._point.size)) if self._gradients is None else self._gradients
        restarts = np.array(self._restarts)
        return {**state, "point": self.point, "gradients": gradients.copy(), "restarts": restarts}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        self.coefficients.restore(select(state, "coefficients/"))
        self._samples.noise.restore(select(state, "samples/"))
        if self._learner:
            self._learner.restore(select(state, "learner/"))
        self._point[:] = state["point"]
        self._gradients = state["gradients"].copy() if len(state["gradients"]) else None
        self._restarts = int(state["restarts"])
        self._plan()


@compiled()
def _branch(
    point: np.ndarray, coefficients: np.ndarray, gradients: np.ndarray, solutions: np.ndarray
) -> None:
    """Write θ + Σ c ∇ to solutions (rows, n) float32, for each row of coefficients (rows, 1 + m)."""
    branch = np.empty(point.size)
    for i in range(solutions.shape[0]):
        branch[:] = point
        for k in range(gradients.shape[0]):
            add_scaled(gradients[k], np.float64(coefficients[i, k]), branch)
        solutions[i] = branch

"""PGA-ME: elites varied by genetic operators and by policy gradients of a critic.

Source: O. Nilsson, A. Cully, "Policy Gradient Assisted MAP-Elites", GECCO 2021 (Nilsson below), with the
    numbers of Tjanaka et al. 2023.
"""

import math
from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import Field

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import Emitter, LearningSettings
from repertoire.emitters.variation import LineStep, VariationEmitter, VariationSettings
from repertoire.networks.td3 import TD3, Updates
from repertoire.problems.problem import Problem
from repertoire.state import nested, select
from repertoire.strategies.strategy import StepSize
from robots.evaluations import Evaluations, Request

_FIRST_WIDTH = 4  # of the noise in the place of policy gradients while there is no elite, in units of sigma0


class PGAMESettings(LearningSettings):
    """Settings of `PGAMEEmitter`.

    Attributes:
        batch_size: solutions a generation, half of them by genetic operators.
        sigma0: standard deviation of the Gaussian noise of these, in units of the parameters.
        line_sigma: standard deviation of their steps along the line between two elites, as a fraction of
            the distance of these.
        gradient_steps: steps of Adam up the critic, of the half of a batch that noise does not vary.
    """

    kind = "pga-me"
    summary = "varies elites by genetic operators and by policy gradients of a critic"
    batch_size: Annotated[int, Field(ge=4, le=10_000, strict=True)] = 100
    sigma0: StepSize = 0.005
    line_sigma: LineStep = 0.05
    gradient_steps: Annotated[int, Field(gt=0, le=10_000, strict=True)] = 10
    critic_updates: Updates = 300

    def make(self, problem: Problem, initial: np.ndarray, rng: np.random.Generator) -> "PGAMEEmitter":
        return PGAMEEmitter(self, problem, initial, rng)


class PGAMEEmitter(Emitter):
    """Varies uniformly chosen elites, half of them by noise and lines, the others by policy gradients.

    The last of the others is the greedy actor as it is. It and the critics learn from the transitions of all
    solutions, after each batch. While the archive is empty, noise around the initial solution takes the place
    of them all.
    """

    request = Request(transitions=True)

    def __init__(
        self, settings: PGAMESettings, problem: Problem, initial: np.ndarray, rng: np.random.Generator
    ) -> None:
        self.batch_size = settings.batch_size
        self._initial = np.array(initial, np.float32)
        self._varied = settings.batch_size // 2  # solutions by genetic operators, the first of a batch
        self._gradient_steps, self._sigma = settings.gradient_steps, settings.sigma0
        variation = VariationSettings(
            batch_size=self._varied, sigma0=settings.sigma0, line_sigma=settings.line_sigma
        )
        self._rng = rng  # shared with the variation, whose state holds that of the generator
        self._variation = VariationEmitter(variation, initial, rng)
        self._learner = TD3(settings, problem.policy_layers, rng.spawn(1)[0])

    def _width(self) -> tuple[float, float]:
        return self._sigma, math.nan

    def _fill(self, solutions: np.ndarray, archive: Archive) -> None:
        self._variation.ask(archive, out=solutions[: self._varied])
        others = solutions[self._varied :]
        elites = archive.sample_elites(len(others) - 1, self._rng)
        if len(elites):
            # Nilsson 2021, Algorithm 3: each climbs the critic on its own, and does not learn from the others
            others[:-1] = [self._learner.improved(elite, self._gradient_steps) for elite in elites]
            others[-1] = self._learner.actor
        else:
            others[:] = self._initial
            others += _FIRST_WIDTH * self._sigma * self._rng.standard_normal(others.shape, np.float32)

    def _learn(self, evaluations: Evaluations, archive: Archive) -> None:
        self._learner.add(evaluations.transitions, len(evaluations.objectives))
        self._variation.tell(evaluations.part(slice(0, self._varied)), archive)
        self._learner.train()

    def state(self) -> dict[str, np.ndarray]:
        return nested(variation=self._variation.state(), learner=self._learner.state())

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        self._variation.restore(select(state, "variation/"))
        self._learner.restore(select(state, "learner/"))

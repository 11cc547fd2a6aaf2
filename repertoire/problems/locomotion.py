"""`Locomotion`: a robot learns to walk in many ways that its measures tell apart."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from repertoire.problems.problem import Normaliser, OnFinished, Problem
from repertoire.problems.record import ProblemRecord
from robots.description import Randomization
from robots.errors import InvalidValueError
from robots.evaluations import Evaluations, Request
from robots.randomization import draw_models
from robots.robot import Robot
from robots.seeds import SeedFamily
from robots.simulation.backend import Backend, ModelBatch
from robots.simulation.threads import ALL_CORES
from robots.task.measures import measure_label, measure_meaning

# from a robot and texts of damages, or none for default ones, to the damaged robots by these texts
Breaker = Callable[[Robot, Sequence[str]], Mapping[str, Robot]]


class Locomotion(Problem):
    """Walk: solutions are controllers, objectives sums of rewards, measures those of the robot.

    Args:
        robot: the robot that walks.
        backend: what runs the episodes.
        damage_share: share of episodes, from 0 to 1, that run on one of the damaged robots.
        damages: texts of these damages; each is as likely as the others.
        breaker: damages the robot; needed for a share above 0. Without texts it chooses the damages.
        randomization: of the robot: each episode runs on one of its models, as likely as the others.
    """

    learning_rate = 0.001

    def __init__(
        self,
        robot: Robot,
        *,
        backend: Backend = ALL_CORES,
        damage_share: float = 0.0,
        damages: Sequence[str] = (),
        breaker: Breaker | None = None,
        randomization: Randomization | None = None,
    ) -> None:
        if not 0 <= damage_share <= 1:
            raise InvalidValueError(f"damage_share must be from 0 to 1, not {damage_share}")
        if damage_share and breaker is None:
            raise InvalidValueError("a damage_share above 0 needs a breaker, which damages the robot")
        robot = replace(robot, ends_at_fall=False)
        self._robot, controller = robot, robot.controller
        models = draw_models(robot, randomization) if randomization else [robot]
        damaged = breaker(robot, damages) if breaker and damage_share else {}
        if randomization and breaker:  # each damage of another model
            owners = zip(damaged, itertools.cycle(models))
            damaged = {text: breaker(model, [text])[text] for text, model in owners}
        self._models = len(models)
        self._batch, self._backend = ModelBatch(*models, *damaged.values()), backend
        self.record = replace(
            walking_record(robot),
            damage_share=damage_share,
            damages=tuple(damaged),
            randomization=randomization,
        )
        self.normaliser = Normaliser(robot.observation_dim, controller.fold, controller.unfold)
        self.policy_layers = controller.layers
        if controller.walks_first:
            self.known = controller.initial(np.random.default_rng(0))[None]
        self.sigma0 = controller.sigma0
        self.archive = robot.description.archive
        self.min_objective = robot.description.min_objective.value

    @property
    def differences(self) -> dict[str, str]:
        return self._backend.differences

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """See `Problem.initial`: the best of as many as the controller asks for, by an episode each."""
        controller = self._robot.controller
        drawn = np.stack([controller.initial(rng) for _ in range(controller.tries)])
        if len(drawn) == 1:
            return np.asarray(drawn[0])
        objectives = self.evaluate(drawn, rng.integers(2**31, size=len(drawn))).objectives
        return np.asarray(drawn[np.argmax(np.nan_to_num(objectives, nan=-np.inf))])

    def _run(
        self, solutions: np.ndarray, seeds: np.ndarray, request: Request, on_finished: OnFinished
    ) -> Evaluations:
        """See `Problem`; steps are control steps simulated."""
        models = self._choose_robots(seeds) if self.record.damages or self._models > 1 else None
        return self._backend.run(
            self._batch, solutions, seeds, models=models, request=request, on_finished=on_finished
        )

    def _choose_robots(self, seeds: np.ndarray) -> np.ndarray:
        """Which robot runs each episode, (n,) int64: a model of the whole one, or a random damaged one."""
        models = np.zeros(len(seeds), np.int64)
        for row, seed in enumerate(seeds):
            sequence = np.random.SeedSequence(int(seed), spawn_key=(int(SeedFamily.DAMAGE),))
            rng = np.random.default_rng(sequence)
            if rng.random() < self.record.damage_share:
                models[row] = self._models + rng.integers(len(self.record.damages))
            elif self._models > 1:
                models[row] = rng.integers(self._models)
        return models


def walking_record(robot: Robot) -> ProblemRecord:
    """The facts of the problem to walk with a robot, in episodes as long as its description says."""
    controller, feet = robot.controller, robot.description.feet
    return ProblemRecord(
        name=robot.name,
        solution_dim=controller.parameter_count,
        measure_ranges=robot.measure_ranges,
        measure_names=tuple(measure_label(name, feet) for name in robot.description.measures),
        measure_meaning=measure_meaning(robot.description.measures, feet),
        objective_name=f"{robot.description.reward.objective} in up to "
        f"{robot.description.episode_steps:,} control steps",
        robot=robot,
        controller=controller.shape,
    )

"""`Stage`: a world in which gaits of a repertoire run, whole and damaged."""

from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from adapt.damage import HEALTHY
from adapt.damage.damage import Combination, Damage
from adapt.damage.parts import RobotParts
from adapt.damage.text import damage_from
from adapt.objective import RecoveryObjective, find_objective
from adapt.recovery import Experiment, run_trial
from adapt.requests import RecoveryRequest
from adapt.selectors.selector import Prior
from repertoire.evaluation.evaluator import Evaluator, objectives_and_falls
from repertoire.repertoire import Repertoire
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.trace import TraceColumns
from suites.recovery.metrics import worst_tenth
from suites.suite import fault_seed
from suites.transfer.pybullet import PyBullet
from suites.transfer.worlds import ROBOTS, TransferWorld, Use

_WHOLE = Combination()
_NOMINAL = 4  # episodes of each gait on its own robot
_EPISODES = 4  # in a world whose robots are all the same
_SCREENED, _FINALISTS = 30, 5  # gaits that may be the best of a damaged robot
_CHOICE, _FINAL = 4, 6  # episodes by which the best is chosen, and from which scores come


class Stage:
    """A world for a repertoire.

    Args:
        repertoire: whose gaits run.
        world: where.
        gaits: how many of them, those with the highest objectives.
        seed: of the study.
        backend: what runs the episodes.
    """

    def __init__(
        self, repertoire: Repertoire, world: TransferWorld, *, gaits: int, seed: int, backend: Backend
    ) -> None:
        self._repertoire, self._world, self._seed, self._backend = repertoire, world, seed, backend
        self._rows = np.argsort(-repertoire.gaits.objectives, kind="stable")[:gaits]

    def walk(self) -> dict[str, Any]:
        """Let the best gaits walk: what the report tells of it."""
        count = ROBOTS if self._world.randomization else _EPISODES
        seeds = derive_seeds(self._seed, SeedFamily.EVALUATION, _NOMINAL, count)
        rows, seeds = np.repeat(self._rows, count), np.tile(seeds, len(self._rows))
        if self._world.elsewhere:
            found = self._evaluator(_WHOLE).run(rows, seeds)
        else:
            robots = {str(number): robot for number, robot in enumerate(self._world.robots(self._use))}
            numbers = np.tile(np.arange(count) % len(robots), len(self._rows))
            found = self._simulator(robots).run(rows, seeds, robots=numbers)
        distances = np.where(found.diverged, 0.0, found.distances).reshape(len(self._rows), count)
        shares = (distances / self._nominal[:, None]).ravel()
        return {
            "nominal": float(self._nominal.mean()),
            "mean": float(shares.mean()),
            "together": float(distances.mean() / self._nominal.mean()),
            "worst tenth": float(worst_tenth(shares)),
            "upright": 1 - float(found.fell.mean()),
        }

    def recover(self, damage: Damage, number: int, request: RecoveryRequest) -> dict[str, Any]:
        """Recover from a fault on the robot of its number: what the report tells of it.

        The first trial is of the gait that the robot walks with. Scores are shares of the progress while up
        of the best gait of the repertoire found there.
        """
        seed, best_known = fault_seed(self._seed, number), self._repertoire.best()
        request = request.model_copy(update={"seed": seed})
        evaluator = self._evaluator(damage, number)
        experiment = Experiment(
            self._repertoire, request, evaluator, self._aim, self._prior, backend=self._backend
        )
        before = self._trace_before(number, seed) if experiment.entry.thinks else ()
        chooser, rows, falls = experiment.selector(before=before), [], 0
        for attempt in islice(experiment.trials(chooser, begin=best_known), request.trials):
            rows.append(chooser.recommendation())
            falls += attempt.outcome.fell
        tried = [best_known, *rows]
        scores = self._scores(evaluator, self._robot(damage, number), tried, seed)
        best = max(score for row, (score, _) in scores.items() if row < len(self._repertoire))
        thought, parts = chooser.thought(), RobotParts(self._repertoire.robot)
        diagnosis = (chooser.diagnosis() or [("", 0.0)])[0][0]
        shares = [max(scores[row][0], 0.0) / best if best > 0 else 0.0 for row in tried]
        return {
            "damage": str(damage),
            "best": best,
            "old gait": shares[0],
            **{f"after {trial}": share for trial, share in enumerate(shares[1:], start=1)},
            "recovered": shares[-1],
            "refined": rows[-1] >= len(self._repertoire),
            "old gait falls": scores[tried[0]][1],
            "falls": scores[rows[-1]][1],
            "falls in trials": falls,
            "right part": legs_of(diagnosis, parts) == legs_of(str(damage), parts),
            "diagnosis": diagnosis,
            "explained": float(thought.explained) if thought else 0.0,
        }

    @cached_property
    def _nominal(self) -> np.ndarray:
        """Mean distance of each gait on its own robot, (g,)."""
        seeds = derive_seeds(self._seed, SeedFamily.EVALUATION, 0, _NOMINAL)
        evaluator = self._simulator({"own": self._repertoire.robot})
        found = evaluator.run(np.repeat(self._rows, _NOMINAL), np.tile(seeds, len(self._rows)))
        return found.distances.reshape(-1, _NOMINAL).mean(axis=1)

    @cached_property
    def _use(self) -> Use:
        robot = self._repertoire.robot
        seeds, at = derive_seeds(self._seed, SeedFamily.INCUMBENT, 0, 1), TraceColumns.of(robot)
        evaluator = self._simulator({"own": robot})
        _, episodes = run_trial(evaluator, self._repertoire.best(), seeds, traced=True)
        assert episodes.traces is not None
        turned = np.abs(np.diff(episodes.traces[0][:, at.angle : at.torque], axis=0))
        speeds = turned * np.diff(robot.joint_ranges)[:, 0] / 2 / robot.control_step
        return Use(robot, float(self._nominal.max()), float(np.quantile(speeds, 0.99)))

    @cached_property
    def _aim(self) -> RecoveryObjective:
        return find_objective("progress", self._repertoire, float(self._nominal.max()))

    def _simulator(self, robots: dict[str, Any]) -> Evaluator:
        return Evaluator(self._repertoire, robots, backend=self._backend)

    def _robot(self, damage: Damage, number: int) -> Robot:
        """The robot of a number with a damage; in place of PyBullet's our model of it."""
        if self._world.elsewhere:
            return damage.apply(self._repertoire.robot)
        return damage.apply(self._world.robots(self._use, first=number, count=1)[0])

    def _evaluator(self, damage: Damage, number: int = 0) -> Evaluator:
        """What runs gaits on the robot of a number with a damage."""
        robot, backend = self._repertoire.robot, self._backend
        if self._world.elsewhere:
            backend = PyBullet(robot, damage)
        else:
            robot = self._robot(damage, number)
        return Evaluator(self._repertoire, {"": robot}, backend=backend, objective=self._aim.of)

    def _expected(self, robot: Robot) -> np.ndarray:
        """Progress of every gait on a robot of ours, in one episode, (k,)."""
        aim = self._aim
        evaluator = Evaluator(self._repertoire, {"": robot}, backend=self._backend, objective=aim.of)
        seeds = derive_seeds(self._seed, SeedFamily.ORACLE, 0, 1)
        return objectives_and_falls(evaluator, np.arange(len(self._repertoire)), seeds)[0][:, 0]

    @cached_property
    def _prior(self) -> Prior:
        return Prior(self._expected(self._repertoire.robot), self._repertoire.gaits.measures, self._aim.least)

    def _trace_before(self, number: int, seed: int) -> tuple[tuple[int, np.ndarray], ...]:
        """A trace of the best gait on the robot of a number, from before the fault."""
        row, seeds = self._repertoire.best(), derive_seeds(seed, SeedFamily.INCUMBENT, 0, 1)
        outcome, _ = run_trial(self._evaluator(_WHOLE, number), row, seeds, traced=True)
        return ((row, outcome.trace),)

    def _scores(
        self, evaluator: Evaluator, robot: Robot, rows: list[int], seed: int
    ) -> dict[int, tuple[float, float]]:
        """Scores and shares of falls of some gaits on a damaged robot, and of the best that was found there.

        The best is looked for among those that do best on a robot of ours.
        """
        expected = self._expected(robot)
        screened = np.union1d(np.argsort(-expected, kind="stable")[:_SCREENED], self._rows)
        chosen, _ = objectives_and_falls(evaluator, screened, derive_seeds(seed, SeedFamily.ORACLE, 0, 1))
        first = screened[np.argsort(-chosen[:, 0], kind="stable")[:_FINALISTS]]
        known = [row for row in rows if row < len(self._repertoire)]
        finalists = np.union1d(first, known).astype(int)
        seeds = derive_seeds(seed, SeedFamily.ORACLE, 1, _CHOICE)
        choice = objectives_and_falls(evaluator, finalists, seeds)[0].mean(axis=1)
        scored = np.union1d(rows, finalists[np.argmax(choice)]).astype(int)
        seeds = derive_seeds(seed, SeedFamily.CONFIRMATION, 0, _FINAL)
        means = (found.mean(axis=1).tolist() for found in objectives_and_falls(evaluator, scored, seeds))
        return dict(zip(scored.tolist(), zip(*means, strict=True), strict=True))


def legs_of(text: str, parts: RobotParts) -> frozenset[str]:
    """The parts that a damage is of: legs for all that is of them, none where nobody knows."""
    if text in ("", "unknown", HEALTHY):
        return frozenset()
    legs, found = parts.robot.description.legs, set()
    for single in damage_from(text).singles:
        target = parts.find(single.target)
        own = [
            name for name, leg in legs.items() if target.name in (name, leg.foot) or target.name in leg.joints
        ]
        found |= set(own or [target.name])
    return frozenset(found)

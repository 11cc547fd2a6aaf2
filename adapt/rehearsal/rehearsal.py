"""The evaluation behind a rehearsal: every elite under every damage of a library."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from adapt.damage import HEALTHY
from adapt.damage.damage import Damage
from adapt.evidence import evidence_names, evidence_of
from adapt.rehearsal.table import Table, tabulate
from repertoire.evaluation.evaluator import Evaluation, Evaluator, robot_label
from repertoire.repertoire import Repertoire
from robots.description import Randomization
from robots.errors import InvalidValueError
from robots.randomization import draw_models
from robots.robot import Robot
from robots.seeds import SeedFamily


def rehearsal(
    repertoire: Repertoire,
    damages: Iterable[Damage],
    *,
    episodes: int,
    seed: int,
    robot: Robot | None = None,
    randomization: Randomization | None = None,
    threads: int | None = None,
    block: int | None = None,
) -> Evaluation:
    """Prepare a rehearsal; `Evaluation.run` runs its episodes, and `rehearsed_table` says what they showed.

    Args:
        repertoire: not empty.
        damages: all different; the healthy robot comes first whether it is among them or not.
        robot: to be damaged instead of the repertoire's, for example one that differs from it as a real one
            does.
        randomization: of that robot: each episode runs on one of its models, the same for all elites and
            conditions.
        threads: see `Evaluator`.
        episodes: of each elite under each condition, see `Evaluation`.
        seed: see `Evaluation`.
        block: see `Evaluation`.

    Raises:
        InvalidValueError: the repertoire is empty, a damage is named twice or cannot be applied, a number is
            out of range, or the randomization changes nothing.
        UnknownNameError: a damage names a part that the robot does not have.
    """
    whole, about = robot or repertoire.robot, dict[str, str]()
    models = [whole]
    if randomization:  # of which as many are compiled as there are episodes to run on them
        models = draw_models(whole, randomization)[:episodes]
        about = {"robot": robot_label(whole), "randomization": str(randomization)}
    damaged: dict[str, list[Robot]] = {}
    for damage in damages:
        if str(damage) in damaged:
            raise InvalidValueError(f"the damage {str(damage)!r} is named twice")
        damaged[str(damage)] = [damage.apply(model) for model in models]
    evaluator = Evaluator(repertoire, {HEALTHY: models} | damaged, threads=threads)
    return Evaluation(
        evaluator, episodes=episodes, seed=seed, family=SeedFamily.REHEARSAL, block=block, about=about
    )


def rehearsed_table(evaluation: Evaluation) -> Table:
    """The table of a finished rehearsal.

    Raises:
        RuntimeError: not all of its episodes are finished.
    """
    found, evaluator = evaluation.results(), evaluation.evaluator
    robot = evaluator.robots[0]
    shape = (len(evaluator.conditions), len(evaluation.repertoire), evaluation.episodes)
    table = tabulate(
        evaluator.objectives(found).astype(np.float32).reshape(shape),
        found.fell.reshape(shape),
        evidence_of(found, robot).astype(np.float32).reshape(*shape, -1),
        conditions=evaluator.conditions,
        evidence_names=evidence_names(robot),
        distances=np.where(found.diverged, 0, found.distances).reshape(shape),
    )
    drawn = str(evaluation.identity.get("randomization", "none"))
    return replace(table, seed=evaluation.seed, randomization=drawn)

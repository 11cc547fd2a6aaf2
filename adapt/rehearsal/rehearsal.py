"""The evaluation behind a rehearsal: every elite under every damage of a library."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from adapt.damage import HEALTHY
from adapt.damage.damage import Damage
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.evidence import evidence_names, evidence_of
from adapt.rehearsal.table import Table, tabulate
from repertoire.evaluation.evaluator import Evaluation, Evaluator, robot_label
from repertoire.repertoire import Repertoire
from robots.description import Randomization
from robots.errors import InvalidValueError
from robots.randomization import draw_models
from robots.robot import Robot
from robots.seeds import SeedFamily
from robots.simulation.backend import Backend
from robots.simulation.threads import ALL_CORES

_log = logging.getLogger(__name__)
_QUICK_STEPS = 12_000_000  # control steps of a rehearsal that a recovery may begin with, some minutes at most


def quick_rehearsal(
    repertoire: Repertoire,
    *,
    seed: int,
    backend: Backend = ALL_CORES,
    on_progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Table | None:
    """Rehearse each leg dead and lost, in one episode of each elite.

    None for a robot with less than two legs, if that could take more than 12 million control steps, which is
    logged, or if it was stopped. The share that is done is reported from other threads.
    """
    robot = repertoire.robot
    legs = robot.description.legs if len(robot.description.legs) > 1 else ()
    damages: list[Damage] = [kind(leg) for kind in (Dead, Lost) for leg in legs]
    steps = (1 + len(damages)) * len(repertoire) * robot.description.episode_steps
    if steps > _QUICK_STEPS:
        _log.info(
            "lost and dead legs are not rehearsed first, since that would take %s control steps and at most "
            "%s are taken: `surefoot rehearse` makes a rehearsal beforehand",
            f"{steps:,}",
            f"{_QUICK_STEPS:,}",
        )
    if not damages or steps > _QUICK_STEPS:
        return None
    evaluation = rehearsal(repertoire, damages, episodes=1, seed=seed, backend=backend)
    evaluation.run(on_progress=on_progress and (lambda n: on_progress(n / evaluation.total)), stop=stop)
    return rehearsed_table(evaluation) if evaluation.finished else None


def rehearsal(
    repertoire: Repertoire,
    damages: Iterable[Damage],
    *,
    episodes: int,
    seed: int,
    randomization: Randomization | None = None,
    backend: Backend = ALL_CORES,
) -> Evaluation:
    """Prepare a rehearsal; `Evaluation.run` runs its episodes, and `rehearsed_table` says what they showed.

    The damages are all different; the healthy robot comes first. With a randomization, each episode runs on
    one of the robot's models, the same for all gaits.
    """
    models, about = [repertoire.robot], dict[str, str]()
    if randomization:  # of which as many are compiled as there are episodes to run on them
        models = draw_models(repertoire.robot, randomization)[:episodes]
        about = {"robot": robot_label(repertoire.robot), "randomization": str(randomization)}
    damaged: dict[str, list[Robot]] = {}
    for damage in damages:
        if str(damage) in damaged:
            raise InvalidValueError(f"the damage {str(damage)!r} is named twice")
        damaged[str(damage)] = [damage.apply(model) for model in models]
    evaluator = Evaluator(repertoire, {HEALTHY: models} | damaged, backend=backend)
    return Evaluation(evaluator, episodes=episodes, seed=seed, family=SeedFamily.REHEARSAL, about=about)


def rehearsed_table(evaluation: Evaluation) -> Table:
    """The table of a finished rehearsal."""
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

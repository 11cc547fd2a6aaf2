"""A repertoire of an ant with tiny controllers, whose episodes take a moment."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adapt.damage.text import parse_damage
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.rehearsal.storage import read_table, write_table
from adapt.rehearsal.table import Table
from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.archives.archive import Elites
from repertoire.evaluation.evaluator import Evaluation
from repertoire.problems.locomotion import walking_record
from repertoire.repertoire import Repertoire
from robots.robot import Robot, load_robot, robot_from_text
from robots.simulation.threads import Threads

STEPS = 30
CONDITIONS = ("healthy", "front_left:lost", "back_right:dead")


def small_robot() -> Robot:
    ant = load_robot("ant")
    return robot_from_text(ant.xml, re.sub(r"hidden: \[.*?\]", "hidden: [2]", ant.yaml), origin="small ant")


def small_repertoire(k: int = 5, *, seed: int = 0) -> Repertoire:
    """Random controllers, of which nobody says the truth."""
    rng, robot = np.random.default_rng(seed), small_robot()
    controller = robot.controller
    settings = {"evaluations": 100, "seed": 1, "sigma0": 0.1}
    settings |= {"archive": (3, 3, 3, 3), "min_objective": -300.0}
    solutions = 0.5 * rng.standard_normal((k, controller.parameter_count), dtype=np.float32)
    return Repertoire(
        problem=walking_record(robot.with_episode_steps(STEPS)),
        settings=ALGORITHMS.find("cma-mae").settings(settings),
        elites=Elites(np.arange(k), solutions, rng.normal(size=k), rng.random((k, 4))),
        thresholds=np.zeros(81),
    )


def rehearsed(repertoire: Repertoire, *conditions: str, **settings: Any) -> Evaluation:
    """A rehearsal of damages that is over."""
    damages = [parse_damage(text, repertoire.robot) for text in conditions]
    settings = {"episodes": 2, "seed": 0, "backend": Threads(1)} | settings
    evaluation = rehearsal(repertoire, damages, **settings)
    evaluation.run()
    return evaluation


def save_rehearsal(path: Path, repertoire: Repertoire, conditions: Sequence[str], *, episodes: int) -> Table:
    """Rehearse damages, and return the table as it is saved in a file."""
    evaluation = rehearsed(repertoire, *conditions, episodes=episodes)
    write_table(path, rehearsed_table(evaluation), evaluation.identity)
    return read_table(path, repertoire)

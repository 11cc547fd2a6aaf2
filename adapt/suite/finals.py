"""The best controller under each damage of a benchmark's table, and the file that keeps them."""

import json
from collections.abc import Mapping
from pathlib import Path

from adapt.damage.text import parse_damage
from adapt.oracle import find_oracle
from adapt.rehearsal.rehearsal import damaged_robots
from adapt.rehearsal.table import Table
from repertoire.evaluation import Evaluator
from repertoire.repertoire import Repertoire
from robots.errors import InvalidFileError
from robots.files import file_exists, write_text
from robots.robot import Robot

Oracles = Mapping[str, int]  # row of the best controller by condition


def find_oracles(
    repertoire: Repertoire, robot: Robot, table: Table, *, seed: int, threads: int | None = None
) -> Oracles:
    """Find the best controller under each condition of a table, as `find_oracle` does.

    Args:
        repertoire: whose controllers run.
        robot: to damage.
        table: of all controllers on that robot.
        seed: of the table, from which the seeds of further episodes derive.
        threads: of the simulation; the result does not depend on it.
    """
    robots = damaged_robots(robot, (parse_damage(text, robot) for text in table.conditions))
    with Evaluator(repertoire, robots, threads=threads) as evaluator:
        return {
            condition: find_oracle(evaluator, means.astype(float), seed=seed, condition=number)
            for number, (condition, means) in enumerate(zip(table.conditions, table.objectives, strict=True))
        }


def keep_oracles(path: Path, oracles: Oracles) -> None:
    """Write oracles to a file.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    write_text(path, json.dumps(oracles, indent=2) + "\n")


def read_oracles(path: Path, table: Table) -> Oracles | None:
    """Read the oracles of a table; None if there is no such file.

    Raises:
        InvalidFileError: the file cannot be read, or holds no rows of the table's conditions.
    """
    if not file_exists(path):
        return None
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidFileError(f"{path} cannot be read: {error}") from error
    k = table.objectives.shape[1]
    rows = found.values() if isinstance(found, dict) and found.keys() == set(table.conditions) else [None]
    if not all(type(row) is int and 0 <= row < k for row in rows):
        raise InvalidFileError(
            f"{path} does not name a gait for each condition: remove it, and it is made again"
        )
    return found

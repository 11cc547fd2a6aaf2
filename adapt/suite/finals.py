"""`find_oracles`: the best controller under each damage, found among finalists by further episodes."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from adapt.rehearsal.stage import Stage
from adapt.rehearsal.table import Table
from repertoire.repertoire import Repertoire
from robots.errors import InvalidFileError
from robots.files import file_exists, write_text
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds

FINALISTS, EPISODES = 20, 8
Oracles = Mapping[str, int]  # row of the best controller by condition


def find_oracles(
    repertoire: Repertoire, robot: Robot, table: Table, *, seed: int, threads: int | None = None
) -> Oracles:
    """Find the best controller under each condition of a table.

    The few episodes of a table flatter what was lucky in them, above all controllers that fall now and then.
    The `FINALISTS` with the highest means therefore run `EPISODES` more, and the highest mean of all their
    episodes wins, the first of equals.

    Args:
        repertoire: whose controllers run.
        robot: to damage.
        table: of all controllers on that robot.
        seed: of the table, from which the seeds of further episodes derive.
        threads: of the simulation; the result does not depend on it.
    """
    seeds = derive_seeds(seed, SeedFamily.FINALISTS, 0, EPISODES)
    found = {}
    stage = Stage(repertoire, robot, table.conditions, threads)
    try:
        for number, condition in enumerate(table.conditions):
            means = table.objectives[number].astype(float)
            finalists = np.sort(np.argsort(-means, kind="stable")[:FINALISTS])
            rows = np.repeat(finalists, EPISODES)
            samples = stage.evaluate(np.full(len(rows), number), rows, np.tile(seeds, len(finalists)))
            sums = samples.objectives.reshape(-1, EPISODES).sum(axis=1, dtype=np.float64)
            found[condition] = int(finalists[np.argmax(sums + table.episodes * means[finalists])])
    finally:
        stage.close()
    return found


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

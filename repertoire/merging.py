"""`merge`: one repertoire of the elites of several."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np

from repertoire.archives import GridArchive
from repertoire.configuration import check_cells
from repertoire.metrics import measure_objectives
from repertoire.repertoire import Repertoire
from repertoire.versions import software_versions
from robots.errors import InvalidValueError

_COUNTS = ("evaluations", "steps", "diverged")


def merge(repertoires: Sequence[Repertoire], *, archive: tuple[int, ...] | None = None) -> Repertoire:
    """Put the elites of several repertoires of one robot into one archive, where the best of a cell stays.

    Runs with other seeds, algorithms or learning rates find other gaits; what they found together is worth
    more than the best of them. With a single repertoire and other cells it is a change of resolution.

    Args:
        repertoires: at least one; of equals in a cell the first's stays.
        archive: cells along each measure; those of the first by default.

    Returns:
        A repertoire with the settings of the first. Its history is one row, with what all took together. Its
        thresholds are its elites' objectives: no search goes on from it.

    Raises:
        InvalidValueError: there is none, one was corrected, or they differ in robot, controllers, length of
            episodes or minimum objective; or the archive does not fit the robot's measures.
    """
    _check(repertoires)
    first = repertoires[0]
    if archive is not None:
        check_cells(archive, first.robot)
    configuration = first.configuration.model_copy(update={"archive": archive or first.grid})
    together = GridArchive(
        solution_dim=first.elites.solutions.shape[1],
        shape=configuration.archive,
        ranges=((0.0, 1.0),) * first.robot.measure_dim,
    )
    for one in repertoires:
        together.add(one.elites.solutions, one.elites.objectives, one.elites.measures)
    elites = together.elites()
    metrics = measure_objectives(
        elites.objectives, cells=together.cells, min_objective=configuration.min_objective
    )
    counts = {name: sum(_last(one.history, name) for one in repertoires) for name in _COUNTS}
    return replace(
        first,
        configuration=configuration.model_copy(update={"evaluations": max(1, counts["evaluations"])}),
        elites=elites,
        thresholds=together.thresholds,
        history={name: np.array([value]) for name, value in (counts | asdict(metrics)).items()},
        versions=software_versions(),
    )


def _check(repertoires: Sequence[Repertoire]) -> None:
    """Refuse what cannot share an archive."""
    if not repertoires:
        raise InvalidValueError("there is no repertoire to merge")
    for number, one in enumerate(repertoires, start=1):
        if one.spread is not None:
            raise InvalidValueError(
                f"repertoire {number} was corrected: merge the originals, and correct what comes out"
            )
    first = repertoires[0]
    for number, other in enumerate(repertoires[1:], start=2):
        for name, value in _identity(first).items():
            if _identity(other)[name] != value:
                raise InvalidValueError(f"repertoire {number} has another {name} than the first")


def _identity(repertoire: Repertoire) -> dict[str, object]:
    """What repertoires must have in common to be comparable."""
    return {
        "robot": (repertoire.robot.xml, repertoire.robot.yaml),
        "controller": repertoire.controller,
        "length of episodes": repertoire.configuration.episode_steps,
        "minimum objective": repertoire.configuration.min_objective,
    }


def _last(history: Mapping[str, np.ndarray], column: str) -> int:
    """Last value of a column, 0 where there is none."""
    values = history.get(column)
    return int(values[-1]) if values is not None and len(values) else 0

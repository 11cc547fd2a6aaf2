"""`merge`: one repertoire of the elites of several."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from repertoire.archives.grid import GridArchive
from repertoire.cells import check_cells
from repertoire.metrics import measure_objectives
from repertoire.provenance import software_versions
from repertoire.repertoire import Repertoire
from repertoire.training.settings import make_settings
from robots.errors import InvalidValueError

_COUNTS = ("evaluations", "steps", "diverged")


def merge(
    repertoires: Sequence[Repertoire],
    *,
    archive: tuple[int, ...] | None = None,
    names: Sequence[str] | None = None,
) -> Repertoire:
    """Put the elites of several repertoires of one problem into one archive, where the best of a cell stays.

    Runs with other seeds, algorithms or learning rates find other gaits; what they found together is worth
    more than the best of them. With a single repertoire and other cells it is a change of resolution.

    Args:
        repertoires: at least one; of equals in a cell the first's stays.
        archive: cells along each measure; those of the first by default.
        names: what to call them in errors.

    Returns:
        A repertoire with the settings of the first. Its history is one row, with what all took together and
        `runs`, how many there were. Its thresholds are its elites' objectives: no search goes on from it.

    Raises:
        InvalidValueError: there is none, one was corrected, or they differ in problem, robot, controllers,
            length of episodes or minimum objective; or the archive does not fit the measures.
    """
    _check(repertoires, names or [f"repertoire {number}" for number in range(1, len(repertoires) + 1)])
    first = repertoires[0]
    counts = {name: sum(one.last(name) for one in repertoires) for name in _COUNTS}
    counts["runs"] = sum(one.last("runs") or 1 for one in repertoires)
    changes = {"archive": archive or first.grid, "evaluations": max(1, counts["evaluations"])}
    settings = check_cells(make_settings(first.settings.model_dump() | changes), first.problem)
    together = GridArchive(
        solution_dim=first.elites.solutions.shape[1],
        shape=settings.archive,
        ranges=first.problem.measure_ranges,
    )
    for one in repertoires:
        together.add(one.elites.solutions, one.elites.objectives, one.elites.measures)
    elites = together.elites()
    metrics = measure_objectives(
        elites.objectives, cells=together.cells, min_objective=settings.min_objective
    )
    return replace(
        first,
        settings=settings,
        elites=elites,
        thresholds=together.thresholds,
        history={name: np.array([value]) for name, value in (counts | asdict(metrics)).items()},
        versions=software_versions(),
    )


def _check(repertoires: Sequence[Repertoire], names: Sequence[str]) -> None:
    """Refuse what cannot share an archive."""
    if not repertoires:
        raise InvalidValueError("there is no repertoire to merge")
    for name, one in zip(names, repertoires, strict=True):
        if one.spread is not None:
            raise InvalidValueError(f"{name} was corrected: merge the originals, and correct what comes out")
    wanted = _identity(repertoires[0])
    for name, other in zip(names, repertoires, strict=True):
        for what, value in _identity(other).items():
            if value != wanted[what]:
                raise InvalidValueError(
                    f"{name} has the {what} {value}, but {names[0]} has {wanted[what]}: "
                    "only repertoires of the same task can be merged"
                )
        if other.problem.texts != repertoires[0].problem.texts:
            raise InvalidValueError(f"the robots of {name} and {names[0]} have the same name, but differ")


def _identity(repertoire: Repertoire) -> dict[str, object]:
    """What repertoires must have in common to be comparable, and can be told in a word."""
    return {
        "problem": repertoire.problem.name,
        "controller": repertoire.controller,
        "number of parameters": repertoire.problem.solution_dim,
        "objective": repertoire.problem.objective_name,
        "measures": ", ".join(repertoire.problem.measure_names),
        "ranges of measures": repertoire.problem.measure_ranges,
        "minimum objective": repertoire.settings.min_objective,
    }

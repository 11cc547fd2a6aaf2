"""`merge`: one repertoire with the best elites of several."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from repertoire.algorithms.settings import parse_archive
from repertoire.archives.archive import Archive, ArchiveSpec
from repertoire.metrics import measure
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError

_COUNTS = ("evaluations", "steps", "diverged")


def merge(
    repertoires: Sequence[Repertoire],
    *,
    archive: ArchiveSpec | str | Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> Repertoire:
    """Put the elites of several repertoires of one problem into one archive: the best of each cell stay.

    A single repertoire and another archive change the resolution.

    Settings and versions are those of the first, as are equally good elites of a cell. The history is one row
    with the sums over all runs, and a column `runs` with their number. No search can continue from it.

    Args:
        repertoires: at least one.
        archive: specification of the archive, see `parse_archive`; that of the first repertoire by default.
        names: of the repertoires in errors.
    """
    _check(repertoires, names or [f"repertoire {number}" for number in range(1, len(repertoires) + 1)])
    first = repertoires[0]
    counts = {name: sum(one.last(name) for one in repertoires) for name in _COUNTS}
    counts["runs"] = sum(one.last("runs") or 1 for one in repertoires)
    spec = first.settings.archive if archive is None else parse_archive(archive)
    changes = {"archive": spec, "evaluations": max(1, counts["evaluations"])}
    settings = first.settings.model_copy(update=changes)
    together = Archive(spec, solution_dim=first.problem.solution_dim, ranges=first.problem.measure_ranges)
    for one in repertoires:
        together.add(one.elites.solutions, one.elites.objectives, one.elites.measures)
    elites = together.elites()
    metrics = measure(elites.objectives, cells=together.cells, min_objective=settings.min_objective)
    return replace(
        first,
        settings=settings,
        elites=elites,
        thresholds=together.thresholds,
        history={name: np.array([value]) for name, value in (counts | asdict(metrics)).items()},
        versions={name: text for one in repertoires[::-1] for name, text in one.versions.items()},
    )


def _check(repertoires: Sequence[Repertoire], names: Sequence[str]) -> None:
    if not repertoires:
        raise InvalidValueError("there is no repertoire to merge")
    for name, one in zip(names, repertoires, strict=True):
        if one.spread is not None:
            raise InvalidValueError(f"{name} was corrected: merge the originals, and correct what comes out")
        if one.specialists is not None and not one.specialists.known.all():
            raise InvalidValueError(
                f"{name} has specialists: merge the originals, and strengthen what comes out"
            )
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
    """What repertoires must have in common to be comparable, by the name used in errors."""
    return {
        "problem": repertoire.problem.name,
        "controller": repertoire.controller,
        "number of parameters": repertoire.problem.solution_dim,
        "objective": repertoire.problem.objective_name,
        "measures": ", ".join(repertoire.problem.measure_names),
        "ranges of measures": repertoire.problem.measure_ranges,
        "minimum objective": repertoire.settings.min_objective,
        "share of damaged episodes": repertoire.problem.damage_share,
        "randomization": str(repertoire.problem.randomization or "none"),
    }

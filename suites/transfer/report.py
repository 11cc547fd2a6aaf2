"""`TransferResult`: what a trial of a transfer study found; `write_report`: what all of them did."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from repertoire.execution.provenance import processor_name, software_versions
from robots.errors import InvalidValueError
from robots.files.atomic import write_text
from robots.files.records import Record, validate
from robots.words import duration, version_words
from suites.markdown import NOTHING, bullets, fill, table
from suites.suite import Key
from suites.transfer.worlds import TransferWorld

GAITS = "gaits"  # what takes the place of the selector's name where gaits run without damage
_GAIT_FIGURES, _RECOVERY_FIGURES = ("mean", "worst tenth", "upright"), ("old gait", "recovered", "right part")
_SHARES = ("old gait", "recovered", "old gait falls", "falls", "explained")
_RECOVERED, _TEXTS = ("best", *_SHARES, "right part"), ("damage", "diagnosis")
_TEMPLATE = Path(__file__).with_name("report.md")
_Number = Annotated[float, Field(allow_inf_nan=False)]


class TransferResult(Record):
    """What a trial found.

    Attributes:
        case: names of the repertoire and the world.
        method: name of the selector, or `GAITS`.
        number: of the fault, from 0.
        seed: from which the random numbers of a recovery derive; gaits walk with those of the study.
        took: how long it took [s].
        figures: see `Stage.walk` and `Stage.recover`.
    """

    case: str
    method: str
    number: Annotated[int, Field(ge=0, strict=True)]
    seed: Annotated[int, Field(ge=0, strict=True)]
    took: _Number
    figures: dict[str, bool | _Number | str]

    @property
    def key(self) -> Key:
        """Case, method and number, which identify the trial in its study."""
        return self.case, self.method, self.number

    @property
    def words(self) -> str:
        """How it went, in a line."""
        found = (
            f"{value:.2f}" if isinstance(value, float) else f"{value}" for value in self.figures.values()
        )
        return f"{self.case:<24} {self.method:<11} {duration(self.took):>8}  {' '.join(found)}"


def parse_result(found: dict[str, Any]) -> TransferResult:
    """The result that a file holds; raise an InvalidValueError if it lacks a figure of the report."""
    result = validate(TransferResult, found)
    numbers, texts = (_GAIT_FIGURES, ()) if result.method == GAITS else (_RECOVERED, _TEXTS)
    for name in (*numbers, *texts):
        value = result.figures.get(name)
        if value is None or isinstance(value, str) != (name in texts):
            raise InvalidValueError(f'"{name}" must be a {"text" if name in texts else "number"}')
    return result


def write_report(
    results: Sequence[TransferResult],
    folder: Path,
    worlds: Sequence[TransferWorld],
    labels: Sequence[str],
    notes: Iterable[str],
) -> list[Path]:
    """Write `gaits.csv`, `recoveries.csv` and `report.md` to a folder; returns the files.

    Args:
        results: of the trials that are finished.
        folder: of the study.
        worlds: in their order.
        labels: names of the repertoires.
        notes: sentences on how the study was run.

    Raises:
        InvalidFileError: the folder cannot be written to.
    """
    gaits, recoveries = (
        pd.DataFrame([{"case": one.case, **one.figures} for one in results if (one.method == GAITS) == walks])
        for walks in (True, False)
    )
    versions = f"Reported on: {processor_name()}, with {version_words(software_versions())}."
    blocks = {
        "notes": bullets([*notes, versions]),
        "worlds": bullets(f"{world.name}: {world.title}." for world in worlds),
        "gaits": _by_world(gaits, worlds, labels, _GAIT_FIGURES),
        "recoveries": _by_world(recoveries, worlds, labels, _RECOVERY_FIGURES),
        "each": _each(recoveries),
    }
    paths = [folder / name for name in ("gaits.csv", "recoveries.csv", "report.md")]
    write_text(paths[0], gaits.to_csv(index=False, float_format="%.4f"))
    write_text(paths[1], recoveries.to_csv(index=False, float_format="%.4f"))
    write_text(paths[2], fill(_TEMPLATE, blocks))
    return paths


def _by_world(
    rows: pd.DataFrame, worlds: Sequence[TransferWorld], labels: Sequence[str], figures: Sequence[str]
) -> str:
    """A line for each world that something ran in: means of some figures for each repertoire."""
    if rows.empty:
        return ""
    found = rows.groupby("case")[list(figures)].mean()
    cases = {world.name: [f"{label}-{world.name}" for label in labels] for world in worlds}
    lines = [
        (name, *(_number(found[figure].get(case)) for case in own for figure in figures))
        for name, own in cases.items()
        if found.index.isin(own).any()
    ]
    return table(("world", *(f"{label}: {figure}" for label in labels for figure in figures)), lines)


def _each(recoveries: pd.DataFrame) -> str:
    """Every recovery."""
    if recoveries.empty:
        return ""
    columns = ["case", *_TEXTS, "best", *_SHARES]
    rows = [(*row[:2], row[2] or NOTHING, *map(_number, row[3:])) for row in recoveries[columns].to_numpy()]
    return table((*columns[:3], "best [m]", *_SHARES), rows, text_columns=3)


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"

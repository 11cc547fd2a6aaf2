"""`write_report`: what all trials of a transfer study found."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from repertoire.execution.provenance import processor_name, software_versions
from robots.files.atomic import write_text
from robots.words import version_words
from suites.markdown import NOTHING, bullets, fill, table
from suites.transfer.results import GAIT_FIGURES, GAITS, SHARES, TEXTS, TransferResult
from suites.transfer.worlds import TransferWorld

_RECOVERY_FIGURES = ("old gait", "recovered", "right part")
_TEMPLATE = Path(__file__).with_name("report.md")


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
    """
    gaits, recoveries = (
        pd.DataFrame([{"case": one.case, **one.figures} for one in results if (one.method == GAITS) == walks])
        for walks in (True, False)
    )
    versions = f"Reported on: {processor_name()}, with {version_words(software_versions())}."
    blocks = {
        "notes": bullets([*notes, versions]),
        "worlds": bullets(f"{world.name}: {world.title}." for world in worlds),
        "gaits": _by_world(gaits, worlds, labels, GAIT_FIGURES),
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
    columns = ["case", *TEXTS, "best", *SHARES]
    rows = [(*row[:2], row[2] or NOTHING, *map(_number, row[3:])) for row in recoveries[columns].to_numpy()]
    return table((*columns[:3], "best [m]", *SHARES), rows, text_columns=3)


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"

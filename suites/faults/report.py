"""`write_report`: episodes with faults in a CSV file and a report in Markdown."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from robots.files.atomic import write_text
from suites.faults.results import FaultRecord
from suites.markdown import NOTHING, bullets, heading, join, table
from suites.mission.report import interval, share

INTACT = "intact"
_NOTES = (
    "Of what was asked: the way that was commanded, the turn, or the time to stand; a robot that ends more "
    "than 0.5 m from where it was to stand did not. Of the intact: what the same one makes without a fault.",
    "Intervals of 95%: Wilson's of falls, a bootstrap's of means over episodes of all seeds, from six on. "
    "The worst tenth are the episodes with a fault in which least is left of what the intact robot makes.",
)


def write_report(robot: str, results: Sequence[FaultRecord], folder: Path) -> list[Path]:
    """Write `episodes.csv` and `report.md` to a folder; returns the files."""
    runs = runs_table(results)
    csv, report = folder / "episodes.csv", folder / "report.md"
    write_text(csv, runs.to_csv(index=False, float_format="%.3f"))
    write_text(report, join([f"# Faults of the {robot}", *_sections(runs)]) + "\n")
    return [csv, report]


def runs_table(results: Sequence[FaultRecord]) -> pd.DataFrame:
    """A row for each episode, with its shares of what was asked and of what the intact robot makes [%]."""
    runs = pd.DataFrame([one.model_dump() for one in results])
    runs = runs.sort_values(["method", "command", "case", "number"], kind="stable", ignore_index=True)
    intact = runs[runs["fault"] == INTACT].groupby(["method", "command"])["made"].mean()
    usual = pd.MultiIndex.from_frame(runs[["method", "command"]]).map(intact).to_numpy(float)
    runs["of_asked"] = 100 * runs["made"] / runs["asked"].astype(float)
    runs["of_intact"] = 100 * runs["made"] / np.where(usual > 0, usual, np.nan)
    return runs


def _sections(runs: pd.DataFrame) -> Iterator[str]:
    yield bullets(_NOTES)
    names = ("episodes", "of what was asked [%]", "of the intact [%]", "falls", "seconds to a fall")
    broken = runs[runs["fault"] != INTACT]
    rows = []
    for (method, command), some in broken.groupby(["method", "command"], sort=False):
        left = np.sort(some["of_intact"].dropna())
        worst = left[: max(1, len(left) // 10)]
        rows.append((str(method), str(command), *_scores(some), interval(worst, np.mean)))
    yield table(("who", "told to", *names, "worst tenth [%]"), rows, text_columns=2)
    for method, some in runs.groupby("method", sort=False):
        groups = some.groupby(["command", "case", "fault"], sort=False)
        rows = [(str(fault), str(command), *_scores(one)) for (command, _, fault), one in groups]
        yield from (heading(str(method)), table(("fault", "told to", *names), rows, text_columns=2))


def _scores(runs: pd.DataFrame) -> tuple[str, ...]:
    fell = runs["fell_after"].dropna()
    shares = (interval(runs[name].dropna(), np.mean) for name in ("of_asked", "of_intact"))
    late = f"{fell.median():.1f}" if len(fell) else NOTHING
    return str(len(runs)), *shares, share(len(fell), len(runs)), late

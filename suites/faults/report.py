"""`FaultRecord`: how an episode with a fault went; `runs_table` and `sections`: all of them, for a report."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from robots.files.records import Finite
from suites.faults.protocol import INTACT, Command
from suites.markdown import NOTHING, bullets, format_interval, format_share, heading, table
from suites.records import TrialRecord

_MEDIANS = {"fell_after": "seconds to a fall", "power": "power [W]"}
_NOTES = (
    "Of what was asked: the way that was commanded, the turn, or the time to stand; a robot that ends more "
    "than 0.5 m from where it was to stand did not. Of the intact: what the same one makes without a fault.",
    "Power: mechanical, of the motors, both signs counted. Of it and of seconds the table has medians.",
    "Intervals of 95%: Wilson's of falls, a bootstrap's of means over episodes of all seeds, from six on. "
    "The worst tenth are the episodes with a fault in which least is left of what the intact robot makes.",
)


class FaultRecord(TrialRecord):
    """How an episode went.

    Attributes:
        walker: checksum of who walked.
        damage: name of the case.
        command: what it was told to do.
        made: way ahead [m], turn to the left [rad] or, of a robot that is to stand, time on its feet [s].
        asked: the same of a robot that does what it is told; None of gaits that follow no command.
        fell_after: seconds to the fall; None without one.
        power: mean mechanical power of the motors, both signs counted [W].
    """

    walker: str
    damage: str
    command: Command
    made: Finite
    asked: Finite | None = None
    fell_after: Finite | None = None
    power: Finite

    @property
    def words(self) -> str:
        """How it went, in a line."""
        end = "no fall" if self.fell_after is None else f"fell after {self.fell_after:.1f} s"
        return f"{self.method:<16} {self.command:<6} {self.made:7.2f}  {end:<18} {self.damage}"


def runs_table(results: Sequence[FaultRecord]) -> pd.DataFrame:
    """A row for each episode, with its shares of what was asked and of what the intact robot makes [%]."""
    runs = pd.DataFrame([one.model_dump() for one in results])
    runs = runs.sort_values(["method", "command", "case", "number"], kind="stable", ignore_index=True)
    intact = runs[runs["damage"] == INTACT].groupby(["method", "command"])["made"].mean()
    usual = pd.MultiIndex.from_frame(runs[["method", "command"]]).map(intact).to_numpy(float)
    runs["of_asked"] = 100 * runs["made"] / runs["asked"].astype(float)
    runs["of_intact"] = 100 * runs["made"] / np.where(usual > 0, usual, np.nan)
    return runs


def sections(robot: str, runs: pd.DataFrame) -> Iterator[str]:
    """Blocks of the report on the rows of `runs_table`."""
    yield f"# Faults of the {robot}"
    yield bullets(_NOTES)
    names = ("episodes", "of what was asked [%]", "of the intact [%]", "falls", *_MEDIANS.values())
    broken = runs[runs["damage"] != INTACT]
    rows = []
    for (method, command), some in broken.groupby(["method", "command"], sort=False):
        left = np.sort(some["of_intact"].dropna())
        worst = left[: max(1, len(left) // 10)]
        rows.append((str(method), str(command), *_scores(some), format_interval(worst, np.mean)))
    yield table(("who", "told to", *names, "worst tenth [%]"), rows, text_columns=2)
    for method, some in runs.groupby("method", sort=False):
        groups = some.groupby(["command", "case", "damage"], sort=False)
        rows = [(str(fault), str(command), *_scores(one)) for (command, _, fault), one in groups]
        yield from (heading(str(method)), table(("fault", "told to", *names), rows, text_columns=2))


def _scores(runs: pd.DataFrame) -> tuple[str, ...]:
    fell = runs["fell_after"].dropna()
    shares = (format_interval(runs[name].dropna(), np.mean) for name in ("of_asked", "of_intact"))
    medians = (runs[name].dropna().astype(float).median() for name in _MEDIANS)
    late = (NOTHING if np.isnan(median) else f"{median:.1f}" for median in medians)
    return str(len(runs)), *shares, format_share(len(fell), len(runs)), *late

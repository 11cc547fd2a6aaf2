"""`FaultRecord`: how an episode with a fault went; `runs_table` and `sections`: all of them, for a report."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pandas as pd

from robots.files.records import Finite, NotNegative
from suites.faults.protocol import INTACT, Command
from suites.markdown import bullets, format_interval, format_or_dash, format_share, heading, table
from suites.records import TrialRecord, Whole

_MEDIANS = {
    "fell_after": "seconds to a fall",
    "settled": "seconds to 90%",
    "power": "power [W]",
    "trials": "trials",
    "trial_falls": "falls in them",
}
_NAMES = ("episodes", "of what was asked [%]", "of the intact [%]", "falls", *_MEDIANS.values())
_WORST = 10  # episodes on the page of a policy
_NOTES = (
    "Of what was asked: the way that was commanded, the turn, or the time to stand; a robot that ends more "
    "than 0.5 m from where it was to stand did not. Of the intact: what the same one makes without a fault.",
    "Seconds to 90%: from the onset until a robot that walks ahead is, and stays, within 90% of the speed in "
    "the end. Speeds are means over a second, that in the end over two.",
    "Power: mechanical, of the motors, both signs counted. Of it, seconds and trials the table has medians.",
    "Trials: of a recovery from this fault, which found the gait that walks from the onset on. They, and the "
    "thinking between them, are no part of the episode.",
    "Intervals of 95%: Wilson's of falls, a bootstrap's of means over episodes of all seeds, from six on. "
    "The worst tenth are the episodes with a fault in which least is left of what the intact robot makes.",
)


class FaultRecord(TrialRecord):
    """How an episode went.

    Attributes:
        damage: name of the case.
        command: what it was told to do.
        made: way ahead [m], turn to the left [rad] or, of a robot that is to stand, time on its feet [s].
        asked: the same of a robot that does what it is told; None of gaits that follow no command.
        fell_after: seconds to the fall; None without one.
        settled: seconds from the onset until within 90% of the speed in the end, see `_NOTES`.
        power: mean mechanical power of the motors, both signs counted [W].
        trials: of the recovery that found what walks from the onset on; None without one.
        trial_falls: of these.
    """

    damage: str
    command: Command
    made: Finite
    asked: Finite | None = None
    fell_after: Finite | None = None
    settled: NotNegative | None = None
    power: Finite
    trials: Whole | None = None
    trial_falls: Whole | None = None

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
    broken = runs[runs["damage"] != INTACT]
    rows = []
    for (method, command), some in broken.groupby(["method", "command"], sort=False):
        left = np.sort(some["of_intact"].dropna())
        worst = left[: max(1, len(left) // 10)]
        rows.append((str(method), str(command), *_scores(some), format_interval(worst, np.mean)))
    yield table(("who", "told to", *_NAMES, "worst tenth [%]"), rows, text_columns=2)
    yield "\n".join(f"* [{name}]({quote(name)}.md)" for name in runs["method"].unique())


def worst_episodes(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of `runs_table` with a fault in which least is left, the worst first."""
    return runs[runs["damage"] != INTACT].nsmallest(_WORST, "of_intact")


def page(method: str, runs: pd.DataFrame, films: Sequence[Path]) -> Iterator[str]:
    """Blocks of the page of a policy or gait, on its rows of `runs_table`, and films of the worst."""
    yield heading(method, 1)
    groups = runs.groupby(["command", "case", "damage"], sort=False)
    rows = [(str(fault), str(command), *_scores(one)) for (command, _, fault), one in groups]
    yield table(("fault", "told to", *_NAMES), rows, text_columns=2)
    yield heading("Worst episodes")
    columns = ["damage", "command", "number", "of_intact", "fell_after"]
    cells = (
        [format_or_dash(x) if isinstance(x, float) else str(x) for x in row]
        for row in worst_episodes(runs)[columns].to_numpy()
    )
    yield table(("fault", "told to", "episode", "of the intact [%]", "fell after [s]"), cells, text_columns=2)
    yield from (f"The first of them on film: [{film.name}]({quote(film.name)})" for film in films)


def _scores(runs: pd.DataFrame) -> tuple[str, ...]:
    fell = runs["fell_after"].dropna()
    shares = (format_interval(runs[name].dropna(), np.mean) for name in ("of_asked", "of_intact"))
    medians = (runs[name].dropna().astype(float).median() for name in _MEDIANS)
    return str(len(runs)), *shares, format_share(len(fell), len(runs)), *map(format_or_dash, medians)

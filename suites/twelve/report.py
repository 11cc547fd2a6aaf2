"""`TwelveRecord`: how a recovery of a few trials went; `runs_table` and `sections`: the report on all."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from adapt.damage.text import damage_from
from robots.files.records import Finite
from suites.markdown import NOTHING, bullets, format_or_dash, heading, table
from suites.records import TrialRecord, Whole
from suites.recovery.metrics import mean, summarise

OLD = "old gait"
_NOTES = (
    "Shares are of the progress that the intact robot makes with its best gait, in per cent: means over ten "
    "fresh episodes after each recovery. A gait that falls keeps the distance that it made. Aside is the "
    "mean lateral deviation at the end, as a share of the mean distance ahead.",
    "Intervals of 95% are of a bootstrap over the recoveries of each damage or, with one recovery from each "
    "damage, over the damages.",
    "Seconds are of the program, on the cores that the study had; walking and the start of the program are "
    "not included. The first better gait is another one that walked a tenth of the intact progress farther "
    "in a trial than the old one in the first.",
)


class TwelveRecord(TrialRecord):
    """How a recovery went.

    Attributes:
        damage: text of what broke.
        intact: progress of the intact robot with its best gait, a mean over fresh episodes [m].
        old: the same of that gait on the damaged robot [m].
        made: the same of the gait in the end [m].
        falls_after: share of these episodes in which the robot falls.
        aside: mean lateral deviation at the end of these [m]; None if it was not measured.
        trials: that were made, and how many of them ended in a fall.
        better_after: seconds until a trial of another gait had walked a tenth of the intact progress farther
            than the first trial of the old one, walking not included; None if none did [s].
        seconds: of the whole recovery, walking not included [s]; 0 of rivals without any.
        processor: seconds of all processors that it took [s].
        cause: what the selector holds to be the most probable damage in the end, and how probable.
    """

    damage: str
    intact: Finite
    old: Finite
    made: Finite
    falls_after: Finite
    aside: Finite | None = None
    trials: Whole = 0
    falls: Whole = 0
    better_after: Finite | None = None
    seconds: Finite = 0.0
    processor: Finite = 0.0
    cause: str = ""
    probability: Finite = 0.0

    @property
    def words(self) -> str:
        """How it went, in a line."""
        return (
            f"{self.method:<30} {self.made:6.2f} of {self.intact:.2f} m  {self.seconds:5.0f} s  {self.damage}"
        )


def runs_table(results: Sequence[TwelveRecord]) -> pd.DataFrame:
    """A row for each recovery, with its share and that of the old gait, in the order of the damages."""
    runs = pd.DataFrame([one.model_dump() for one in results])
    runs = runs.sort_values(["case", "number"], kind="stable", ignore_index=True)
    whole = np.where(runs["intact"] > 0, runs["intact"], np.nan)
    return runs.assign(share=100 * runs["made"] / whole, old_share=100 * runs["old"] / whole)


def sections(robot: str, runs: pd.DataFrame) -> Iterator[str]:
    """Blocks of the report on the rows of `runs_table`."""
    yield f"# Few trials on the {robot}"
    old = runs.drop_duplicates(["case", "number"]).assign(method=OLD, share=lambda one: one["old_share"])
    both = pd.concat([old, runs], ignore_index=True)
    methods = [OLD, *dict.fromkeys(runs["method"])]
    yield bullets(_NOTES)
    names = ("all", "one leg or joint", "two legs", "trials", "falls", "falls after [%]", "aside [%]")
    took = ("first better gait [s]", "whole recovery [s]", "at most [s]")
    yield table(("who", *names, *took), [_row(name, both[both["method"] == name]) for name in methods])
    yield heading("Damages")
    shares = both.pivot_table("share", index="damage", columns="method", aggfunc="mean", sort=False)
    rows = [
        (str(damage), *(format_or_dash(one, 0) for one in values))
        for damage, values in zip(shares.index, shares[methods].to_numpy(), strict=True)
    ]
    yield table(("damage", *methods), rows)


def _row(name: str, runs: pd.DataFrame) -> tuple[str, ...]:
    pairs = runs["damage"].map(lambda text: len(damage_from(text).singles) > 1).to_numpy(bool)
    shares = (_mean(some) for some in (runs, runs[~pairs], runs[pairs]))
    if name == OLD:
        return name, *shares, *([NOTHING] * 7)
    made, aside = runs[["made", "aside"]].astype(float).mean()
    return (
        name,
        *shares,
        *(format_or_dash(runs[column].mean(), 1) for column in ("trials", "falls")),
        format_or_dash(100 * runs["falls_after"].mean(), 0),
        format_or_dash(100 * aside / made, 0),
        format_or_dash(runs["better_after"].astype(float).median(), 0),
        format_or_dash(runs["seconds"].median(), 0),
        format_or_dash(runs["seconds"].max(), 0),
    )


def _mean(runs: pd.DataFrame) -> str:
    """The mean share, with its interval if every damage has as many recoveries."""
    if runs.empty:
        return NOTHING
    counts = runs.groupby("case")["share"].count()
    if counts.nunique() > 1 or runs["share"].isna().any():
        return format_or_dash(runs["share"].mean(), 0)
    return summarise(runs["share"].to_numpy().reshape(len(counts), -1), mean).text(0)

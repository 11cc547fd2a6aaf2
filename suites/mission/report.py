"""`runs_table` and `sections`: the missions of a study as a table and in Markdown."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from adapt.damage.text import damage_from
from suites.markdown import (
    FEWEST,
    bullets,
    format_interval,
    format_or_dash,
    format_share,
    heading,
    table,
)
from suites.mission.results import MissionRecord

WHOLE = "healthy"
_NOTES = (
    "Damage happens after 4 s. Methods: mission notices and finds out itself; oracle is told at once and has "
    "every gait simulated in no time; plain walks on by what is expected of the whole robot; old walks on "
    "with one gait; resets is told, and its three trials, whose time counts, begin from resets.",
    "Across the gap, the robot differs from its model as in the recovery benchmark.",
    "Intervals of 95%: Wilson's of shares, a bootstrap's of medians and means, except where there are fewer "
    f"than {FEWEST} values, or all are the same.",
)


def runs_table(results: Sequence[MissionRecord]) -> pd.DataFrame:
    """A row for each mission, with its task, its world and the kinds of its damage."""
    runs = pd.DataFrame([one.model_dump() for one in results])
    parts = runs["case"].str.split("-")
    runs["task"] = parts.str[0]
    runs["world"] = ["gap" if "gap" in some else "nominal" for some in parts]
    runs["kind"] = [
        " + ".join(sorted(single.kind for single in damage_from(text).singles)) or WHOLE
        for text in runs["damage"]
    ]
    return runs


def sections(robot: str, goal: str, runs: pd.DataFrame) -> Iterator[str]:
    """Blocks of the report on the rows of `runs_table`; a title begins with where the goal is."""
    yield f"# Missions of the {robot}"
    yield bullets(_NOTES)
    titles = {"goal": (f"{goal}, in 90 s at most", _goals), "distance": ("Two minutes ahead", _distances)}
    for task, (title, write) in titles.items():
        some = runs[runs["task"] == task]
        if len(some):
            yield from (heading(title), write(some))


def _goals(runs: pd.DataFrame) -> str:
    whole = runs.loc[(runs["kind"] == WHOLE) & (runs["method"] == "mission")]
    usual = whole["seconds"].where(whole["reached"], np.inf).groupby(whole["world"]).median()
    rows = []
    for (world, kind, method), some in runs.groupby(["world", "kind", "method"], sort=False):
        seconds = some["seconds"].where(some["reached"], np.inf).to_numpy()
        with np.errstate(invalid="ignore"):  # where neither arrives, there is no ratio
            ratio = np.median(seconds) / usual.get(world, np.nan)
        rows.append((
            str(world), str(kind), str(method), str(len(some)),
            *(format_share(int(some[name].sum()), len(some)) for name in ("reached", "unaided")),
            format_interval(seconds, np.median), format_or_dash(ratio),
            format_interval(some["falls"], np.mean),
            *(f"{some[name].mean():.1f}" for name in ("assistances", "trials", "segments")),
            format_interval(some["delay"].dropna(), np.median),
        ))  # fmt: skip
    header = (
        "world", "damage", "method", "missions", "reached", "without help", "median time [s]",
        "of the healthy one", "falls", "assistances", "trials", "segments", "delay [s]",
    )  # fmt: skip
    caption = (
        "Missions that do not reach the goal count as infinitely long. Those without help reached it before "
        "the robot was set upright for the first time. Counts are those after the damage."
    )
    return table(header, rows, caption=caption, text_columns=3)


def _distances(runs: pd.DataFrame) -> str:
    rows = []
    for (world, kind, method), some in runs.groupby(["world", "kind", "method"], sort=False):
        told = runs[(runs["world"] == world) & (runs["kind"] == kind) & (runs["method"] == "oracle")]
        ratio = some["distance"].mean() / told["distance"].mean() if len(told) else np.nan
        rows.append((
            str(world), str(kind), str(method), str(len(some)), format_interval(some["distance"], np.mean),
            format_or_dash(ratio), format_interval(some["falls"], np.mean),
            format_interval(some["regained"].dropna(), np.median),
        ))  # fmt: skip
    header = (
        "world", "damage", "method", "missions", "distance [m]", "of the oracle's", "falls",
        "0.9 of the final speed after [s]",
    )  # fmt: skip
    return table(header, rows, text_columns=3)

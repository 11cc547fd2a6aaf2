"""`simulated_report`: what a study found of which every trial was simulated, in Markdown."""

import math

import pandas as pd

from adapt.damage.text import damage_from
from repertoire.execution.provenance import software_versions
from robots.words import version_words
from suites.markdown import join, table
from suites.recovery.metrics import measured, metrics, summarise, trials_of
from suites.recovery.simulated_study import SimulatedStudy
from suites.statistics import mean_interval

_SHOWN = (*(f"RR@{mark}" for mark in (1, 2, 3, 5, 10, 20)), "solved@5", "solved@20", "CVaR10")
_ALSO = ("falls@10", "stop", "RR@stop")


def simulated_report(study: SimulatedStudy, recoveries: pd.DataFrame) -> str:
    """The settings of a study, and `simulated_tables` of its recoveries."""
    repertoire, settings = study.repertoire, study.settings
    thinking = (
        f"{settings.think_seconds:g} s" if settings.think_seconds else f"{settings.think_episodes:,} episodes"
    )
    about = (
        f"Repertoire: {repertoire.robot.name}, {len(repertoire):,} gaits. Trials of each recovery: "
        f"{settings.trials}; seed {settings.seed}. Selectors that think simulate for {thinking} after each "
        f"trial. Computed with {version_words(software_versions())}."
    )
    return join([f"# {study.track.name}: {study.track.title}", about, simulated_tables(recoveries)]) + "\n"


def simulated_tables(recoveries: pd.DataFrame) -> str:
    """The metrics of each selector over binding faults, and the recovery ratio for each family of damage.

    Intervals are of 95%, by a bootstrap over the faults, so they are about further faults of the same kind.

    Args:
        recoveries: see `SimulatedStudy.run`.
    """
    binding = recoveries.dropna(subset="selector") if "selector" in recoveries else recoveries[:0]
    counts = f"{recoveries['damage'].nunique()} faults, of which {binding['damage'].nunique()} are binding."
    if not len(binding):
        return counts
    found = measured(binding.astype({"stop": int}))
    return join([counts, _metrics(found), _families(found)])


def _metrics(binding: pd.DataFrame) -> str:
    """Metrics of each selector."""
    known = metrics(trials_of(binding))
    chosen = {name: known[name] for name in (*_SHOWN, *_ALSO) if name in known}
    selectors = dict(list(binding.groupby("selector", sort=False)))
    rows = [
        (
            name,
            *(
                summarise(own[metric.column].to_numpy(float)[None], metric.statistic).text(
                    max(metric.decimals, 1)
                )
                for own in selectors.values()
            ),
        )
        for name, metric in chosen.items()
    ]
    seconds = ("seconds of thinking a trial", *(f"{own['seconds'].mean():.1f}" for own in selectors.values()))
    caption = "Binding faults, with 95% intervals. RR@t are interquartile means, stop is a median."
    return table(("", *map(str, selectors)), [*rows, seconds], caption=caption)


def _families(binding: pd.DataFrame) -> str:
    """Mean recovery ratio of each selector for each family; a pair of faults counts for both."""
    trials = trials_of(binding)
    after = max(mark for mark in (1, 2, 3, 5, 10, 20) if mark <= trials)
    marks = [f"RR@{mark}" for mark in dict.fromkeys((min(5, after), after))]
    ratios = binding.pivot(index="damage", columns="selector", values=marks)
    groups: dict[str, list[str]] = {}
    for damage in ratios.index:
        for name in damage_from(damage).families:
            groups.setdefault(name, []).append(damage)
    first, *others = dict.fromkeys(binding["selector"])
    rows = []
    for name, damages in sorted(groups.items()):
        own = ratios.loc[damages]
        cells = []
        for mark in marks:
            cells += [f"{own[mark, one].mean():.2f}" for one in (first, *others)]
            cells += [_difference(own[mark, first] - own[mark, other]) for other in others]
        rows.append((name, str(len(damages)), *cells))
    header = ["family", "faults"]
    for mark in marks:
        header += [f"{one} {mark}" for one in (first, *others)]
        header += [f"{mark}: {first} - {other}" for other in others]
    caption = (
        "Binding faults, means; differences with Student's 95% intervals where there are two faults or more. "
        "A pair of faults counts for both families."
    )
    return table(header, rows, caption=caption)


def _difference(differences: pd.Series) -> str:
    """The mean of differences, and its interval if there is one."""
    found = mean_interval(differences.to_numpy(float))
    interval = "" if math.isnan(found.low) else f" [{found.low:+.2f}, {found.high:+.2f}]"
    return f"{found.mean:+.2f}{interval}"

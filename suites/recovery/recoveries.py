"""`replay_all`: every selector recovers from every damage in every track, replayed in parallel processes."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from adapt.rehearsal.table import Table
from adapt.selectors.catalogue import find_selector, make_selector, selector_entries
from adapt.selectors.selector import Context, Prior
from repertoire.execution.resources import one_blas_thread
from repertoire.execution.workers import interrupts_blocked, worker_pool
from robots.errors import InvalidValueError
from suites.recovery.cases import Track
from suites.recovery.metrics import EARLY, measured, trials_of
from suites.recovery.replay import Case, Noise, replay

_NOISE, _SELECTOR = 0, 1  # spawn keys of the seeds
_Rows = list[dict[str, Any]]  # of the table of recoveries


@dataclass(frozen=True, eq=False)
class ReplaySetting:
    """Everything that replayed recoveries read.

    Attributes:
        prior: what the repertoire says about its controllers.
        rehearsed: the library, and the damages to recover from that it does not have.
        library: conditions of the library.
        cases: by whether there is a reality gap.
        trials: of each recovery.
        seeds: recoveries from each damage.
        noise: of a trial's objective, in addition to the variation between episodes.
        seed: from which every other derives.
    """

    prior: Prior
    rehearsed: Table
    library: tuple[str, ...]
    cases: Mapping[bool, Sequence[Case]]
    trials: int
    seeds: int
    noise: Noise
    seed: int

    def table(self, selector: str, track: Track, damage: str) -> Table | None:
        """What a selector is given of the library in a track, if a damage is the true one."""
        if not find_selector(selector).needs_table:
            return None
        return self.rehearsed.take(track.library(damage, self.library))


@dataclass(frozen=True, eq=False)
class Results:
    """What a recovery benchmark found.

    Attributes:
        robot: its name.
        tracks: that were run.
        excluded: by whether there is a reality gap, the damages without recoveries, because no controller
            scores above 0.
        recoveries: a row for each recovery of all trials, sorted by selector, damage and seed. `track` are
            the names of the tracks that share it, with spaces between: all with the same robots if the
            selector uses no library. `stop` is the number of trials after which the selector would have
            stopped, `falls` how many of all ended in a fall and `falls_10` how many of the first ten,
            `rr_1`, ... the recovery ratio of what it recommended after each trial, `gait` the row recommended
            last and `retention` its score as a share of the intact robot's oracle's. The same for all
            recoveries from a damage are `binding`, `rr_0`, `headroom`, which is the oracle's such share, and
            `oracle`, its score.
    """

    robot: str
    tracks: tuple[Track, ...]
    excluded: Mapping[bool, tuple[str, ...]]
    recoveries: pd.DataFrame

    @property
    def trials(self) -> int:
        """Number of trials of each recovery."""
        return trials_of(self.recoveries)

    @property
    def selectors(self) -> list[str]:
        """Names, in the order of the tables."""
        return list(self.recoveries["selector"].unique())

    @property
    def gaps(self) -> list[bool]:
        """Whether there is a reality gap, in the tracks that were run."""
        return sorted({track.gap for track in self.tracks})

    @property
    def main_track(self) -> Track | None:
        """The track for simulated recoveries and videos: T3, or the last one with the rehearsed robot."""
        tracks = [track for track in self.tracks if not track.gap]
        return next((track for track in tracks if track.name == "T3"), tracks[-1] if tracks else None)

    def of(self, track: Track, selector: str | None = None) -> pd.DataFrame:
        """The measured recoveries in a track, see `measured`; of all selectors, or of one."""
        found = self.recoveries[[track.name in names.split() for names in self.recoveries["track"]]]
        return measured(found if selector is None else found[found["selector"] == selector])

    def across(self, gap: bool) -> pd.DataFrame:
        """The measured recoveries with or without a reality gap.

        The column `label` holds the selector's name, followed by the track's if it has other recoveries in
        other tracks.
        """
        names = [track.name for track in self.tracks if track.gap == gap]
        found = self.recoveries[[some.split()[0] in names for some in self.recoveries["track"]]]
        shared = found["track"] == " ".join(names)
        return measured(found).assign(
            label=found["selector"].where(shared, found["selector"] + " " + found["track"])
        )


@dataclass(frozen=True)
class ReplayTask:
    """All recoveries of a selector from one case of some tracks, which share them, or of the only one."""

    tracks: tuple[Track, ...]
    selector: str
    case: int


def find_selectors(names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The names of selectors, checked; by default all that need neither the truth nor to simulate.

    Raises:
        UnknownNameError: there is no such selector.
        InvalidValueError: one simulates between trials, which tables cannot replay.
    """
    for name in names or ():
        if find_selector(name).thinks:
            raise InvalidValueError(f"{name} simulates between trials: it cannot be replayed from tables")
    known = selector_entries(thinking=False).items()
    return tuple(names or (name for name, entry in known if not entry.needs_truth))


def plan_runs(tracks: Sequence[Track], selectors: Sequence[str]) -> list[tuple[str, tuple[Track, ...]]]:
    """Every selector with the tracks that share its recoveries.

    These are all tracks with the same robots if it uses no library, and a single one otherwise.
    """
    plan: list[tuple[str, tuple[Track, ...]]] = []
    for gap in (False, True):
        same = tuple(track for track in tracks if track.gap == gap)
        for name in selectors if same else ():
            shared = [(track,) for track in same] if find_selector(name).needs_table else [same]
            plan += [(name, some) for some in shared]
    return plan


def replay_all(
    setting: ReplaySetting,
    *,
    tracks: Sequence[Track],
    selectors: Sequence[str],
    processes: int,
    on_progress: Callable[[float], None] | None = None,
) -> pd.DataFrame:
    """Run every selector in every track.

    Args:
        setting: what the recoveries read.
        tracks: to run, whose cases the setting has.
        selectors: names.
        processes: number of parallel processes; the result does not depend on it.
        on_progress: called with the share that is done, now and then.

    Returns:
        The recoveries, see `Results`.

    Raises:
        UnknownNameError: there is no such selector.
        InvalidValueError: there are fewer controllers than trials.
        SurefootError: a process died.
    """
    tasks = [
        ReplayTask(some, name, case)
        for name, some in plan_runs(tracks, selectors)
        for case in range(len(setting.cases[some[0].gap]))
    ]
    rows: _Rows = []
    with _mapping(setting, processes) as mapped:
        for done, more in enumerate(mapped(tasks), start=1):
            rows += more
            if on_progress:
                on_progress(done / len(tasks))
    return pd.DataFrame(rows)


def replay_task(setting: ReplaySetting, task: ReplayTask) -> _Rows:
    """Run the recoveries of one task.

    The noise of trials depends on the damage and the number of the recovery alone: it is the same for all
    selectors, so that they can be compared in pairs.
    """
    case = setting.cases[task.tracks[0].gap][task.case]
    table = setting.table(task.selector, task.tracks[0], case.damage)
    rows: _Rows = []
    for number in range(setting.seeds):
        noise_seed, selector_seed = (
            int(np.random.SeedSequence(setting.seed, spawn_key=(key, task.case, number)).generate_state(1)[0])
            for key in (_NOISE, _SELECTOR)
        )
        context = Context(
            setting.prior,
            trials=setting.trials,
            seed=selector_seed,
            table=table,
            truth=case.truth.objectives,
        )
        make = partial(make_selector, task.selector, context)
        one = replay(make, case.truth, seed=noise_seed, trials=setting.trials, noise=setting.noise)
        gait = int(one.recommendations[-1])
        ratios = enumerate(case.ratio(one.recommendations).tolist(), start=1)
        rows.append(
            {
                "track": " ".join(track.name for track in task.tracks),
                "selector": task.selector,
                "damage": case.damage,
                "seed": number,
                "binding": int(case.binding),
                "rr_0": case.unadapted,
                "headroom": case.oracle / case.intact,
                "oracle": case.oracle,
                "stop": one.stop,
                "falls": int(one.fell.sum()),
                f"falls_{EARLY}": int(one.fell[:EARLY].sum()),
                "gait": gait,
                "retention": case.scores[gait] / case.intact,
                **{f"rr_{trial}": ratio for trial, ratio in ratios},
            }
        )
    return rows


@contextmanager
def _mapping(
    setting: ReplaySetting, processes: int
) -> Iterator[Callable[[Sequence[ReplayTask]], Iterator[_Rows]]]:
    """Yield a function that runs tasks in parallel processes, or in this one if there is to be only one."""
    if processes == 1:
        with one_blas_thread():
            yield lambda tasks: (replay_task(setting, task) for task in tasks)
        return
    with worker_pool(processes, _prepare, setting, advice="use fewer --processes") as pool:

        def mapped(tasks: Sequence[ReplayTask]) -> Iterator[_Rows]:
            with interrupts_blocked():
                return pool.map(_work, tasks, chunksize=max(1, math.isqrt(len(tasks)) // processes))

        yield mapped


_setting: ReplaySetting | None = None


def _prepare(setting: ReplaySetting) -> None:
    """Prepare a process of the pool."""
    global _setting
    _setting = setting


def _work(task: ReplayTask) -> _Rows:
    """Run a task in a process of the pool."""
    assert _setting is not None
    with one_blas_thread():
        return replay_task(_setting, task)

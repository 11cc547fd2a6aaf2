"""`replay_all`: every selector recovers from every damage in every track, replayed in parallel processes."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from adapt.selectors.catalogue import find_selector, make_selector, selector_entries
from adapt.selectors.selector import Context
from adapt.suite.cases import Track
from adapt.suite.replay import Truth, replay
from adapt.suite.results import Case, ReplaySetting, Results, Runs, SelectorRuns, stack_runs
from repertoire.resources import one_blas_thread
from repertoire.workers import interrupts_blocked, worker_pool

_NOISE, _SELECTOR = 0, 1  # spawn keys of the seeds
_Map = Callable[[Sequence["ReplayTask"]], Iterator[Runs]]


@dataclass(frozen=True)
class ReplayTask:
    """All recoveries of a selector from one case of a track, whose library it may use."""

    track: Track
    selector: str
    case: int


def find_selectors(names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The names of selectors, checked; by default all but the oracle, which knows the truth.

    Raises:
        UnknownNameError: there is no such selector.
    """
    for name in names or ():
        find_selector(name)
    return tuple(names or (name for name, entry in selector_entries().items() if not entry.needs_truth))


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
    robot: str,
    tracks: Sequence[Track],
    selectors: Sequence[str],
    processes: int,
    on_progress: Callable[[float], None] | None = None,
) -> Results:
    """Run every selector in every track.

    Args:
        setting: what the recoveries read.
        robot: its name.
        tracks: to run, whose cases the setting has.
        selectors: names.
        processes: number of parallel processes; the result does not depend on it.
        on_progress: called with the share that is done, now and then.

    Raises:
        UnknownNameError: there is no such selector.
        InvalidValueError: there are fewer controllers than trials.
        SurefootError: a process died.
    """
    plan = plan_runs(tracks, selectors)
    tasks = [
        ReplayTask(some[0], name, case)
        for name, some in plan
        for case in range(len(setting.case_sets[some[0].gap].cases))
    ]
    parts: dict[tuple[str, str], list[Runs]] = {}
    with _mapping(setting, processes) as mapped:
        for done, (task, runs) in enumerate(zip(tasks, mapped(tasks), strict=True), start=1):
            parts.setdefault((task.track.name, task.selector), []).append(runs)
            if on_progress:
                on_progress(done / len(tasks))
    counts = {gap: sum(track.gap == gap for track in tracks) for gap in (False, True)}
    recoveries = tuple(
        SelectorRuns(
            label=name if len(some) == counts[some[0].gap] else f"{name} {some[0].name}",
            selector=name,
            tracks=some,
            runs=stack_runs(parts[some[0].name, name]),
        )
        for name, some in plan
    )
    return Results(robot, setting, recoveries, tuple(tracks), tuple(selectors))


def replay_task(setting: ReplaySetting, task: ReplayTask) -> Runs:
    """Run the recoveries of one task.

    The noise of trials depends on the damage and the number of the recovery alone: it is the same for all
    selectors, so that they can be compared in pairs.
    """
    case: Case = setting.case_sets[task.track.gap].cases[task.case]
    table = setting.table(task.track, case.damage) if find_selector(task.selector).needs_table else None
    truth = Truth.of(case.shown, case.damage)
    replays = []
    for number in range(setting.seeds):
        noise_seed, selector_seed = (
            int(np.random.SeedSequence(setting.seed, spawn_key=(key, task.case, number)).generate_state(1)[0])
            for key in (_NOISE, _SELECTOR)
        )
        context = Context(
            setting.prior, trials=setting.trials, seed=selector_seed, table=table, truth=truth.objectives
        )
        make = partial(make_selector, task.selector, context)
        replays.append(replay(make, truth, seed=noise_seed, trials=setting.trials, noise=setting.noise))
    recommended = np.stack([one.recommendations for one in replays])[None]
    return Runs(
        ratios=case.ratio(recommended),
        falls=np.stack([one.fell for one in replays])[None],
        stops=np.array([[one.stop for one in replays]]),
        recommended=recommended,
    )


@contextmanager
def _mapping(setting: ReplaySetting, processes: int) -> Iterator[_Map]:
    """Yield a function that runs tasks in parallel processes, or in this one if there is to be only one."""
    if processes == 1:
        with one_blas_thread():
            yield lambda tasks: (replay_task(setting, task) for task in tasks)
        return
    with worker_pool(processes, _prepare, setting, advice="use fewer --processes") as pool:

        def mapped(tasks: Sequence[ReplayTask]) -> Iterator[Runs]:
            with interrupts_blocked():
                return pool.map(_work, tasks, chunksize=max(1, math.isqrt(len(tasks)) // processes))

        yield mapped


_setting: ReplaySetting | None = None


def _prepare(setting: ReplaySetting) -> None:
    """Prepare a process of the pool."""
    global _setting
    _setting = setting


def _work(task: ReplayTask) -> Runs:
    """Run a task in a process of the pool."""
    assert _setting is not None
    with one_blas_thread():
        return replay_task(_setting, task)

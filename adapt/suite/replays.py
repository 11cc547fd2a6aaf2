"""`replay_all`: every selector recovers from every damage in every track, from tables, on all cores."""

import math
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np

from adapt.rehearsal.table import Table
from adapt.selectors.catalogue import find_selector, make_selector
from adapt.selectors.selector import Context, Prior
from adapt.suite.case import Case
from adapt.suite.replay import Noise, Truth, replay
from adapt.suite.results import Results, World
from adapt.suite.runs import Runs, stack_runs
from adapt.suite.schedule import Job, groups_of, origins_of
from adapt.suite.tracks import Track
from repertoire.resources import one_blas_thread
from robots.errors import SurefootError

_CASE, _CHOICES = 0, 1  # keys of the seed


@dataclass(frozen=True, eq=False)
class Arena:
    """All that recoveries need.

    Attributes:
        prior: what the repertoire says.
        rehearsed: all that is rehearsed: the library, and the damages that it lacks.
        library: conditions of the library.
        worlds: the robots that selectors face, by whether they differ from the rehearsed one.
        trials: of each recovery.
        seeds: recoveries from each damage.
        noise: of a trial's objective, beside that of its episode.
        seed: from which every other derives.
    """

    prior: Prior
    rehearsed: Table
    library: tuple[str, ...]
    worlds: Mapping[bool, World]
    trials: int
    seeds: int
    noise: Noise
    seed: int

    def table(self, track: Track, damage: str) -> Table:
        """What a selector is given of the library in a track, if the truth is some damage."""
        return self.rehearsed.take(track.library(damage, self.library))


def replay_all(
    arena: Arena,
    *,
    robot: str,
    tracks: Sequence[Track],
    selectors: Sequence[str],
    processes: int,
    on_progress: Callable[[float], None] | None = None,
) -> Results:
    """Run every selector in every track; one that needs no library runs once for all tracks of a world.

    Args:
        arena: what they need.
        robot: its name.
        tracks: to run, of worlds that there are.
        selectors: names.
        processes: recoveries at a time; the result does not depend on it.
        on_progress: told the share that is done, now and then.

    Raises:
        UnknownNameError: there is no such selector.
        InvalidValueError: there are fewer controllers than trials.
    """
    origins = origins_of(tracks, selectors)
    groups = groups_of(tracks, selectors)
    jobs = [
        Job(track, name, case) for track, name in groups for case in range(len(arena.worlds[track.gap].cases))
    ]
    parts: dict[tuple[str, str], list[Runs]] = {(track.name, name): [] for track, name in groups}
    with _mapping(arena, processes) as mapped:
        for done, (job, runs) in enumerate(zip(jobs, mapped(jobs), strict=True), start=1):
            parts[job.track.name, job.selector].append(runs)
            if on_progress:
                on_progress(done / len(jobs))
    stacked = {key: stack_runs(part) for key, part in parts.items()}
    return Results(
        robot=robot,
        worlds=arena.worlds,
        runs={key: stacked[origin.name, key[1]] for key, origin in origins.items()},
        selectors=tuple(selectors),
        trials=arena.trials,
        seeds=arena.seeds,
    )


def recover_from(arena: Arena, job: Job) -> Runs:
    """The recoveries of one job.

    The luck of trials depends on the damage and the number of the recovery alone: it is the same for all
    selectors, so that they can be compared in pairs.
    """
    case: Case = arena.worlds[job.track.gap].cases[job.case]
    table = arena.table(job.track, case.damage) if find_selector(job.selector).needs_table else None
    truth = Truth.of(case.shown, case.damage)
    replays = []
    for number in range(arena.seeds):
        luck, choices = (
            int(np.random.SeedSequence(arena.seed, spawn_key=(key, job.case, number)).generate_state(1)[0])
            for key in (_CASE, _CHOICES)
        )
        context = Context(arena.prior, trials=arena.trials, seed=choices, table=table, truth=truth.objectives)
        maker = partial(make_selector, job.selector, context)
        replays.append(replay(maker, truth, seed=luck, trials=arena.trials, noise=arena.noise))
    recommended = np.stack([one.recommendations for one in replays])[None]
    return Runs(
        ratios=case.ratio(recommended),
        falls=np.stack([one.fell for one in replays])[None],
        stops=np.array([[one.stop for one in replays]]),
        recommended=recommended,
    )


_Mapped = Callable[[Sequence[Job]], Iterator[Runs]]
_arena: Arena | None = None


@contextmanager
def _mapping(arena: Arena, processes: int) -> Iterator[_Mapped]:
    """Maps jobs to their recoveries, in processes that each hold the arena."""
    if processes == 1:
        with one_blas_thread():
            yield lambda jobs: (recover_from(arena, job) for job in jobs)
        return
    context = get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_enter, initargs=(arena,))
    try:
        yield lambda jobs: pool.map(_recover, jobs, chunksize=max(1, math.isqrt(len(jobs)) // processes))
    except BrokenProcessPool as error:
        raise SurefootError(
            "a process of the replays died, perhaps for want of memory: use fewer --processes"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _enter(arena: Arena) -> None:
    """Make a process ready: Ctrl-C is the parent's business."""
    global _arena
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _arena = arena


def _recover(job: Job) -> Runs:
    """Run a job in a process of the pool."""
    assert _arena is not None
    with one_blas_thread():
        return recover_from(_arena, job)

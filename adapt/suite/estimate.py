"""How long the replays of a benchmark take, before its tables are made."""

import time
from collections.abc import Sequence

import numpy as np

from adapt.damage import HEALTHY
from adapt.rehearsal.table import Table
from adapt.selectors.selector import Prior
from adapt.suite.case import Case
from adapt.suite.replay import Noise
from adapt.suite.replays import Arena, recover_from
from adapt.suite.results import World
from adapt.suite.schedule import Job, groups_of
from adapt.suite.tracks import TRACKS, Track

_WIDEST = next(track for track in TRACKS if track.name == "T2")  # whose library is the largest


def replay_seconds(
    prior: Prior,
    library: Table,
    *,
    tracks: Sequence[Track],
    selectors: Sequence[str],
    damages: int,
    trials: int,
    seeds: int,
    processes: int,
) -> float:
    """How long the replays will take [s], by one recovery of the healthy robot with each selector.

    Args:
        prior: what the repertoire says.
        library: what was rehearsed of it.
        tracks: to run.
        selectors: names.
        damages: how many.
        trials: of each recovery.
        seeds: recoveries from each damage.
        processes: recoveries at a time.
    """
    healthy = library.take([HEALTHY])
    scores, best = healthy.objectives[0].astype(float), int(np.argmax(prior.objectives))
    case = Case(HEALTHY, healthy, scores, best, min_objective=float(scores.min()) - 1, intact=1.0)
    world = World((case,), (), best)
    arena = Arena(prior, library, library.conditions, {False: world}, trials, 1, Noise(), 0)
    each = {}
    for name in selectors:
        recover_from(arena, Job(_WIDEST, name, 0))  # what is compiled or read first
        started = time.perf_counter()
        recover_from(arena, Job(_WIDEST, name, 0))
        each[name] = time.perf_counter() - started
    jobs = sum(each[name] for _, name in groups_of(tracks, selectors))
    return damages * seeds * jobs / processes

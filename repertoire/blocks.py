"""Long evaluations of a repertoire: work in blocks, between which it is saved and can be interrupted."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from repertoire.parallel import one_blas_thread
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError

MOST_EPISODES = 10_000
MOST_SEED = 2**63 - 1  # what a file's integers hold


class Work(Protocol):
    """Work that is done in blocks."""

    @property
    def finished(self) -> bool:
        """Whether all is done."""

    def step(self, on_finished: Callable[[int], None] | None = None) -> None:
        """Do a block, and tell how many units of work are done as they are."""

    def save(self, path: Path) -> None:
        """Write what is done to a file."""


def run_blocks(
    work: Work,
    path: Path,
    *,
    checkpoint_seconds: float,
    on_progress: Callable[[int], None] | None,
    stop: Callable[[], bool] | None,
) -> None:
    """Work until all is done or `stop` says so, saving as it goes and at the end.

    Args:
        work: what to do.
        path: of the file for what is done, replaced whole at every checkpoint.
        checkpoint_seconds: time between checkpoints [s].
        on_progress: called from other threads with the number of units done.
        stop: asked after every block.
    """
    saved_at = -math.inf  # the first block is saved at once: from then on there is something to resume
    with one_blas_thread():
        while not work.finished and not (stop and stop()):
            work.step(on_progress)
            if time.monotonic() - saved_at >= checkpoint_seconds and not work.finished:
                work.save(path)
                saved_at = time.monotonic()
    work.save(path)


def check_episodes(repertoire: Repertoire, episodes: int, seed: int) -> None:
    """Check what an evaluation of every elite in the same episodes starts from.

    Raises:
        InvalidValueError: the repertoire is empty, or a number is out of range.
    """
    if not len(repertoire):
        raise InvalidValueError("the repertoire is empty: there is nothing to evaluate")
    check_count(episodes)
    if not 0 <= seed <= MOST_SEED:
        raise InvalidValueError(f"seed must be at least 0 and at most {MOST_SEED}, not {seed}")


def check_count(episodes: int) -> None:
    """Check how many episodes each elite is to run.

    Raises:
        InvalidValueError: the number is out of range.
    """
    if not 1 <= episodes <= MOST_EPISODES:
        raise InvalidValueError(f"episodes must be at least 1 and at most {MOST_EPISODES}, not {episodes}")

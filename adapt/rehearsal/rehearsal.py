"""`Rehearsal`: every elite runs episodes under every damage, in blocks that can be interrupted between."""

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from adapt.rehearsal.samples import Samples, empty_samples, read_samples, write_samples
from adapt.rehearsal.stage import Stage
from adapt.rehearsal.storage import robot_label
from adapt.rehearsal.table import Table, tabulate
from repertoire.blocks import check_episodes, run_blocks
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from repertoire.storage.unfinished import Identity
from repertoire.storage.versions import software_versions
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds

# Episodes a thread runs in a block: seconds of work, so that neither waiting for the last nor saving weighs
_BLOCK = 64
_TIMED_CONDITIONS = 4
_TIMED_EPISODES = 4  # of each thread under each of these conditions


class Rehearsal:
    """A rehearsal under way, and what it found so far.

    Condition by condition, elite by elite in order of cell, each runs n episodes. Their seeds are the same
    for all elites and conditions ("common random numbers"), so that what sets two entries apart is not that
    one started more luckily. The result is a function of the repertoire, the conditions, n and the seed,
    whatever the threads, the blocks or the interruptions. Close it, or use it as a context, to end its
    threads.

    Args:
        repertoire: not empty; its robot walks in episodes as long as those of its training.
        conditions: texts of the damages, each another; `HEALTHY` is put first if it is missing.
        episodes: n, from 1 to `blocks.MOST_EPISODES`.
        seed: from 0 to `blocks.MOST_SEED`.
        robot: to damage in place of the repertoire's: one that differs from it as a real one does.
        threads: of the simulation; all cores by default.
        block: episodes between two chances to stop or save; 64 for each thread by default.

    Raises:
        InvalidValueError: the repertoire is empty, a condition is named twice, a damage cannot be read or
            applied, or a number is out of range.
        UnknownNameError: a damage names what the robot does not have.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        conditions: Sequence[str],
        *,
        episodes: int,
        seed: int,
        robot: Robot | None = None,
        threads: int | None = None,
        block: int | None = None,
    ) -> None:
        check_episodes(repertoire, episodes, seed)
        self._stage = Stage(repertoire, robot or repertoire.robot, conditions, threads)
        self.conditions, self.threads = self._stage.conditions, self._stage.threads
        self.episodes = episodes
        self._controllers = len(repertoire)
        self.done = 0  # episodes finished
        self._block = block or _BLOCK * self.threads
        self._seeds = derive_seeds(seed, SeedFamily.REHEARSAL, 0, episodes)
        self._samples = empty_samples(self.total, len(self._stage.evidence_names))
        self.identity: Identity = {
            "repertoire": fingerprint(repertoire),
            "robot": robot_label(self._stage.robot),
            "library": _digest(self.conditions),
            "episodes": episodes,
            "seed": seed,
            **software_versions(),
        }

    def __enter__(self) -> "Rehearsal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        self._stage.close()

    @property
    def total(self) -> int:
        """Episodes of all elites under all conditions."""
        return len(self.conditions) * self._controllers * self.episodes

    @property
    def finished(self) -> bool:
        """Whether every episode is."""
        return self.done == self.total

    def seconds_left(self) -> float:
        """How long the rest will take [s], by a few episodes under a few of the conditions."""
        each = self.total // len(self.conditions)  # episodes under one condition
        few = np.unique(np.linspace(0, len(self.conditions) - 1, _TIMED_CONDITIONS).astype(int))
        spread = np.linspace(0, each - 1, _TIMED_EPISODES * self.threads).astype(int)
        numbers = (few[:, None] * each + spread).ravel()
        self._evaluate(numbers)  # to compile, and to set up what every thread needs for each condition
        started = time.perf_counter()
        self._evaluate(numbers)
        return (time.perf_counter() - started) / len(numbers) * (self.total - self.done)

    def step(self, on_finished: Callable[[int], None] | None = None) -> None:
        """Run a block of episodes.

        Args:
            on_finished: called from other threads with the number of episodes finished, of those before this
                block too.
        """
        done = self.done
        numbers = np.arange(done, min(done + self._block, self.total))
        report = on_finished and (lambda count: on_finished(done + count))
        self._fill(self._evaluate(numbers, report))

    def run(
        self,
        path: Path,
        *,
        checkpoint_seconds: float = 30.0,
        on_progress: Callable[[int], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Run episodes until all are finished or `stop` says so, saving as it goes and at the end.

        Args:
            path: of the file for what is finished, replaced whole at every checkpoint.
            checkpoint_seconds: time between checkpoints [s].
            on_progress: called from other threads with the number of episodes finished.
            stop: asked after every block.
        """
        run_blocks(self, path, checkpoint_seconds=checkpoint_seconds, on_progress=on_progress, stop=stop)

    def save(self, path: Path) -> None:
        """Write what is finished to a file.

        Raises:
            InvalidFileError: the file cannot be written.
        """
        write_samples(path, self._samples[: self.done], self.identity)

    def restore(self, path: Path) -> None:
        """Take up what was saved.

        Raises:
            InvalidFileError: the file cannot be read, or is of another repertoire, robot, library, number of
                episodes, seed or software.
        """
        dimension = len(self._stage.evidence_names)
        saved = read_samples(path, self.identity, most=self.total, evidence_dim=dimension)
        self.done = 0
        self._fill(saved)

    def table(self) -> Table:
        """What the episodes say.

        Raises:
            RuntimeError: not all are finished.
        """
        if not self.finished:
            raise RuntimeError(f"{self.done} of {self.total} episodes are finished: tabulate when all are")
        return tabulate(
            self._samples,
            conditions=self.conditions,
            evidence_names=self._stage.evidence_names,
            episodes=self.episodes,
        )

    def _evaluate(self, numbers: np.ndarray, on_finished: Callable[[int], None] | None = None) -> Samples:
        """Run some of the episodes, which are numbered by condition, then by elite."""
        entries, episodes = np.divmod(numbers, self.episodes)
        conditions, rows = np.divmod(entries, self._controllers)
        return self._stage.evaluate(conditions, rows, self._seeds[episodes], on_finished)

    def _fill(self, block: Samples) -> None:
        """Write down the results of the next episodes."""
        part = vars(self._samples[self.done : self.done + len(block)])
        for name, values in vars(block).items():
            part[name][:] = values
        self.done += len(block)


def _digest(conditions: tuple[str, ...]) -> str:
    """A library in a few characters, to compare and to show."""
    digest = hashlib.blake2b("\n".join(conditions).encode(), digest_size=4)
    return f"{len(conditions)} conditions {digest.hexdigest()}"

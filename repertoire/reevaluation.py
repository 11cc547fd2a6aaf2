"""`Reevaluation`: every elite runs the same episodes, in blocks between which it can be interrupted."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from repertoire.blocks import check_episodes, run_blocks
from repertoire.correction import Correction, correct
from repertoire.problems import Locomotion
from repertoire.repertoire import Repertoire
from repertoire.samples import Samples, read_samples, write_samples
from repertoire.storage.repertoires import fingerprint
from repertoire.storage.unfinished import Identity
from repertoire.storage.versions import software_versions
from robots.seeds import SeedFamily, derive_seeds

# Episodes a thread runs in a block: seconds of work, so that neither waiting for the last nor saving weighs
_BLOCK = 64


class Reevaluation:
    """An evaluation of every elite under way, and what it found so far.

    Elite by elite in order of cell, each runs n episodes. Their seeds are the same for all elites ("common
    random numbers"), so that what sets two elites apart is not that one started more luckily. The result is a
    function of the repertoire, n and the seed, whatever the threads, the blocks or the interruptions.
    Close it, or use it as a context, to end its threads.

    Args:
        repertoire: not empty; it runs its robot in episodes as long as those of its training.
        episodes: n, from 1 to `blocks.MOST_EPISODES`.
        seed: from 0 to `blocks.MOST_SEED`.
        threads: of the simulation; all cores by default.
        block: episodes between two chances to stop or save; 64 for each thread by default.

    Raises:
        InvalidValueError: the repertoire is empty, or a number is out of range.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        *,
        episodes: int,
        seed: int,
        threads: int | None = None,
        block: int | None = None,
    ) -> None:
        check_episodes(repertoire, episodes, seed)
        self.repertoire = repertoire
        self.episodes = episodes
        self.seed = seed
        robot = repertoire.robot.with_episode_steps(repertoire.configuration.episode_steps)
        self.problem = Locomotion(robot, threads=threads)
        self._block = block or _BLOCK * self.problem.simulation.threads
        self._seeds = derive_seeds(seed, SeedFamily.EVALUATION, 0, episodes)
        self._samples = Samples(np.zeros(0), np.zeros((0, robot.measure_dim)))
        self._identity: Identity = {
            "repertoire": fingerprint(repertoire)[:16],  # enough to tell files apart in a message
            "episodes": episodes,
            "seed": seed,
            **software_versions(),
        }

    def __enter__(self) -> "Reevaluation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        self.problem.simulation.close()

    @property
    def total(self) -> int:
        """Episodes of all elites."""
        return len(self.repertoire) * self.episodes

    @property
    def done(self) -> int:
        """Episodes finished."""
        return len(self._samples)

    @property
    def finished(self) -> bool:
        """Whether every episode is."""
        return self.done == self.total

    def step(self, on_finished: Callable[[int], None] | None = None) -> None:
        """Run a block of episodes.

        Args:
            on_finished: called from other threads with the number of episodes finished, of those before this
                block too.
        """
        done = self.done
        pairs = np.arange(done, min(done + self._block, self.total))
        solutions = self.repertoire.elites.solutions[pairs // self.episodes]
        report = on_finished and (lambda count: on_finished(done + count))
        block = self.problem.evaluate(solutions, self._seeds[pairs % self.episodes], on_finished=report)
        self._samples = Samples(
            np.concatenate([self._samples.objectives, block.objectives]),
            np.concatenate([self._samples.measures, block.measures]),
        )

    def run(
        self,
        path: Path,
        *,
        checkpoint_seconds: float = 10.0,
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
        write_samples(path, self._samples, self._identity)

    def restore(self, path: Path) -> None:
        """Take up what was saved.

        Raises:
            InvalidFileError: the file cannot be read, or is of another repertoire, number of episodes, seed
                or software.
        """
        self._samples = read_samples(
            path, self._identity, most=self.total, measure_dim=self.repertoire.robot.measure_dim
        )

    def correction(self) -> Correction:
        """What the episodes say about the repertoire.

        Raises:
            RuntimeError: not all are finished.
        """
        if not self.finished:
            raise RuntimeError(f"{self.done} of {self.total} episodes are finished: correct when all are")
        return correct(
            self.repertoire,
            self._samples,
            episodes=self.episodes,
            seed=self.seed,
            ranges=self.problem.measure_ranges,
        )

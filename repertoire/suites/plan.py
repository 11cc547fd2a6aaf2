"""`Plan`: what a trial is to do."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from repertoire.suites.results import TrialResult

Key = tuple[str, str, int]
Tell = Callable[[float], None]


@dataclass(frozen=True)
class Plan(ABC):
    """What a trial is to do; it and the software's versions decide its result, but for the times.

    Attributes:
        domain: name of the problem.
        algorithm: name of the algorithm.
        trial: number of the trial, from 0.
        evaluations: solutions to evaluate, rounded up to whole batches.
        study_seed: from which the trial's seed derives.
    """

    domain: str
    algorithm: str
    trial: int
    evaluations: int
    study_seed: int

    @property
    def key(self) -> Key:
        """Domain, algorithm and number of the trial, by which a study knows it."""
        return self.domain, self.algorithm, self.trial

    @property
    def seed(self) -> int:
        """Seed of the run: another one for every trial of every algorithm in every domain."""
        return trial_seed(self.study_seed, self.key)

    @abstractmethod
    def run(self, tell: Tell) -> TrialResult:
        """Do it, in this process.

        Args:
            tell: told the share that is done, now and then, from any thread.
        """


def trial_seed(study_seed: int, key: Key) -> int:
    """Seed of a trial; see `Plan.seed`."""
    domain, algorithm, trial = key
    group = crc32(f"{domain}/{algorithm}".encode())
    sequence = np.random.SeedSequence(study_seed, spawn_key=(group, trial))
    return int(sequence.generate_state(1, np.uint32)[0])

"""`Suite`: what a study consists of: its cases, how a trial of one is run, and what the report says."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.threads import ONE_THREAD, Threads

Key = tuple[str, str, int]  # what is solved or recovered from, by what, and the number of the trial


class StudyTrial(Protocol):
    """What a trial is to do: a frozen record."""

    @property
    def key(self) -> Key: ...


class StudyResult(Protocol):
    """What a trial leaves behind: its key, the seed that it had, and how it went, in a line."""

    @property
    def key(self) -> Key: ...
    @property
    def seed(self) -> int: ...
    @property
    def words(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Suite(ABC):
    """What a study consists of; worker processes get it pickled.

    Attributes:
        name: of the study, for example `locomotion`.
        seed: from which every trial's seed derives.
        backend: what runs the episodes of a trial; no result depends on it.
        suffix: of the files of results.
    """

    name: str
    seed: int = 1
    backend: Backend = ONE_THREAD
    suffix: ClassVar[str]

    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What all trials in a folder have in common, see `keep_identity`."""

    @abstractmethod
    def plan(self) -> Sequence[Any]:
        """All trials, each a `StudyTrial`: the first of every case, then the second, ..."""

    @abstractmethod
    def trial_seed(self, key: Key) -> int:
        """Seed of a trial."""

    @abstractmethod
    def run(self, trial: Any, folder: Path, report: Callable[[float], None]) -> Any:
        """Run a trial of the plan in this process; returns a `StudyResult`.

        In the folder of the study it may keep what it needs next to results. From time to time `report` is
        called, from any thread, with the share that is done.
        """

    @abstractmethod
    def read(self, path: Path) -> Any:
        """Read a result; raise an InvalidFileError if it is not a sound one."""

    @abstractmethod
    def write(self, path: Path, result: Any) -> None:
        """Write a result in one step."""

    @abstractmethod
    def report(self, results: Sequence[Any], folder: Path) -> list[Path]:
        """Write the report on all finished trials to the folder of the study; returns its files."""

    def check(self) -> list[str]:
        """Raise a SurefootError if something cannot be run; return remarks that a user should know."""
        return []

    def share_cores(self, cores: int, backend: Backend | None = None) -> tuple[Self, int]:
        """The suite with what runs its episodes, and how many trials run at a time.

        If there is a trial for each core, each runs on one thread, or else one after the other on all of
        them; a backend may run the episodes in place of these cores.
        """
        together = cores if len(self.plan()) >= cores else 1
        return replace(self, backend=backend or Threads(cores // together)), together


def case_number(key: Key) -> int:
    """The number that the case of a trial ends in."""
    return int(key[0].rpartition("-")[2])


def fault_seed(seed: int, fault: int) -> int:
    """Seed of all that is about a fault of a study, from the seed of the study and the fault's number."""
    return int(derive_seeds(seed, SeedFamily.FAULT, fault, 1)[0])


def result_path(folder: Path, key: Key, suffix: str) -> Path:
    """The file of a trial's result in the folder of a study; without the suffix it is its working folder."""
    case, method, number = key
    return folder / "trials" / case / f"{method}-{number:02d}{suffix}"

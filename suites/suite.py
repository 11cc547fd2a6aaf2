"""`Suite`: what a study consists of: its cases, how a trial of one is run, and what the report says."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

from robots.errors import UnknownNameError
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.threads import ONE_THREAD, Threads
from robots.words import duration
from suites.videos import Video

Key = tuple[str, str, int]  # what is solved or recovered from, by what, and the number of the trial


class Named(Protocol):
    """What is chosen by its name."""

    @property
    def name(self) -> str: ...  # noqa: D102


_Named = TypeVar("_Named", bound=Named)


def choose(kind: str, listed: Sequence[_Named], names: Sequence[str]) -> tuple[_Named, ...]:
    """Those of some names, in the order in which they are listed."""
    check_names(kind, names, [one.name for one in listed])
    return tuple(one for one in listed if one.name in names)


def check_names(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise an UnknownNameError if a name is not known; the kind says what it is the name of."""
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known)


class StudyTrial(Protocol):
    """What a trial is to do: a frozen record."""

    @property
    def key(self) -> Key: ...  # noqa: D102


class StudyResult(Protocol):
    """What a trial leaves behind: its key, the seed that it had, and how it went, in a line."""

    @property
    def key(self) -> Key: ...  # noqa: D102
    @property
    def seed(self) -> int: ...  # noqa: D102
    @property
    def words(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Estimate:
    """How long some of the work will take [s], and on what that is based."""

    work: str
    seconds: float
    basis: str

    def __str__(self) -> str:
        return f"{self.work}, about {duration(self.seconds)} ({self.basis})"


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
    def estimate(
        self, remaining: Sequence[Any], results: Sequence[Any], processes: int
    ) -> Iterator[Estimate]:
        """Estimate how long trials take, so many at a time, also by the results of finished ones."""

    @abstractmethod
    def report(self, results: Sequence[Any], folder: Path) -> list[Path]:
        """Write the report on all finished trials to the folder of the study; returns its files.

        See `Study.report`, which keeps other processes from writing it at the same time.
        """

    def videos(self, results: Sequence[Any], folder: Path) -> list[Video]:
        """The videos of all finished trials that the report lists, as far as they can be filmed."""
        return []

    def check(self) -> list[str]:
        """Raise a SurefootError if something cannot be run; return remarks that a user should know."""
        return []

    def share_cores(
        self, parallel: str | None, cores: int, backend: Backend | None = None
    ) -> tuple[Self, int]:
        """Decide how trials share the cores: several with one thread each, or one on all of them.

        Args:
            parallel: `trials` or `episodes`, what runs in parallel; None for trials if there is one per core.
            cores: to use.
            backend: what runs the episodes of all trials in place of these cores.

        Returns:
            The suite with its backend, and the number of trials at a time.
        """
        if parallel is None:
            parallel = "trials" if len(self.plan()) >= cores else "episodes"
        together = cores if parallel == "trials" else 1
        return replace(self, backend=backend or Threads(cores // together)), together


def fault_seed(seed: int, fault: int) -> int:
    """Seed of all that is about a fault of a study, from the seed of the study and the fault's number."""
    return int(derive_seeds(seed, SeedFamily.FAULT, fault, 1)[0])


def result_path(folder: Path, key: Key, suffix: str) -> Path:
    """The file of a trial's result in the folder of a study; without the suffix it is its working folder."""
    case, method, number = key
    return folder / "trials" / case / f"{method}-{number:02d}{suffix}"

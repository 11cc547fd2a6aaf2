"""`Study`: many trials in a folder, run in parallel processes, of which finished ones are never run again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from repertoire.suites.claim import claim
from repertoire.suites.files import read_trial, write_trial
from repertoire.suites.plan import Key, Plan, trial_seed
from repertoire.suites.progress import StudyProgress
from repertoire.suites.results import TrialResult
from repertoire.suites.runner import TrialPlan
from repertoire.suites.workers import Workers
from robots.errors import InvalidFileError
from robots.files import file_exists, make_folder


class Agenda(Protocol):
    """What a study needs to know of its settings."""

    @property
    def seed(self) -> int:
        """From which every trial's seed derives."""

    @property
    def identity(self) -> Mapping[str, object]:
        """What all trials in a folder have in common; a mapping in it says that of each domain by itself."""

    def plans(self) -> Sequence[Plan]:
        """All trials, in the order in which they are to be run."""


def trial_folder(folder: Path, key: Key) -> Path:
    """Where a trial of a study works; its result lies beside that folder, and ends in `.h5`."""
    domain, algorithm, trial = key
    return folder / "trials" / domain / f"{algorithm}-{trial:02d}"


@dataclass(frozen=True)
class StudySettings:
    """What decides the results of a study.

    Attributes:
        name: of the study, e.g. `optimization`.
        algorithms: names, in the order of the tables.
        domains: names, in the order of the tables.
        trials: of each algorithm in each domain.
        evaluations: of each trial.
        seed: from which every trial's seed derives.
    """

    name: str
    algorithms: tuple[str, ...]
    domains: tuple[str, ...]
    trials: int
    evaluations: int
    seed: int

    @property
    def identity(self) -> Mapping[str, object]:
        """See `Agenda`."""
        return {"study": self.name, "evaluations": self.evaluations, "seed": self.seed}

    def plans(self) -> list[TrialPlan]:
        """All trials, the first of everything before the second of anything."""
        return [
            TrialPlan(domain, algorithm, trial, self.evaluations, self.seed)
            for trial in range(self.trials)
            for domain in self.domains
            for algorithm in self.algorithms
        ]


class Study:
    """A study in a folder: `study.json` says what it is, `trials/` holds what is done.

    Args:
        settings: what to run. A folder may be used again with more or fewer trials, algorithms or domains.
        folder: made if it is missing.
        dry: whether only to look at the folder, and to make and write nothing; such a study cannot be run.

    Raises:
        InvalidValueError: the folder holds a study of another configuration.
        InvalidFileError: the folder cannot be made or read.
    """

    def __init__(self, settings: Agenda, folder: Path, *, dry: bool = False) -> None:
        self.settings = settings
        self.folder = folder
        claim(folder, settings.identity, dry=dry)

    def results(self) -> list[TrialResult]:
        """The finished trials among those that the settings ask for.

        Raises:
            InvalidFileError: a trial's file is damaged, or holds another trial.
        """
        return [self._read(self._path(plan.key)) for plan in self.settings.plans() if self._finished(plan)]

    def found(self) -> list[TrialResult]:
        """All finished trials in the folder, whichever settings asked for them.

        Raises:
            InvalidFileError: a trial's file is damaged, or holds another trial.
        """
        paths = sorted((self.folder / "trials").glob("*/[!.]*.h5"))
        return [self._read(path) for path in paths]

    def waiting(self) -> list[Plan]:
        """The trials that are not finished.

        Raises:
            InvalidFileError: the folder cannot be read.
        """
        return [plan for plan in self.settings.plans() if not self._finished(plan)]

    def run(
        self,
        *,
        processes: int,
        on_progress: Callable[[StudyProgress], None] | None = None,
    ) -> None:
        """Run what is not done yet; what finishes is kept whatever happens then.

        Args:
            processes: trials at a time.
            on_progress: called about twice a second.

        Raises:
            SurefootError: a trial cannot be run, or its process died.
            InvalidFileError: a result cannot be saved.
        """
        waiting = self.waiting()
        progress = StudyProgress(self.settings.plans(), processes)
        for result in self.results():
            progress.finish(result)
        progress.last = None
        if waiting:
            Workers(processes).run(waiting, self._save, progress, on_progress or (lambda _: None))

    def _finished(self, plan: Plan) -> bool:
        return file_exists(self._path(plan.key))

    def _read(self, path: Path) -> TrialResult:
        """Read a result; raises if it is that of another trial than the file's name says."""
        result = read_trial(path)
        key = result.domain, result.algorithm, result.trial
        if self._path(key) != path or result.seed != trial_seed(self.settings.seed, key):
            raise InvalidFileError(f"{path} holds another trial: remove it, and it is run again")
        return result

    def _save(self, result: TrialResult) -> None:
        path = self._path((result.domain, result.algorithm, result.trial))
        make_folder(path.parent)
        write_trial(path, result)

    def _path(self, key: Key) -> Path:
        place = trial_folder(self.folder, key)
        return place.with_name(f"{place.name}.h5")  # a name may have a dot of its own

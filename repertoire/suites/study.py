"""`Study`: many trials in a folder, run in parallel processes; finished trials are never run again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from repertoire.evaluation import check_episodes
from repertoire.suites.files import keep_identity, read_trial, write_trial
from repertoire.suites.results import Key, TrialResult
from repertoire.suites.trial import Trial, trial_seed
from repertoire.suites.workers import StudyProgress, Workers
from robots.errors import InvalidFileError
from robots.files import file_exists, make_folder, write_text
from robots.locks import locked
from robots.robot import load_robot

_IGNORED = "# Working folders of trials are large and can be made again; results lie next to them.\n*/*/\n"


@dataclass(frozen=True)
class Variant:
    """An algorithm under the name that it has in a study.

    Attributes:
        name: in tables and files.
        method: name of the algorithm.
        learning_rate: of the archive's thresholds; None for the algorithm's or the problem's own.
    """

    name: str
    method: str
    learning_rate: float | None = None


@dataclass(frozen=True)
class StudySettings:
    """What decides the results of a study, and how its trials share the machine.

    Attributes:
        name: of the study, for example `locomotion`.
        variants: of algorithms, in the order of the tables.
        evaluations: of each trial by domain, in the order of the tables.
        trials: of each variant in each domain.
        seed: from which every trial's seed derives.
        rule: how thresholds are updated within a batch.
        episodes: of each elite, for the correction of trials with robots; 0 for benchmarks.
        episode_steps: limit of an episode [control steps]; None for each robot's own.
        threads: of each trial.
    """

    name: str
    variants: tuple[Variant, ...]
    evaluations: Mapping[str, int]
    trials: int
    seed: int = 1
    rule: Literal["sequential", "batch"] = "sequential"
    episodes: int = 0
    episode_steps: int | None = None
    threads: int = 1

    def identity(self) -> dict[str, Any]:
        """Return what all trials in a folder have in common; a mapping says that of each domain by itself."""
        evaluations = dict(self.evaluations)
        common = {"study": self.name, "seed": self.seed}
        if not self.episodes:
            return common | {"evaluations": evaluations}
        return common | {
            "episodes": self.episodes,
            "evaluations": evaluations,
            "episode_steps": {name: self._steps_of(name) for name in evaluations},
            "min_objective": {name: load_robot(name).description.min_objective.value for name in evaluations},
        }

    def plan(self, folder: Path) -> list[Trial]:
        """Return all trials: the first of every variant in every domain, then the second, and so on.

        Args:
            folder: of the study.
        """
        return [
            Trial(
                domain=domain,
                algorithm=variant.name,
                number=number,
                method=variant.method,
                learning_rate=variant.learning_rate,
                rule=self.rule,
                evaluations=evaluations,
                episodes=self.episodes,
                episode_steps=self._steps_of(domain),
                study_seed=self.seed,
                folder=trial_folder(folder, (domain, variant.name, number)),
                threads=self.threads,
            )
            for number in range(self.trials)
            for domain, evaluations in self.evaluations.items()
            for variant in self.variants
        ]

    def check(self) -> list[str]:
        """Find what cannot be run before anything is, and return remarks that a user should know.

        Raises:
            UnknownNameError: there is no such domain or algorithm.
            InvalidValueError: a setting is wrong, or an algorithm does not suit a domain.
        """
        if self.episodes:
            check_episodes(self.episodes)
        remarks: dict[str, None] = {}
        for trial in replace(self, trials=1, threads=1).plan(Path()):
            with trial.training() as training:
                remarks |= dict.fromkeys(training.remarks)
        return list(remarks)

    def share_cores(self, parallel: str | None, cores: int) -> tuple["StudySettings", int]:
        """Decide how trials share the cores: several with one thread each, or one on all of them.

        Args:
            parallel: `trials` or `episodes`, what runs in parallel; None for trials if there is one per core.
            cores: to use.

        Returns:
            The settings with their threads, and the number of trials at a time.
        """
        if parallel is None:
            number = self.trials * len(self.evaluations) * len(self.variants)
            parallel = "trials" if number >= cores or not self.episodes else "episodes"
        return (self, cores) if parallel == "trials" else (replace(self, threads=cores), 1)

    def _steps_of(self, domain: str) -> int | None:
        """Return the limit of an episode [control steps]; None where there are no episodes."""
        if not self.episodes:
            return None
        own = load_robot(domain).description.episode_steps
        return self.episode_steps or own


class Study:
    """A study in a folder: `study.json` describes it, `trials/` holds the results of finished trials.

    Args:
        settings: what to run. A folder may be used again with more or fewer trials, algorithms or domains.
        folder: made if it is missing.
        dry: whether only to look at the folder, and to write nothing; such a study cannot be run.

    Raises:
        InvalidValueError: the folder holds a study of other settings.
        InvalidFileError: the folder cannot be made or read.
    """

    def __init__(self, settings: StudySettings, folder: Path, *, dry: bool = False) -> None:
        self.settings = settings
        self.folder = folder
        self.trials = settings.plan(folder)
        keep_identity(folder, settings.identity(), dry=dry)
        ignored = folder / "trials" / ".gitignore"
        if settings.episodes and not dry and not file_exists(ignored):
            make_folder(ignored.parent)
            write_text(ignored, _IGNORED)

    def results(self) -> list[TrialResult]:
        """Return the finished trials among those of the settings.

        Raises:
            InvalidFileError: a trial's file is damaged, or holds another trial.
        """
        return [self._read(_result_path(trial)) for trial in self.trials if _is_finished(trial)]

    def all_results(self) -> list[TrialResult]:
        """Return all finished trials in the folder, also of earlier settings.

        Raises:
            InvalidFileError: a trial's file is damaged, or holds another trial.
        """
        return [self._read(path) for path in sorted((self.folder / "trials").glob("*/[!.]*.h5"))]

    def remaining(self) -> list[Trial]:
        """Return the trials that are not finished.

        Raises:
            InvalidFileError: the folder cannot be read.
        """
        return [trial for trial in self.trials if not _is_finished(trial)]

    def run(self, *, processes: int, on_progress: Callable[[StudyProgress], None] | None = None) -> None:
        """Run the trials that are not finished; results are saved one by one, whatever happens then.

        Args:
            processes: trials at a time.
            on_progress: called about twice a second.

        Raises:
            SurefootError: a trial cannot be run, or its process died.
            InvalidFileError: a result cannot be saved.
            InUseError: another process runs a study in the folder.
        """
        with locked(self.folder):
            progress = StudyProgress(self.trials, processes)
            for result in self.results():
                progress.finish(result)
            progress.last = None
            remaining = self.remaining()
            if remaining:
                Workers(processes).run(remaining, self._save, progress, on_progress or (lambda _: None))

    def _read(self, path: Path) -> TrialResult:
        """Read a result; raise if it is that of another trial than the file's name says."""
        result = read_trial(path)
        own = _with_suffix(trial_folder(self.folder, result.key))
        if own != path or result.seed != trial_seed(self.settings.seed, result.key):
            raise InvalidFileError(f"{path} holds another trial: remove it to run the trial again")
        return result

    def _save(self, result: TrialResult) -> None:
        path = _with_suffix(trial_folder(self.folder, result.key))
        make_folder(path.parent)
        write_trial(path, result)


def trial_folder(folder: Path, key: Key) -> Path:
    """Return the working folder of a trial of a study; its result lies next to it, with the suffix `.h5`."""
    domain, algorithm, number = key
    return folder / "trials" / domain / f"{algorithm}-{number:02d}"


def _with_suffix(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.h5")  # a name may contain a dot


def _result_path(trial: Trial) -> Path:
    return _with_suffix(trial.folder)


def _is_finished(trial: Trial) -> bool:
    return file_exists(_result_path(trial))

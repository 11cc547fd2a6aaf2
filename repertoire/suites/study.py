"""`Study`: many trials in a folder, run in parallel processes; finished trials are never run again."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any, Literal

from repertoire.algorithms import ALGORITHMS
from repertoire.evaluation import check_episodes
from repertoire.suites.files import keep_identity, read_trial, write_trial
from repertoire.suites.published import PublishedStudy
from repertoire.suites.results import Key, TrialResult
from repertoire.suites.trial import Trial, trial_seed
from repertoire.workers import interrupts_blocked, worker_pool
from robots.errors import InvalidFileError, InvalidValueError
from robots.files import file_exists, make_folder, write_text
from robots.locks import locked
from robots.robot import load_robot

_REPORT_SECONDS = 0.5
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


@dataclass
class StudyProgress:
    """How far a study is.

    Attributes:
        trials: number of all trials.
        ended: trials that are done, including those of earlier commands.
        running: share done of each trial that runs.
        last: result of the trial that finished last.
    """

    trials: int
    ended: set[Key]
    running: dict[Key, float] = field(default_factory=dict)
    last: TrialResult | None = None

    @property
    def done(self) -> float:
        """Number of trials done, where a running trial counts with its share."""
        return len(self.ended) + sum(self.running.values())

    def update(self, key: Key, share: float) -> None:
        """Note how far a trial is; a message may arrive after its trial has finished."""
        if key not in self.ended:
            self.running[key] = share

    def finish(self, result: TrialResult) -> None:
        """Note a trial's result."""
        self.running.pop(result.key, None)
        self.ended.add(result.key)
        self.last = result


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
        return [self._read(_result_path(trial.folder)) for trial in self.trials if _is_finished(trial)]

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
            progress = StudyProgress(len(self.trials), {result.key for result in self.results()})
            remaining = self.remaining()
            if remaining:
                self._run(remaining, processes, progress, on_progress or (lambda _: None))

    def _run(
        self,
        trials: Sequence[Trial],
        processes: int,
        progress: StudyProgress,
        on_progress: Callable[[StudyProgress], None],
    ) -> None:
        """Run trials, and save each result as soon as it is there."""
        shares: Queue[tuple[Key, float]] = get_context("spawn").Queue()
        advice = "finished trials are saved, and the same command runs the others"
        with worker_pool(processes, _prepare, shares, advice=advice) as pool:
            with interrupts_blocked():
                pending = {pool.submit(_work, trial) for trial in trials}
            while pending:
                done, pending = wait(pending, timeout=_REPORT_SECONDS, return_when=FIRST_COMPLETED)
                while not shares.empty():
                    progress.update(*shares.get())
                # results first: a process that died must not discard what others finished at the same time
                for future in sorted(done, key=lambda future: future.exception() is not None):
                    result = future.result()
                    self._save(result)
                    progress.finish(result)
                    on_progress(progress)
                on_progress(progress)

    def _read(self, path: Path) -> TrialResult:
        """Read a result; raise if it is that of another trial than the file's name says."""
        result = read_trial(path)
        own = _result_path(trial_folder(self.folder, result.key))
        if own != path or result.seed != trial_seed(self.settings.seed, result.key):
            raise InvalidFileError(f"{path} holds another trial: remove it to run the trial again")
        return result

    def _save(self, result: TrialResult) -> None:
        path = _result_path(trial_folder(self.folder, result.key))
        make_folder(path.parent)
        write_trial(path, result)


def paper_settings(
    published: PublishedStudy,
    *,
    domains: Sequence[str] | None = None,
    variants: Sequence[Variant] | None = None,
    evaluations: Mapping[str, int] | None = None,
    trials: int | None = None,
    episodes: int | None = None,
    episode_steps: int | None = None,
    seed: int = 1,
) -> StudySettings:
    """Return the settings of a published study; what is None is as in the paper.

    Args:
        published: the study.
        domains: benchmark problems or robots.
        variants: of algorithms; those of the paper that are available by default.
        evaluations: of each trial by domain, rounded up to whole batches; "" stands for all others.
        trials: of each variant in each domain.
        episodes: of each elite, for the correction.
        episode_steps: limit of an episode [control steps]; each robot's own by default.
        seed: from which every trial's seed derives.

    Raises:
        InvalidValueError: evaluations are given for a domain that is not among the domains.
    """
    budgets, chosen = evaluations or {}, tuple(domains or published.domains)
    for name in budgets:
        if name and name not in chosen:
            raise InvalidValueError(
                f"evaluations are given for {name}, which is not among {', '.join(chosen)}"
            )
    default = budgets.get("", published.evaluations)
    rates = published.learning_rates
    own = learning_rate_variants(rates) if rates else algorithm_variants(published, published.available)
    return StudySettings(
        name=published.name,
        variants=tuple(variants or own),
        evaluations={name: budgets.get(name, default) for name in chosen},
        trials=published.trials if trials is None else trials,
        seed=seed,
        rule=published.rule,
        episodes=published.episodes if episodes is None else episodes,
        episode_steps=episode_steps,
    )


def algorithm_variants(published: PublishedStudy, algorithms: Iterable[str]) -> tuple[Variant, ...]:
    """Return algorithms with their own settings.

    Raises:
        InvalidValueError: an algorithm is one of the paper's that is not available.
    """
    for name in algorithms:
        if name in published.unavailable and name not in ALGORITHMS:
            raise InvalidValueError(
                f"{name} cannot be run: {published.unavailable[name]}; of the paper's algorithms these can: "
                f"{', '.join(published.available)}"
            )
    return tuple(Variant(name, name) for name in algorithms)


def learning_rate_variants(learning_rates: Iterable[float]) -> tuple[Variant, ...]:
    """Return sep-CMA-MAE with each of some archive learning rates, named for example `alpha-0.001`."""
    return tuple(
        Variant(f"alpha-{rate!r}".removesuffix(".0"), "sep-cma-mae", rate) for rate in learning_rates
    )


def trial_folder(folder: Path, key: Key) -> Path:
    """Return the working folder of a trial of a study; its result lies next to it, with the suffix `.h5`."""
    domain, algorithm, number = key
    return folder / "trials" / domain / f"{algorithm}-{number:02d}"


def _result_path(folder: Path) -> Path:
    """Return the file of the result of the trial that works in a folder, whose name may contain a dot."""
    return folder.with_name(f"{folder.name}.h5")


def _is_finished(trial: Trial) -> bool:
    return file_exists(_result_path(trial.folder))


_shares: "Queue[tuple[Key, float]] | None" = (
    None  # of a worker process, to tell its parent how far trials are
)


def _prepare(shares: "Queue[tuple[Key, float]]") -> None:
    """Prepare a worker process."""
    global _shares
    _shares = shares


def _work(trial: Trial) -> TrialResult:
    """Run a trial in a worker process."""
    assert _shares is not None
    shares, reported = _shares, 0.0

    def report(share: float) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _REPORT_SECONDS:
            reported = time.monotonic()
            shares.put((trial.key, share))

    report(0.0)
    return trial.run(report)

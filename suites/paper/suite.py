"""`PaperSuite`: a study of algorithms like those of the paper, by default what the paper ran."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.evaluation.evaluator import check_episodes
from robots.errors import InvalidValueError
from robots.robot import load_robot
from robots.simulation.backend import Backend
from suites.paper.analysis import Analysis
from suites.paper.estimate import estimate
from suites.paper.published import PublishedStudy, published_study
from suites.paper.report import write_report
from suites.paper.results import TrialResult, read_trial, write_trial
from suites.paper.trial import PaperTrial, trial_seed
from suites.paper.videos import study_videos
from suites.suite import Estimate, Key, Suite, result_path
from suites.videos import Video


@dataclass(frozen=True)
class Variant:
    """An algorithm under the name that it has in a study, with its settings that are not the defaults."""

    name: str
    method: str
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PaperSuite(Suite):
    """Variants of algorithms in domains, which are benchmark problems or robots.

    Attributes:
        variants: of algorithms, in the order of the tables.
        evaluations: of each trial by domain, in the order of the tables.
        trials: of each variant in each domain.
        common: settings of all algorithms that have them, as in the paper.
        options: further ones, which make this another study.
        episodes: of each elite, for the correction of trials with robots; 0 for benchmarks.
        episode_steps: limit of an episode [control steps]; None for each robot's own.
    """

    variants: tuple[Variant, ...]
    evaluations: Mapping[str, int]
    trials: int
    common: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    episodes: int = 0
    episode_steps: int | None = None
    suffix: ClassVar[str] = ".h5"

    def identity(self) -> dict[str, Any]:
        """What all trials in a folder have in common; a mapping says that of each domain by itself."""
        evaluations = dict(self.evaluations)
        common = {"study": self.name, "seed": self.seed, **self.options}
        if not self.episodes:
            return common | {"evaluations": evaluations}
        return common | {
            "episodes": self.episodes,
            "evaluations": evaluations,
            "episode_steps": {name: self._steps_of(name) for name in evaluations},
            "min_objective": {name: load_robot(name).description.min_objective.value for name in evaluations},
        }

    def plan(self) -> list[PaperTrial]:
        """All trials: the first of every variant in every domain, then the second, and so on."""
        return [
            PaperTrial(
                domain=domain,
                algorithm=variant.name,
                number=number,
                method=variant.method,
                settings=self._settings_of(variant),
                options=", ".join(f"{name} {value}" for name, value in self.options.items()),
                evaluations=evaluations,
                episodes=self.episodes,
                episode_steps=self._steps_of(domain),
                study_seed=self.seed,
            )
            for number in range(self.trials)
            for domain, evaluations in self.evaluations.items()
            for variant in self.variants
        ]

    def check(self) -> list[str]:
        """Refuse what cannot be run."""
        if self.episodes:
            check_episodes(self.episodes)
        for trial in replace(self, trials=1).plan():
            trial.training(self.backend).close()
        return []

    def trial_seed(self, key: Key) -> int:
        """Seed of a trial: a different one for every trial of every algorithm in every domain."""
        return trial_seed(self.seed, key)

    def run(self, trial: PaperTrial, folder: Path, report: Callable[[float], None]) -> TrialResult:
        """Run a trial; one with a correction goes on from its last checkpoint."""
        return trial.run(result_path(folder, trial.key, ""), report, self.backend)

    def read(self, path: Path) -> TrialResult:
        """Read a result."""
        return read_trial(path)

    def write(self, path: Path, result: TrialResult) -> None:
        """Write a result."""
        write_trial(path, result)

    def estimate(
        self, remaining: Sequence[PaperTrial], results: Sequence[TrialResult], processes: int
    ) -> Iterator[Estimate]:
        """Estimate how long the trials of each domain will take."""
        return estimate(remaining, results, processes, self.backend)

    def report(self, results: Sequence[TrialResult], folder: Path) -> list[Path]:
        """Write tables, tests and verdicts next to the paper's."""
        return write_report(Analysis(results, published_study(self.name)), folder)

    def videos(self, results: Sequence[TrialResult], folder: Path) -> list[Video]:
        """Videos of the median trial of each algorithm with each robot."""
        return study_videos(Analysis(results, published_study(self.name)), folder)

    def share_cores(
        self, parallel: str | None, cores: int, backend: Backend | None = None
    ) -> tuple["PaperSuite", int]:
        """See `Suite.share_cores`; benchmark problems make no use of threads."""
        return super().share_cores(parallel if self.episodes else "trials", cores, backend)

    def _settings_of(self, variant: Variant) -> dict[str, object]:
        """Return the settings of a variant that are not the defaults."""
        known = ALGORITHMS.find(variant.method).own_settings()
        shared = {**self.common, **self.options}
        return {name: value for name, value in shared.items() if name in known} | dict(variant.settings)

    def _steps_of(self, domain: str) -> int | None:
        """Return the limit of an episode [control steps]; None where there are no episodes."""
        if not self.episodes:
            return None
        own = load_robot(domain).description.episode_steps  # there must be such a robot in any case
        return self.episode_steps or own


def paper_suite(
    published: PublishedStudy,
    *,
    domains: Sequence[str] | None = None,
    evaluations: Mapping[str, int] | None = None,
    **changes: Any,
) -> PaperSuite:
    """Return a published study; what is None is as in the paper.

    Args:
        published: the study.
        domains: benchmark problems or robots.
        evaluations: of each trial by domain, rounded up to whole batches; "" stands for all others.
        **changes: other attributes of `PaperSuite`.
    """
    budgets, chosen = evaluations or {}, tuple(domains or published.domains)
    for name in set(budgets).difference(chosen, [""]):
        raise InvalidValueError(f"evaluations are given for {name}, which is not among {', '.join(chosen)}")
    rates = published.learning_rates
    attributes: dict[str, Any] = {
        "name": published.name,
        "variants": learning_rate_variants(rates) if rates else algorithm_variants(published.algorithms),
        "evaluations": {name: budgets.get(name, budgets.get("", published.evaluations)) for name in chosen},
        "trials": published.trials,
        "common": published.settings,
        "episodes": published.episodes,
    }
    return PaperSuite(**attributes | {name: value for name, value in changes.items() if value is not None})


def algorithm_variants(algorithms: Iterable[str]) -> tuple[Variant, ...]:
    """Return algorithms with their own settings."""
    return tuple(Variant(name, name) for name in algorithms)


def learning_rate_variants(learning_rates: Iterable[float]) -> tuple[Variant, ...]:
    """Return sep-CMA-MAE with each of some archive learning rates, named for example `alpha-0.001`."""
    return tuple(
        Variant(f"alpha-{rate!r}".removesuffix(".0"), "sep-cma-mae", {"learning_rate": rate})
        for rate in learning_rates
    )

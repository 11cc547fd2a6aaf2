"""`PaperSuite`: a study of algorithms like those of the paper, by default what the paper ran."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar
from zlib import crc32

import numpy as np

from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.evaluation.evaluator import check_episodes
from robots.errors import InvalidValueError
from robots.robot import load_robot
from robots.simulation.backend import Backend
from suites.paper.analysis import Analysis
from suites.paper.published import PublishedStudy, published_study
from suites.paper.report import write_report
from suites.paper.results import TrialResult, read_trial, write_trial
from suites.paper.trial import PaperTrial
from suites.suite import Key, Suite, result_path


@dataclass(frozen=True)
class Variant:
    """An algorithm under the name that it has in a study, with its settings that are not the defaults."""

    name: str
    method: str
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PaperSuite(Suite):
    """Variants of algorithms in domains, which are benchmark problems or robots."""

    variants: tuple[Variant, ...]  # of algorithms, in the order of the tables
    evaluations: Mapping[str, int]  # of each trial by domain, in the order of the tables
    trials: int  # of each variant in each domain
    # settings of all algorithms that have them, as in the paper
    common: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)  # further ones, which make this another study
    episodes: int = 0  # of each elite, for the correction of trials with robots; 0 for benchmarks
    episode_steps: int | None = None  # limit of an episode [control steps]; None for each robot's own
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
                seed=self.trial_seed((domain, variant.name, number)),
            )
            for number in range(self.trials)
            for domain, evaluations in self.evaluations.items()
            for variant in self.variants
        ]

    def check(self) -> list[str]:
        if self.episodes:
            check_episodes(self.episodes)
        for trial in replace(self, trials=1).plan():
            trial.training(self.backend)
        return []

    def trial_seed(self, key: Key) -> int:
        """Seed of a trial: a different one for every trial of every algorithm in every domain."""
        domain, algorithm, number = key
        group = crc32(f"{domain}/{algorithm}".encode())
        sequence = np.random.SeedSequence(self.seed, spawn_key=(group, number))
        return int(sequence.generate_state(1, np.uint32)[0])

    def run(self, trial: PaperTrial, folder: Path, report: Callable[[float], None]) -> TrialResult:
        """Run a trial; one with a correction goes on from its last checkpoint."""
        return trial.run(result_path(folder, trial.key, ""), report, self.backend)

    def read(self, path: Path) -> TrialResult:
        return read_trial(path)

    def write(self, path: Path, result: TrialResult) -> None:
        write_trial(path, result)

    def report(self, results: Sequence[TrialResult], folder: Path) -> list[Path]:
        return write_report(Analysis(results, published_study(self.name)), folder)

    def share_cores(self, cores: int, backend: Backend | None = None) -> tuple["PaperSuite", int]:
        """See `Suite.share_cores`; benchmark problems make no use of threads."""
        return super().share_cores(cores, backend) if self.episodes else (self, cores)

    def _settings_of(self, variant: Variant) -> dict[str, object]:
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
    """Return a published study with changes; what is None is as in the paper.

    In `evaluations`, of each trial by domain, "" stands for all others.
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

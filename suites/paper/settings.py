"""`StudySettings`: what a study runs, by default what the paper ran."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repertoire.algorithms.catalogue import find_algorithm
from repertoire.evaluation.evaluator import check_episodes
from robots.errors import InvalidValueError
from robots.robot import load_robot
from suites.paper.published import PublishedStudy
from suites.paper.trial import Trial


@dataclass(frozen=True)
class Variant:
    """An algorithm under the name that it has in a study, with its settings that are not the defaults."""

    name: str
    method: str
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class StudySettings:
    """What decides the results of a study, and how its trials share the machine.

    Attributes:
        name: of the study, for example `locomotion`.
        variants: of algorithms, in the order of the tables.
        evaluations: of each trial by domain, in the order of the tables.
        trials: of each variant in each domain.
        seed: from which every trial's seed derives.
        common: settings of all algorithms that have them, as in the paper.
        options: further ones, which make this another study.
        episodes: of each elite, for the correction of trials with robots; 0 for benchmarks.
        episode_steps: limit of an episode [control steps]; None for each robot's own.
        threads: of each trial.
    """

    name: str
    variants: tuple[Variant, ...]
    evaluations: Mapping[str, int]
    trials: int
    seed: int = 1
    common: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    episodes: int = 0
    episode_steps: int | None = None
    threads: int = 1

    def identity(self) -> dict[str, Any]:
        """Return what all trials in a folder have in common; a mapping says that of each domain by itself."""
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
                settings=self._settings_of(variant),
                options=", ".join(f"{name} {value}" for name, value in self.options.items()),
                evaluations=evaluations,
                episodes=self.episodes,
                episode_steps=self._steps_of(domain),
                study_seed=self.seed,
                study_folder=folder,
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

    def _settings_of(self, variant: Variant) -> dict[str, object]:
        """Return the settings of a variant that are not the defaults."""
        known = find_algorithm(variant.method).own_settings()
        shared = {**self.common, **self.options}
        return {name: value for name, value in shared.items() if name in known} | dict(variant.settings)

    def _steps_of(self, domain: str) -> int | None:
        """Return the limit of an episode [control steps]; None where there are no episodes."""
        if not self.episodes:
            return None
        own = load_robot(domain).description.episode_steps  # there must be such a robot in any case
        return self.episode_steps or own


def paper_settings(
    published: PublishedStudy,
    *,
    domains: Sequence[str] | None = None,
    variants: Sequence[Variant] | None = None,
    evaluations: Mapping[str, int] | None = None,
    trials: int | None = None,
    episodes: int | None = None,
    episode_steps: int | None = None,
    options: Mapping[str, object] | None = None,
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
        options: settings of algorithms that the paper does not have, for those that know them.
        seed: from which every trial's seed derives.

    Raises:
        InvalidValueError: evaluations are given for a domain that is not among the domains.
    """
    budgets, chosen = evaluations or {}, tuple(domains or published.domains)
    for name in set(budgets).difference(chosen, [""]):
        raise InvalidValueError(f"evaluations are given for {name}, which is not among {', '.join(chosen)}")
    rates = published.learning_rates
    own = learning_rate_variants(rates) if rates else algorithm_variants(published.algorithms)
    return StudySettings(
        name=published.name,
        variants=tuple(variants or own),
        evaluations={name: budgets.get(name, budgets.get("", published.evaluations)) for name in chosen},
        trials=published.trials if trials is None else trials,
        seed=seed,
        common=published.settings,
        options=options or {},
        episodes=published.episodes if episodes is None else episodes,
        episode_steps=episode_steps,
    )


def algorithm_variants(algorithms: Iterable[str]) -> tuple[Variant, ...]:
    """Return algorithms with their own settings."""
    return tuple(Variant(name, name) for name in algorithms)


def learning_rate_variants(learning_rates: Iterable[float]) -> tuple[Variant, ...]:
    """Return sep-CMA-MAE with each of some archive learning rates, named for example `alpha-0.001`."""
    return tuple(
        Variant(f"alpha-{rate!r}".removesuffix(".0"), "sep-cma-mae", {"learning_rate": rate})
        for rate in learning_rates
    )

"""The studies of Tjanaka et al. 2023: what each runs by default, and how it is reported."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repertoire.algorithms import ALGORITHMS
from repertoire.suites.figures import draw_learning_rates
from repertoire.suites.published import PublishedStudy, published_study
from repertoire.suites.report import heading, picture
from repertoire.suites.results import StudyResults, TrialResult, collect_results
from repertoire.suites.study import StudySettings, Variant
from repertoire.suites.study_report import write_report
from repertoire.suites.videos import videos_section
from robots.errors import InvalidValueError
from robots.files import make_folder


@dataclass(frozen=True)
class PaperStudy:
    """A study of the paper.

    Attributes:
        name: as on the command line.
        variants: of algorithms that run by default, in the order of the tables.
        rule: how thresholds are updated within a batch.
        episodes: of each elite by default, for the correction; 0 for the benchmarks.
        compares_learning_rates: whether the report has a picture of QD score over the learning rate.
    """

    name: str
    variants: tuple[Variant, ...]
    rule: Literal["sequential", "batch"] = "sequential"
    episodes: int = 0
    compares_learning_rates: bool = False

    @property
    def published(self) -> PublishedStudy:
        """What the paper reports of it."""
        return published_study(self.name)

    def settings(
        self,
        *,
        domains: Sequence[str] | None = None,
        variants: Sequence[Variant] | None = None,
        evaluations: Mapping[str, int] | None = None,
        trials: int | None = None,
        episodes: int | None = None,
        episode_steps: int | None = None,
        seed: int = 1,
    ) -> StudySettings:
        """Return the settings of the study; what is None is as in the paper.

        Args:
            domains: benchmark problems or robots.
            variants: of algorithms.
            evaluations: of each trial by domain, rounded up to whole batches; "" stands for all others.
            trials: of each variant in each domain.
            episodes: of each elite, for the correction.
            episode_steps: limit of an episode [control steps]; each robot's own by default.
            seed: from which every trial's seed derives.

        Raises:
            InvalidValueError: evaluations are given for a domain that is not among the domains.
        """
        published, budgets = self.published, evaluations or {}
        chosen = published.domains if domains is None else tuple(domains)
        for name in budgets:
            if name and name not in chosen:
                raise InvalidValueError(
                    f"evaluations are given for {name}, which is not among {', '.join(chosen)}"
                )
        default = budgets.get("", published.evaluations)
        return StudySettings(
            name=self.name,
            variants=self.variants if variants is None else tuple(variants),
            evaluations={name: budgets.get(name, default) for name in chosen},
            trials=published.trials if trials is None else trials,
            seed=seed,
            rule=self.rule,
            episodes=self.episodes if episodes is None else episodes,
            episode_steps=episode_steps,
        )

    def algorithm_variants(self, algorithms: Iterable[str]) -> tuple[Variant, ...]:
        """Return algorithms with their own settings.

        Raises:
            InvalidValueError: an algorithm is one of the paper's that is not available.
        """
        unavailable = self.published.unavailable
        for name in algorithms:
            if name in unavailable and name not in ALGORITHMS:
                available = (one for one in self.published.algorithms if one not in unavailable)
                raise InvalidValueError(
                    f"{name} cannot be run: {unavailable[name]}; of the paper's algorithms these can: "
                    f"{', '.join(available)}"
                )
        return tuple(Variant(name, name) for name in algorithms)

    def collect(self, results: Iterable[TrialResult]) -> StudyResults:
        """Put results in order, next to the paper's.

        Raises:
            InvalidValueError: there are none.
        """
        return collect_results(results, self.published)

    def report(self, results: StudyResults, folder: Path) -> list[Path]:
        """Write the report of what is done to the folder of the study; returns its files.

        Raises:
            InvalidFileError: the report cannot be written.
        """
        make_folder(folder)
        extras, pictures = videos_section(folder), []
        if self.compares_learning_rates:
            pictures.append(folder / "learning_rates.png")
            draw_learning_rates(results, pictures[0])
            caption = (
                "Corrected QD score over the archive learning rate, mean over trials and its 95% confidence "
                "interval. Dashed, on the axis to the right: the paper's means."
            )
            extras += [heading("Learning rates", 3), picture(pictures[0], caption)]
        return [*write_report(results, folder, extras=extras), *pictures]


def learning_rate_variants(learning_rates: Iterable[float]) -> tuple[Variant, ...]:
    """Return sep-CMA-MAE with each of some archive learning rates, named for example `alpha-0.001`."""
    return tuple(
        Variant(f"alpha-{rate!r}".removesuffix(".0"), "sep-cma-mae", rate) for rate in learning_rates
    )


def _default_variants(name: str) -> tuple[Variant, ...]:
    """Return the paper's algorithms that are available."""
    published = published_study(name)
    return tuple(Variant(one, one) for one in published.algorithms if one not in published.unavailable)


# "batch" is the rule of pyribs, with which the paper ran the benchmarks
OPTIMIZATION = PaperStudy("optimization", _default_variants("optimization"), rule="batch")
LOCOMOTION = PaperStudy("locomotion", _default_variants("locomotion"), episodes=10)
ABLATION = PaperStudy(
    "ablation",
    learning_rate_variants((0.0, 0.001, 0.01, 0.1, 1.0)),
    episodes=10,
    compares_learning_rates=True,
)

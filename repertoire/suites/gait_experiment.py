"""`GaitExperiment`: one of the paper's studies that train robots, by what it varies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repertoire.suites.document import Block, Picture
from repertoire.suites.gait_report import write_gait_report
from repertoire.suites.gait_result import GaitResult
from repertoire.suites.gait_study import GaitSettings, Variant
from repertoire.suites.published import PublishedStudy
from repertoire.suites.trials import Trials, collect_trials
from robots.files import make_folder

EPISODES = 10
Illustrate = Callable[[Trials, Path], Sequence[Block]]


@dataclass(frozen=True)
class GaitExperiment:
    """What a study runs unless it is told otherwise, and how it is reported.

    Attributes:
        name: of the study.
        title: of its report.
        published: what the paper reports of it.
        variants: of algorithms, in the order of the tables.
        illustrate: makes further blocks of the report, their pictures in the folder that it is given.
    """

    name: str
    title: str
    published: PublishedStudy
    variants: tuple[Variant, ...]
    illustrate: Illustrate | None = None

    def settings(
        self,
        folder: Path,
        evaluations: Mapping[str, int],
        *,
        variants: Sequence[Variant] | None = None,
        trials: int | None = None,
        episodes: int = EPISODES,
        seed: int = 1,
        episode_steps: int | None = None,
    ) -> GaitSettings:
        """Settings of the study.

        Args:
            folder: of the study.
            evaluations: of each trial by robot, rounded up to whole batches.
            variants: fewer or others.
            trials: of each variant with each robot; as many as in the paper by default.
            episodes: of each elite, for the correction.
            seed: from which every trial's seed derives.
            episode_steps: control steps an episode has at most; each robot's own by default.
        """
        chosen = self.variants if variants is None else tuple(variants)
        count = self.published.trials if trials is None else trials
        return GaitSettings(self.name, folder, chosen, evaluations, count, episodes, seed, episode_steps)

    def collect(self, results: Sequence[GaitResult]) -> Trials:
        """Put results beside the paper's.

        Raises:
            InvalidValueError: there are none.
        """
        return collect_trials(results, self.published)

    def report(self, trials: Trials, folder: Path) -> list[Path]:
        """Write the report of what is done, beside the trials; returns its files.

        Raises:
            InvalidFileError: the report cannot be written.
        """
        make_folder(folder)
        extras = self.illustrate(trials, folder) if self.illustrate else ()
        pictures = [block.path for block in extras if isinstance(block, Picture)]
        return [*write_gait_report(trials, folder, title=self.title, extras=extras), *pictures]

"""`GaitExperiment`: one of the paper's studies that train robots, by what it varies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repertoire.suites.figures import draw_learning_rates
from repertoire.suites.gait_study import GaitSettings, Variant
from repertoire.suites.gait_videos import FOLDER, read_index
from repertoire.suites.published import PublishedStudy, published_study
from repertoire.suites.report import bullets, heading, paragraph, picture
from repertoire.suites.results import StudyResults, TrialResult, collect_results
from repertoire.suites.study_report import write_report
from robots.files import make_folder

EPISODES = 10


@dataclass(frozen=True)
class GaitExperiment:
    """What a study runs by default, and how it is reported.

    Attributes:
        name: of the study.
        variants: of algorithms, in the order of the tables.
        compares_learning_rates: whether the report has a picture of QD score over the learning rate.
    """

    name: str
    variants: tuple[Variant, ...]
    compares_learning_rates: bool = False

    @property
    def published(self) -> PublishedStudy:
        """What the paper reports of it."""
        return published_study(self.name)

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
        """Return the settings of the study.

        Args:
            folder: of the study.
            evaluations: of each trial by robot, rounded up to whole batches.
            variants: fewer or others.
            trials: of each variant with each robot; as many as in the paper by default.
            episodes: of each elite, for the correction.
            seed: from which every trial's seed derives.
            episode_steps: limit of an episode [control steps]; each robot's own by default.
        """
        chosen = self.variants if variants is None else tuple(variants)
        count = self.published.trials if trials is None else trials
        return GaitSettings(self.name, folder, chosen, evaluations, count, episodes, seed, episode_steps)

    def collect(self, results: Sequence[TrialResult]) -> StudyResults:
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
        extras, pictures = _videos(folder), []
        if self.compares_learning_rates:
            pictures.append(folder / "learning_rates.png")
            draw_learning_rates(results, pictures[0])
            caption = (
                "Corrected QD score over the archive learning rate, mean over trials and its 95% confidence "
                "interval. Dashed, on the axis to the right: the paper's means."
            )
            extras += [heading("Learning rates", 3), picture(pictures[0], caption)]
        return [*write_report(results, folder, extras=extras), *pictures]


def _videos(folder: Path) -> list[str]:
    """Return the section that lists the videos of a study, if there are any."""
    index = read_index(folder)
    if not index:
        return []
    return [
        heading("Videos", 3),
        paragraph(
            f"{FOLDER}/ has a video for each robot and algorithm. It shows the best corrected gait in each "
            "of nine regions of the measure space, of the trial with the median QD score. A single measure "
            "is divided into nine intervals, from left to right and then from top to bottom. Of two or more "
            "measures the first two are divided into three intervals each; the first increases to the right, "
            "the second upwards. Each tile shows the gait's measures and its objective; a grey tile has no "
            "gait."
        ),
        bullets(f"{FOLDER}/{name}: {label}" for name, label in sorted(index.items())),
    ]

"""The paper's ablation: sep-CMA-MAE with several archive learning rates (Tjanaka et al. 2023, Sec. V)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from repertoire.suites.document import Heading, Picture
from repertoire.suites.gait_report import write_gait_report
from repertoire.suites.gait_result import GaitResult
from repertoire.suites.gait_study import GaitSettings, Variant
from repertoire.suites.learning_rates import draw_learning_rates
from repertoire.suites.published_ablation import ABLATION, LEARNING_RATES, variant_name
from repertoire.suites.trials import Trials, collect_trials
from robots.atomic import make_folder

NAME = "ablation"
ALGORITHM = "sep-cma-mae"
ROBOTS = ABLATION.domains
TRIALS = ABLATION.trials
EVALUATIONS = ABLATION.evaluations
EPISODES = 10


def ablation_settings(
    folder: Path,
    evaluations: Mapping[str, int],
    *,
    learning_rates: Sequence[float] = LEARNING_RATES,
    trials: int = TRIALS,
    episodes: int = EPISODES,
    seed: int = 1,
    episode_steps: int | None = None,
) -> GaitSettings:
    """Settings of the study.

    Args:
        folder: of the study.
        evaluations: of each trial by robot, rounded up to whole batches.
        learning_rates: of the archive's thresholds.
        trials: of each learning rate with each robot.
        episodes: of each elite, for the correction.
        seed: from which every trial's seed derives.
        episode_steps: control steps an episode has at most; each robot's own by default.
    """
    variants = tuple(Variant(variant_name(rate), ALGORITHM, rate) for rate in learning_rates)
    return GaitSettings(NAME, folder, variants, evaluations, trials, episodes, seed, episode_steps)


def collect_ablation(results: Sequence[GaitResult]) -> Trials:
    """Put results beside the paper's.

    Raises:
        InvalidValueError: there are none.
    """
    return collect_trials(results, ABLATION)


def report_ablation(trials: Trials, folder: Path) -> list[Path]:
    """Write the report of what is done, beside the trials; returns its files.

    Raises:
        InvalidFileError: the report cannot be written.
    """
    make_folder(folder)
    picture = folder / "learning_rates.png"
    draw_learning_rates(trials, picture)
    caption = (
        "Corrected QD score over the archive learning rate: mean over trials and its 95% interval. Dashed, "
        "on the axis to the right: the paper's means."
    )
    extras = [Heading("Learning rates", 3), Picture(picture, caption)]
    title = "Archive learning rates in sep-CMA-MAE"
    return [*write_gait_report(trials, folder, title=title, extras=extras), picture]

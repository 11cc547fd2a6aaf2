"""The paper's study of high-dimensional controllers: algorithms x robots (Tjanaka et al. 2023, Sec. V)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from repertoire.algorithms import ALGORITHMS as KNOWN
from repertoire.suites.gait_report import write_gait_report
from repertoire.suites.gait_result import GaitResult
from repertoire.suites.gait_study import GaitSettings, Variant
from repertoire.suites.published_locomotion import LOCOMOTION
from repertoire.suites.trials import Trials, collect_trials
from robots.errors import InvalidValueError

NAME = "locomotion"
ALGORITHMS = tuple(name for name in LOCOMOTION.algorithms if name not in LOCOMOTION.unavailable)
ROBOTS = LOCOMOTION.domains
TRIALS = LOCOMOTION.trials
EVALUATIONS = LOCOMOTION.evaluations
EPISODES = 10


def locomotion_settings(
    folder: Path,
    evaluations: Mapping[str, int],
    *,
    algorithms: Sequence[str] = ALGORITHMS,
    trials: int = TRIALS,
    episodes: int = EPISODES,
    seed: int = 1,
    episode_steps: int | None = None,
) -> GaitSettings:
    """Settings of the study.

    Args:
        folder: of the study.
        evaluations: of each trial by robot, rounded up to whole batches.
        algorithms: names.
        trials: of each algorithm with each robot.
        episodes: of each elite, for the correction.
        seed: from which every trial's seed derives.
        episode_steps: control steps an episode has at most; each robot's own by default.

    Raises:
        InvalidValueError: an algorithm is one of the paper's that is not available.
    """
    for name in algorithms:
        if name in LOCOMOTION.unavailable and name not in KNOWN:
            raise InvalidValueError(
                f"{name} cannot be run: {LOCOMOTION.unavailable[name]}; of the paper's algorithms these can: "
                f"{', '.join(ALGORITHMS)}"
            )
    variants = tuple(Variant(name, name) for name in algorithms)
    return GaitSettings(NAME, folder, variants, evaluations, trials, episodes, seed, episode_steps)


def collect_locomotion(results: Sequence[GaitResult]) -> Trials:
    """Put results beside the paper's.

    Raises:
        InvalidValueError: there are none.
    """
    return collect_trials(results, LOCOMOTION)


def report_locomotion(trials: Trials, folder: Path) -> list[Path]:
    """Write the report of what is done, beside the trials; returns its files.

    Raises:
        InvalidFileError: the report cannot be written.
    """
    return write_gait_report(trials, folder, title="Training high-dimensional controllers")

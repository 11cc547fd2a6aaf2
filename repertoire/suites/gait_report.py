"""The report of a study that trains robots."""

from collections.abc import Sequence
from pathlib import Path

from repertoire.suites.document import Block, Bullets, Heading, Paragraph
from repertoire.suites.gait_result import GaitResult
from repertoire.suites.gait_videos import FOLDER, read_index
from repertoire.suites.losses import loss_blocks
from repertoire.suites.report import write_report
from repertoire.suites.trials import Trials

_SETTINGS = (
    "Settings are the paper's. The CMA-MAE variants have 5 emitters of 40 solutions each, initial step size "
    "0.02, archive learning rate 0.001 unless a table says otherwise, and thresholds that move with every "
    "solution; map-elites has batches of 100 and step size 0.02; cma-mega-es and me-es take 200 evaluations "
    "an iteration. An evaluation is one episode."
)
_CORRECTED = ("qd_score", "coverage", "best")


def write_gait_report(
    trials: Trials, folder: Path, *, title: str, extras: Sequence[Block] = ()
) -> list[Path]:
    """Write a report, see `write_report`, with what correction took away and which videos there are.

    Args:
        trials: of the study; results are of the kind `GaitResult`.
        folder: of the study.
        title: of the report.
        extras: further blocks after these.

    Returns:
        The files.

    Raises:
        InvalidFileError: the folder cannot be written to.
    """
    metrics = [
        metric for metric in trials.published.metrics if metric.field in ("qd_score", "coverage", "best")
    ]
    blocks = [*loss_blocks(trials, metrics), *_videos(folder), *extras]
    return write_report(trials, folder, title=title, notes=_notes(trials), extras=blocks)


def _notes(trials: Trials) -> list[str]:
    """How the study was run."""
    results = [one for one in trials.results if isinstance(one, GaitResult)]
    machines = "; ".join(sorted({one.machine for one in results}))
    threads = ", ".join(str(number) for number in sorted({one.threads for one in results}))
    versions = "; ".join(sorted({one.versions for one in results}))
    episodes = ", ".join(str(number) for number in sorted({one.episodes for one in results}))
    return [
        f"Trials ran on: {machines}; threads of each: {threads}. Trained with {versions}.",
        _SETTINGS,
        f"Corrected by {episodes} episodes of every elite, the same for all elites of an archive. QD scores "
        f"count from the minimum objective of each robot's description: {_floors(results)}.",
    ]


def _floors(results: Sequence[GaitResult]) -> str:
    """The minimum objectives that were used, by robot."""
    found = {(one.domain, one.min_objective): one.episode_steps for one in results}
    return ", ".join(
        f"{robot} {floor:,.2f} (episodes of up to {steps:,} control steps)"
        for (robot, floor), steps in found.items()
    )


def _videos(folder: Path) -> list[Block]:
    """Which videos there are."""
    index = read_index(folder)
    if not index:
        return []
    return [
        Heading("Videos", 3),
        Paragraph(
            f"In {FOLDER}/, a video for each robot and algorithm: the best corrected gait at nine places of "
            "the measure space, of the trial with the median QD score. A single measure is cut into nine "
            "intervals, from left to right and then from top to bottom; of two or more the first two are cut "
            "into three each, the first growing to the right, the second upwards. Each tile tells the gait's "
            "measures and its objective; a grey one has no gait."
        ),
        Bullets(tuple(f"{FOLDER}/{name}: {label}" for name, label in sorted(index.items()))),
    ]

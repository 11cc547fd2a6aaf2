"""Videos of the recoveries that gained most: the incumbent and the new gait, side by side."""

from collections.abc import Callable

from robots.deployment.film import film_next_to_each_other
from robots.files.atomic import make_folder
from suites.recovery.recoveries import Results
from suites.recovery.study import RecoveryStudy

_FOLDER = "videos"
_SELECTOR = "rehearsed"
_SEED = 0
_SECONDS = 5.0


def film_best(
    study: RecoveryStudy, results: Results, count: int, *, say: Callable[[str], object] = lambda _: None
) -> list[str]:
    """Film the recoveries that gained most: five seconds of the same episode with either controller.

    The recoveries are the median ones from each damage, in the `main_track`, by `rehearsed` or, if that was
    not run, by the first selector.

    Args:
        study: whose robot it is; the videos go to `videos/` in its folder.
        results: of the study.
        count: of videos, at most; there are none if no track has the rehearsed robot.
        say: called with a line for each video.

    Returns:
        A line for each video: its file and what it shows.

    Raises:
        InvalidFileError: a video cannot be written.
        RenderingError: frames cannot be drawn, or a video cannot be encoded, on this machine.
    """
    track, repertoire, settings = results.main_track, study.repertoire, study.settings
    if track is None:
        return []
    make_folder(study.folder / _FOLDER)
    lines, last = [], f"rr_{results.trials}"
    runs = results.of(track, _SELECTOR if _SELECTOR in results.selectors else results.selectors[0])
    ranked = [own.sort_values(last, kind="stable") for _, own in runs.groupby("damage", sort=False)]
    medians = [own.iloc[(len(own) - 1) // 2] for own in ranked]
    gained_most = sorted(medians, key=lambda run: run["rr_0"] - run[last])[:count]
    for number, run in enumerate(gained_most, start=1):
        name = f"{_FOLDER}/{repertoire.robot.name}-{number}.mp4"
        damaged = settings.damages[settings.texts.index(run["damage"])].apply(repertoire.robot)
        rows = {"before": repertoire.best(), "after": run["gait"]}
        gaits = {caption: repertoire.elites.solutions[row] for caption, row in rows.items()}
        film_next_to_each_other(damaged, gaits, seconds=_SECONDS, seed=_SEED, video=study.folder / name)
        lines.append(
            f"{name}: {run['damage']}, recovery ratio {run['rr_0']:.2f} without adaptation and "
            f"{run[last]:.2f} with the gait that was found"
        )
        say(f"filmed {study.folder / name}")
    return lines

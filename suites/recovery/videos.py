"""Videos of the recoveries that gained most: the incumbent and the new gait, side by side."""

from functools import partial
from pathlib import Path

from adapt.damage.text import parse_damage
from repertoire.repertoire import Repertoire
from robots.deployment.film import film_next_to_each_other
from suites.recovery.table import Results
from suites.videos import Video

_COUNT = 3
_SEED = 0
_SECONDS = 5.0


def recovery_videos(results: Results, repertoire: Repertoire) -> list[Video]:
    """The three recoveries that gained most: five seconds of the same episode with either gait.

    They are the median ones from each damage in the last track that has the rehearsed robot; none if there is
    no such track.
    """
    tracks = [track for track in results.tracks if not track.gap]
    if not tracks or results.recoveries.empty:
        return []
    runs, last = results.of(tracks[-1]), f"rr_{results.trials}"
    name = results.subject
    known = runs[(runs["selector"] == name) & ~runs["refined"]]  # no file holds gaits that were refined
    ranked = [own.sort_values(last, kind="stable") for _, own in known.groupby("damage", sort=False)]
    medians = [own.iloc[(len(own) - 1) // 2] for own in ranked]
    best = sorted(medians, key=lambda run: run["rr_0"] - run[last])[:_COUNT]
    return [
        Video(
            f"{results.robot}-{number}.mp4",
            f"{run['damage']}, recovery ratio {run['rr_0']:.2f} without adaptation and {run[last]:.2f} with "
            f"the gait that {name} found",
            partial(_film, repertoire, run["damage"], int(run["gait"])),
        )
        for number, run in enumerate(best, start=1)
    ]


def _film(repertoire: Repertoire, damage: str, gait: int, path: Path) -> None:
    """Film the incumbent and another gait on a damaged robot."""
    damaged = parse_damage(damage, repertoire.robot).apply(repertoire.robot)
    rows = {"before": repertoire.best(), "after": gait}
    gaits = {caption: repertoire.gaits.solutions[row] for caption, row in rows.items()}
    film_next_to_each_other(damaged, gaits, seconds=_SECONDS, seed=_SEED, video=path)

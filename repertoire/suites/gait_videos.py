"""Videos of a study that trains robots: of each algorithm and robot, nine gaits of the median trial."""

import json
from collections.abc import Callable
from pathlib import Path

from repertoire.storage.repertoires import read_repertoire
from repertoire.suites.gait_trial import CORRECTED
from repertoire.suites.results import StudyResults
from repertoire.suites.study import trial_folder
from repertoire.suites.video_grid import film_places
from robots.files import file_exists, make_folder, write_text

FOLDER = "videos"
_INDEX = "videos.json"


def film_trials(results: StudyResults, folder: Path, *, say: Callable[[str], object]) -> None:
    """Film what a study's trials learned, into `videos/`, unless the same is filmed there already.

    Of each algorithm and robot it is the trial with the median QD score, if its corrected repertoire is still
    there.

    Args:
        results: of the study.
        folder: of the study.
        say: told of each video.

    Raises:
        InvalidFileError: a repertoire cannot be read, or a video cannot be written.
        RenderingError: frames cannot be drawn, or a video cannot be encoded, on this machine.
    """
    make_folder(folder / FOLDER)
    index = read_index(folder)
    for domain in results.domains:
        for algorithm in results.algorithms_in(domain):
            shown = results.median_trial(domain, algorithm)
            source = trial_folder(folder, (domain, algorithm, shown.trial)) / CORRECTED
            name, label = f"{domain}-{algorithm}.mp4", f"trial {shown.trial}, seed {shown.seed}"
            path = folder / FOLDER / name
            if not file_exists(source) or (index.get(name) == label and file_exists(path)):
                continue
            film_places(read_repertoire(source), path)
            index[name] = label
            write_text(folder / FOLDER / _INDEX, json.dumps(index, indent=2, sort_keys=True) + "\n")
            say(f"filmed {path}")


def read_index(folder: Path) -> dict[str, str]:
    """Which trial each video of a study shows, by the video's name; none where that cannot be read."""
    try:
        found = json.loads((folder / FOLDER / _INDEX).read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}

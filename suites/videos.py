"""Videos of a study: filmed if they are missing, and listed in `videos/videos.json` of its folder."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from robots.errors import SurefootError
from robots.files.atomic import file_exists, make_folder, write_text
from robots.files.texts import read_json
from suites.markdown import bullets

FOLDER = "videos"
_INDEX = "videos.json"


@dataclass(frozen=True)
class Video:
    """A video that a report lists.

    Attributes:
        name: of the file.
        label: what it shows, in words; a video of another label is filmed anew.
        film: writes it to a path.
    """

    name: str
    label: str
    film: Callable[[Path], object]


def missing_videos(videos: Sequence[Video], folder: Path) -> list[Video]:
    """Those that the folder of a study does not have."""
    index = read_index(folder)
    return [
        one
        for one in videos
        if index.get(one.name) != one.label or not file_exists(folder / FOLDER / one.name)
    ]


def film_videos(videos: Sequence[Video], folder: Path, on_filmed: Callable[[int], None]) -> None:
    """Film videos, and enter each in the list of the study in a folder.

    Args:
        videos: to film.
        folder: of the study.
        on_filmed: called with the number of videos done.
    """
    make_folder(folder / FOLDER)
    for number, one in enumerate(videos, start=1):
        one.film(folder / FOLDER / one.name)
        index = read_index(folder) | {one.name: one.label}
        write_text(folder / FOLDER / _INDEX, json.dumps(index, indent=2, sort_keys=True) + "\n")
        on_filmed(number)


def read_index(folder: Path) -> dict[str, str]:
    """What each video of a study shows, by its name; empty where that cannot be read."""
    try:
        found = read_json(folder / FOLDER / _INDEX)
    except SurefootError:
        return {}
    return found if isinstance(found, dict) else {}


def videos_list(folder: Path) -> str:
    """The videos of a study as a list in Markdown; empty if there are none."""
    return bullets(f"{FOLDER}/{name}: {label}" for name, label in sorted(read_index(folder).items()))

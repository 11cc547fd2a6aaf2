"""What has to run: `Job`, and which selectors and tracks have recoveries of their own."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapt.selectors.catalogue import find_selector, selector_entries
from adapt.suite.tracks import Track


@dataclass(frozen=True)
class Job:
    """The recoveries of a selector from a damage in a track, whose table it may look into."""

    track: Track
    selector: str
    case: int


def find_selectors(names: Sequence[str] | None) -> tuple[str, ...]:
    """The names of selectors that exist; by default all but the oracle, which has nothing to find.

    Raises:
        UnknownNameError: there is no such selector.
    """
    for name in names or ():
        find_selector(name)
    return tuple(names or (name for name in selector_entries() if name != "oracle"))


def groups_of(tracks: Sequence[Track], selectors: Sequence[str]) -> list[tuple[Track, str]]:
    """Every track and selector that has recoveries of its own."""
    origins = origins_of(tracks, selectors)
    return list(dict.fromkeys((origin, name) for (_, name), origin in origins.items()))


def origins_of(tracks: Sequence[Track], selectors: Sequence[str]) -> dict[tuple[str, str], Track]:
    """In which track the recoveries of a track and selector are run."""
    return {
        (track.name, name): track if find_selector(name).needs_table else _first_of_world(track, tracks)
        for track in tracks
        for name in selectors
    }


def _first_of_world(track: Track, tracks: Sequence[Track]) -> Track:
    """The first of the tracks with the same robots."""
    return next(other for other in tracks if other.gap == track.gap)

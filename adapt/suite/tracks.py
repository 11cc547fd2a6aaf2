"""`Track`: what a selector knows before the first trial, and whether its robot is the one it was told of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adapt.damage import HEALTHY
from adapt.damage.library import LIMB_LOSS, family
from robots.errors import UnknownNameError

Choose = Callable[[str, Sequence[str]], list[str]]


@dataclass(frozen=True)
class Track:
    """A way to put selectors to the test.

    Attributes:
        name: short, e.g. `T3`.
        title: in words.
        gap: whether the robot differs from the rehearsed one, see `randomised`.
        choose: which conditions a selector is given, by the true damage and the conditions of the library.
    """

    name: str
    title: str
    gap: bool
    choose: Choose

    def library(self, damage: str, rehearsed: Sequence[str]) -> tuple[str, ...]:
        """Conditions that a selector is given; the healthy one is always there, and first.

        Args:
            damage: the true one.
            rehearsed: the conditions of the library.
        """
        chosen = self.choose(damage, rehearsed)
        return (HEALTHY, *(text for text in chosen if text != HEALTHY))


def _nothing(_: str, __: Sequence[str]) -> list[str]:
    return []


def _everything(_: str, rehearsed: Sequence[str]) -> list[str]:
    return list(rehearsed)


def _with_it(damage: str, rehearsed: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*rehearsed, damage)))


def _without_it(damage: str, rehearsed: Sequence[str]) -> list[str]:
    return [text for text in rehearsed if text != damage]


def _without_family(damage: str, rehearsed: Sequence[str]) -> list[str]:
    return [text for text in rehearsed if not family(text) & family(damage)]


def _without_limb_loss(_: str, rehearsed: Sequence[str]) -> list[str]:
    return [text for text in rehearsed if not family(text) & LIMB_LOSS]


TRACKS = (
    Track("T0", "no library, only the healthy robot was rehearsed", False, _nothing),
    Track("T1", "reality gap, the robot differs from the rehearsed one", True, _everything),
    Track(
        "T1-family", "reality gap, and the library lacks every damage of its family", True, _without_family
    ),
    Track("T2", "anticipated, the library holds the damage", False, _with_it),
    Track("T3-damage", "the library lacks the damage", False, _without_it),
    Track("T3", "the library lacks every damage of its family", False, _without_family),
    Track("T3-limb", "the library holds no limb loss", False, _without_limb_loss),
)


def find_tracks(names: Sequence[str]) -> tuple[Track, ...]:
    """The tracks of some names, in the order of `TRACKS`.

    Raises:
        UnknownNameError: there is no such track.
    """
    known = [track.name for track in TRACKS]
    for name in names:
        if name not in known:
            raise UnknownNameError("track", name, known)
    return tuple(track for track in TRACKS if track.name in names)

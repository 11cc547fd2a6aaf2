"""`Results`: everything that a recovery benchmark found."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adapt.suite.case import Case
from adapt.suite.metrics import BINDING, Metric
from adapt.suite.runs import Runs
from adapt.suite.summaries import Summary
from adapt.suite.targets import Scope
from adapt.suite.tracks import TRACKS, Track


@dataclass(frozen=True, eq=False)
class World:
    """The robots that selectors face: those that were rehearsed, or those that differ from them.

    Attributes:
        cases: the damages, one robot each, d of them.
        hopeless: damages that are no case, since no controller gets anywhere.
        in_use: row of the controller that the healthy robot walked with: the best by the prior.
    """

    cases: tuple[Case, ...]
    hopeless: tuple[str, ...]
    in_use: int

    @cached_property
    def unadapted(self) -> np.ndarray:
        """Recovery ratio without any adaptation, RR_0, (d,)."""
        return np.array([float(case.ratio(self.in_use)) for case in self.cases])

    @cached_property
    def binding(self) -> np.ndarray:
        """Damages that ask for adaptation, those with RR_0 below 0.9, (d,) bool."""
        return self.unadapted < BINDING

    def scope(self, scope: Scope) -> np.ndarray:
        """Which damages count, (d,) bool."""
        return self.binding if scope == "binding" else np.ones(len(self.cases), np.bool_)


@dataclass(frozen=True, eq=False)
class Contender:
    """A selector with recoveries of its own, in the tracks in which they count.

    Attributes:
        label: the selector's name, with a track's if it has other recoveries in other tracks.
        selector: its name.
        tracks: all with the same robots.
        runs: its recoveries.
    """

    label: str
    selector: str
    tracks: tuple[Track, ...]
    runs: Runs


@dataclass(frozen=True, eq=False)
class Results:
    """What a recovery benchmark found.

    Attributes:
        robot: its name.
        worlds: by whether the robot differs from the rehearsed one.
        runs: of each track and selector, over the cases of the track's world.
        selectors: names, in the order of the tables.
        trials: of each recovery.
        seeds: recoveries from each damage.
    """

    robot: str
    worlds: Mapping[bool, World]
    runs: Mapping[tuple[str, str], Runs]
    selectors: tuple[str, ...]
    trials: int
    seeds: int

    @property
    def tracks(self) -> list[Track]:
        """Those that ran."""
        ran = {name for name, _ in self.runs}
        return [track for track in TRACKS if track.name in ran]

    @property
    def gaps(self) -> list[bool]:
        """The worlds of the tracks that ran."""
        return [gap for gap in (False, True) if any(track.gap == gap for track in self.tracks)]

    def world(self, track: Track) -> World:
        """The robots of a track."""
        return self.worlds[track.gap]

    def contenders(self, *, gap: bool) -> list[Contender]:
        """All different recoveries from the damages of a world.

        Args:
            gap: which world's, see `worlds`.
        """
        tracks = [track for track in self.tracks if track.gap == gap]
        found = []
        for name in self.selectors:
            grouped: dict[Runs, list[Track]] = {}
            for track in tracks:
                grouped.setdefault(self.runs[track.name, name], []).append(track)
            for runs, shared in grouped.items():
                label = name if len(shared) == len(tracks) else f"{name} {shared[0].name}"
                found.append(Contender(label, name, tuple(shared), runs))
        return found

    def of(self, track: Track, selector: str, scope: Scope) -> Runs | None:
        """Recoveries of a selector in a track; None if it did not run or no damage counts."""
        runs = self.runs.get((track.name, selector))
        chosen = self.world(track).scope(scope)
        return runs.take(chosen) if runs is not None and chosen.any() else None

    def summary(self, track: Track, selector: str, metric: Metric, scope: Scope) -> Summary | None:
        """A metric of a selector in a track; None if there is nothing to sum up."""
        runs = self.of(track, selector, scope)
        return metric.of(runs) if runs is not None else None

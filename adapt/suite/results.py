"""Records of the recovery benchmark: cases, the recoveries from them, and the results of a study."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from adapt.damage import HEALTHY
from adapt.rehearsal.table import Table
from adapt.selectors.selector import Prior
from adapt.suite.cases import Track
from adapt.suite.replay import Noise

BINDING = 0.9  # a damage is binding if the incumbent has less than this share of the oracle's score
Scope = Literal["binding", "all"]


@dataclass(frozen=True, eq=False)
class Case:
    """A damage to recover from, and the true outcomes of every controller under it.

    There are two sets of episodes with different seeds. Trials show the first one. Recommended controllers
    and the oracle, which is chosen by episodes of its own, are scored by the second one: so no score is
    flattered by the noise that its controller was selected by. Scores are objectives minus the minimum
    objective.

    Attributes:
        damage: text of the damage; `shown` has this one condition.
        shown: what trials show.
        objectives: mean of every controller in the second set, (k,).
        oracle_row: row of the best controller, see `find_oracle`.
        min_objective: of the repertoire; the zero of scores.
        intact_score: score of the oracle of the intact robot.
    """

    damage: str
    shown: Table
    objectives: np.ndarray
    oracle_row: int
    min_objective: float
    intact_score: float

    @property
    def oracle_score(self) -> float:
        """Score of the oracle."""
        return float(self.score(self.oracle_row))

    @property
    def solvable(self) -> bool:
        """Whether the oracle is better than the minimum objective; otherwise no recovery ratio is defined."""
        return self.oracle_score > 0

    @property
    def headroom(self) -> float:
        """Score of the oracle as a share of that of the intact robot's oracle: the most that is possible."""
        return self.oracle_score / self.intact_score

    def score(self, rows: np.ndarray | int) -> np.ndarray:
        """Scores of some controllers; of the shape of `rows`."""
        return np.asarray(self.objectives[rows] - self.min_objective)

    def ratio(self, rows: np.ndarray | int) -> np.ndarray:
        """Recovery ratios of some controllers: scores as shares of the oracle's, clipped to [0, 1]."""
        return np.clip(self.score(rows) / self.oracle_score, 0.0, 1.0)


def make_cases(
    shown: Table, scores: Table, oracles: Mapping[str, int], *, min_objective: float
) -> list[Case]:
    """The cases of two tables with the same conditions, of which the first is the healthy robot.

    Args:
        shown: what trials show.
        scores: what recommendations are scored by.
        oracles: row of the best controller by condition.
        min_objective: of the repertoire.
    """
    intact = float(scores.objectives[0, oracles[HEALTHY]]) - min_objective
    return [
        Case(
            damage=damage,
            shown=shown.take([damage]),
            objectives=scores.objectives[row].astype(float),
            oracle_row=oracles[damage],
            min_objective=min_objective,
            intact_score=intact,
        )
        for row, damage in enumerate(shown.conditions)
        if damage != HEALTHY
    ]


@dataclass(frozen=True, eq=False)
class CaseSet:
    """The cases of the rehearsed robot, or those of robots across the reality gap.

    Attributes:
        cases: d of them, one for each damage.
        excluded: texts of damages without a case, because no controller scores above 0.
        incumbent: row of the controller that the intact robot uses: the best objective of the repertoire.
    """

    cases: tuple[Case, ...]
    excluded: tuple[str, ...]
    incumbent: int

    @cached_property
    def unadapted(self) -> np.ndarray:
        """Recovery ratios of the incumbent, RR_0, (d,)."""
        return np.array([float(case.ratio(self.incumbent)) for case in self.cases])

    @cached_property
    def binding(self) -> np.ndarray:
        """Which damages need adaptation, those with RR_0 below 0.9, (d,) bool."""
        return self.unadapted < BINDING

    def scope(self, scope: Scope) -> np.ndarray:
        """Which damages are in a scope, (d,) bool."""
        return self.binding if scope == "binding" else np.ones(len(self.cases), np.bool_)


@dataclass(frozen=True, eq=False)
class Runs:
    """Recoveries of one selector in one track, from d damages with s seeds each, for all B trials.

    Attributes:
        ratios: recovery ratio of the controller recommended after each trial, (d, s, B).
        falls: whether each trial ended in a fall, (d, s, B) bool.
        stops: number of trials after which the selector would have stopped, from 1 to B, (d, s).
        recommended: row of the controller recommended after each trial, (d, s, B).
    """

    ratios: np.ndarray
    falls: np.ndarray
    stops: np.ndarray
    recommended: np.ndarray

    def take(self, damages: np.ndarray) -> "Runs":
        """The recoveries from some damages, chosen by index or by (d,) bool."""
        return replace(self, **{name: values[damages] for name, values in vars(self).items()})


def stack_runs(parts: list[Runs]) -> Runs:
    """Join the recoveries from several damages, in that order."""
    return Runs(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])))


@dataclass(frozen=True, eq=False)
class SelectorRuns:
    """Recoveries of a selector, which several tracks share if it uses no library.

    Attributes:
        label: the selector's name, followed by the track's if it has other recoveries in other tracks.
        selector: its name.
        tracks: that share the recoveries; all have the same robots.
        runs: the recoveries.
    """

    label: str
    selector: str
    tracks: tuple[Track, ...]
    runs: Runs


@dataclass(frozen=True, eq=False)
class ReplaySetting:
    """Everything that replayed recoveries read.

    Attributes:
        prior: what the repertoire says about its controllers.
        rehearsed: the library, and the damages to recover from that it does not have.
        library: conditions of the library.
        case_sets: by whether there is a reality gap.
        trials: of each recovery.
        seeds: recoveries from each damage.
        noise: of a trial's objective, in addition to the variation between episodes.
        seed: from which every other derives.
    """

    prior: Prior
    rehearsed: Table
    library: tuple[str, ...]
    case_sets: Mapping[bool, CaseSet]
    trials: int
    seeds: int
    noise: Noise
    seed: int

    def table(self, track: Track, damage: str) -> Table:
        """The part of the library that a selector is given in a track, if a damage is the true one."""
        return self.rehearsed.take(track.library(damage, self.library))


@dataclass(frozen=True, eq=False)
class Results:
    """What a recovery benchmark found.

    Attributes:
        robot: its name.
        setting: what the recoveries read.
        recoveries: all of them, over the cases of their tracks.
        tracks: that were run.
        selectors: names, in the order of the tables.
    """

    robot: str
    setting: ReplaySetting
    recoveries: tuple[SelectorRuns, ...]
    tracks: tuple[Track, ...]
    selectors: tuple[str, ...]

    @property
    def trials(self) -> int:
        """Number of trials of each recovery."""
        return self.setting.trials

    @property
    def gaps(self) -> list[bool]:
        """Keys of the case sets whose tracks were run."""
        return sorted({track.gap for track in self.tracks})

    @property
    def main_track(self) -> Track | None:
        """The track for simulated recoveries and videos: T3, or the last one with the rehearsed robot."""
        tracks = [track for track in self.tracks if not track.gap]
        return next((track for track in tracks if track.name == "T3"), tracks[-1] if tracks else None)

    def case_set(self, track: Track) -> CaseSet:
        """The cases of a track."""
        return self.setting.case_sets[track.gap]

    def across(self, gap: bool) -> list[SelectorRuns]:
        """The recoveries from the cases of a set."""
        return [one for one in self.recoveries if one.tracks[0].gap == gap]

    def runs(self, track: Track, selector: str) -> Runs:
        """The recoveries of a selector in a track."""
        return next(one.runs for one in self.recoveries if one.selector == selector and track in one.tracks)

    def select(self, track: Track, selector: str, scope: Scope) -> Runs | None:
        """Recoveries of a selector from the damages in a scope; None if it was not run or there are none."""
        chosen = self.case_set(track).scope(scope)
        known = selector in self.selectors and chosen.any()
        return self.runs(track, selector).take(chosen) if known else None

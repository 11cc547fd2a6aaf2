"""Records of a recovery: what a trial measured, what a controller is worth, and how the whole went."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from robots.deployment.walk import IN_CIRCLES
from robots.errors import InvalidValueError
from robots.words import counted

FORMAT = "surefoot-recovery"
VERSION = 11
_NEGLIGIBLE = 0.005  # probability that rounds to 0.00
WALKING = 1 / 3  # share of the distance before the damage from which a robot is said to walk
_MORE = 1.1  # share of the healthy distance beyond which the gait of the whole robot was a poor one
LIMPING = 0.05  # the same to limp: below it, it stands or falls
TRUSTED = 0.3  # share of the trials' difference from a healthy robot that an explanation must explain


def format_objective(value: float) -> str:
    """An objective with the digits that count: rewards may sum to hundreds, a distance be below 1 m."""
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3f}"


def diagnosis_words(diagnosis: Iterable[tuple[str, float]]) -> str:
    """The first three causes, the most probable first, in a line, e.g. "front_left:dead 0.83"."""
    likely = [(name, p) for name, p in list(diagnosis)[:3] if p >= _NEGLIGIBLE]
    return ", ".join(f"{name} {p:.2f}" for name, p in likely)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one trial measured.

    Attributes:
        objective: in its own units, finite.
        evidence: what else there was to see, (e,), see `adapt.evidence`; empty if nothing was looked at.
        trace: what the sensors read in every control step, (steps, c), see `robots.simulation.trace`; without
            rows if nothing was recorded.
    """

    objective: float
    fell: bool = False
    evidence: np.ndarray = field(default_factory=lambda: np.empty(0))
    trace: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        if not np.isfinite(self.objective):
            raise InvalidValueError(f"the objective of a trial must be finite, not {self.objective}")
        if np.ndim(self.evidence) != 1 or not np.isfinite(self.evidence).all():
            raise InvalidValueError(f"the evidence of a trial must be finite numbers, not {self.evidence}")


@dataclass(frozen=True)
class Thought:
    """What a selector simulated between two trials."""

    seconds: float
    episodes: int
    explained: float  # share of what sets the trials apart from a healthy robot's that the best fit explains

    @property
    def words(self) -> str:
        """In a few words."""
        return f"explains {self.explained:.0%}, thought {self.seconds:.1f} s, {self.episodes:,} episodes"


@dataclass(frozen=True)
class Trial:
    """One controller tried on the damaged robot, in a single episode.

    Attributes:
        row: of the controller in the repertoire, and `cell` in the archive.
        predicted: objective expected before the trial.
        measured: objective; the least value that counts, see `RecoveryObjective`, if the simulation diverged.
        fell: whether the robot fell, or the simulation diverged.
        diagnosis: what the selector then holds to be wrong, the most probable first: texts of damages, or
            "unknown", with their probabilities, those below a hundredth left out; empty if it does not ask.
        specialist: the damages for which it was refined, if it is one of the repertoire's specialists; or "".
        objective: what `predicted` and `measured` are, as in the `Recovery`: `progress` is in metres.
    """

    number: int  # from 1
    row: int
    cell: tuple[int, ...]
    seed: int
    predicted: float
    measured: float
    fell: bool
    steps: int  # control steps survived
    distance: float  # progress towards the target [m]
    diagnosis: dict[str, float] = field(default_factory=dict)
    confirms: bool = False  # whether it is a confirmation trial
    specialist: str = ""
    refined: bool = False  # whether the controller was found during the recovery
    thought: Thought | None = None  # after it
    objective: str = "progress"


@dataclass(frozen=True)
class Confirmation:
    """How the controller that a search recommends compares with the incumbent in confirmation trials.

    Attributes:
        trials: numbers of confirmation trials of it and of the incumbent.
        falls: how many of these ended in a fall; of the incumbent's other trials if they stand for them.
        difference: of their mean objectives in these trials; None if nothing can be compared.
        safer: whether the incumbent always fell or got nowhere, more than once or as expected, and it never
            fell or, with no trial left, walked upright now and then and did better on average.
        likelier: whether trials were too few to tell, but it never fell, did better and is expected to do so.
    """

    row: int
    trials: tuple[int, int]
    falls: tuple[int, int] = (0, 0)
    difference: float | None = None
    standard_error: float | None = None
    safer: bool = False
    likelier: bool = False

    @property
    def falls_instead(self) -> bool:
        """Whether the robot mostly falls with the recommended controller, and does not with the incumbent."""
        found, incumbent = (2 * falls > trials for falls, trials in zip(self.falls, self.trials, strict=True))
        return found and not incumbent

    @property
    def better(self) -> bool:
        """Whether the recommended controller did better by more than the standard error."""
        if self.difference is None or self.standard_error is None:
            return False
        return self.difference > self.standard_error

    @property
    def passed(self) -> bool:
        """Whether the recommended controller replaces the incumbent."""
        return self.safer or self.likelier or (self.better and not self.falls_instead)

    @property
    def words(self) -> str:
        """What the trials showed, in words."""
        failed = ", but that always fell or got nowhere, and the new one did not" if self.safer else ""
        if self.difference is None or self.standard_error is None:
            return f"too few trials were left to confirm that the new gait is better than the old one{failed}"
        if self.difference == 0:
            return "the new gait did as well as the old one in the confirmation trials"
        sense = "better" if self.difference > 0 else "worse"
        doubt = ", which may be chance" if 0 < self.difference <= self.standard_error else ""
        doubt = failed if failed and self.difference < 0 else doubt
        doubt = ", but falls" if self.falls_instead else doubt
        count = counted(self.trials[0], "confirmation trial")
        against = self.trials[1] or "the old gait's first trial"
        return (
            f"the new gait did {format_objective(abs(self.difference))} ± "
            f"{format_objective(self.standard_error)} {sense} than the old one, in {count} "
            f"against {against}{doubt}"
        )


@dataclass(frozen=True, eq=False)
class RefinedGait:
    """A gait that was found during a recovery, and where it comes from."""

    solution: np.ndarray  # its parameters, (n,) float32
    row: int  # by which trials name it, after those of the repertoire
    parent: int  # row of the gait that the search started from
    score: float  # mean recovery objective on the models
    before: float  # that of the parent
    episodes: int  # that the search took
    believed: tuple[str, ...]  # texts of the damages that it was made for
    fall: float = 0.5  # how probable a fall is by its episodes on the models


@dataclass(frozen=True)
class Performance:
    """How well a controller does on a robot, over several episodes."""

    objective: float  # mean
    standard_error: float  # of that mean
    distance: float  # mean progress towards the target [m]
    falls: int  # episodes in which the robot fell or the simulation diverged
    episodes: int
    course: str = ""  # "straight", "in a curve" or "in circles", see `robots.deployment.walk.Walk`
    way: str = ""  # the same in full words

    def walks(self, before: float, share: float = WALKING) -> bool:
        """Whether the robot mostly stays up and makes at least a share of the distance before [m]."""
        upright = 2 * self.falls <= self.episodes
        return upright and self.distance > 0 and self.distance >= share * before

    def words(self, before: float) -> str:
        """What the robot does, in words, next to the distance that it walked before [m]."""
        falls = f"falls in {self.falls} of {self.episodes} episodes"
        if self.walks(before, LIMPING):
            verb = "walks" if self.walks(before) else "limps"
            course = f" {self.course}" if self.course == IN_CIRCLES else ""
            return f"{verb} {self.distance:.2f} m{course}" + (f", {falls}" if self.falls else "")
        if 2 * self.falls > self.episodes:
            return f"{falls}, after {self.distance:.2f} m"
        return f"{'hardly gets' if self.distance > 0 else 'does not get'} ahead: {self.distance:.2f} m"


@dataclass(frozen=True)
class Recovery:
    """How a recovery went.

    The search saw single episodes, as on a real robot, and the best of noisy numbers flatters. The
    performances are therefore measured afresh, all on the same seeds, none of which was used in a trial.

    Attributes:
        incumbent: row of the controller that the robot walked with before the damage, see `find_incumbent`.
        trials: in order; the first is of the incumbent.
        confirmation: of the controller that the search recommended; None if that is the incumbent, or if no
            confirmation was asked for.
        row: of the chosen controller: the incumbent unless another one was confirmed; or of a refined one.
    """

    robot: str
    damage: str
    selector: str
    seed: int
    incumbent: int
    healthy: Performance  # the incumbent on the intact robot
    broken: Performance  # the incumbent on the damaged robot
    recovered: Performance  # the chosen controller on the damaged robot
    trials: tuple[Trial, ...]
    confirmation: Confirmation | None
    row: int
    cell: tuple[int, ...]  # of the chosen controller
    stop: str  # why the search stopped
    objective: str = "reward"  # or `progress`, see `adapt.objective`
    refined: tuple[RefinedGait, ...] = ()
    seconds: float | None = None  # length of an episode [s]

    @property
    def falls(self) -> int:
        """Trials that ended in a fall."""
        return sum(trial.fell for trial in self.trials)

    @property
    def effort(self) -> str:
        """Its trials and falls, in words."""
        falls = counted(self.falls, "fall") if self.falls else "no falls"
        return f"{counted(len(self.trials), 'trial')} and {falls}"

    @property
    def diagnosis(self) -> dict[str, float]:
        """What the selector held to be wrong in the end, see `Trial`."""
        return self.trials[-1].diagnosis

    @property
    def verdict(self) -> str:
        """Whether a better gait than the incumbent was found, in a sentence."""
        before = max(0.0, self.healthy.distance)
        does = f"the robot {self.recovered.words(before)}"
        if self.row == self.incumbent:
            reason = "none of the gaits tried is predicted to do better"
            reason = self.confirmation.words if self.confirmation else reason
            return f"keeping the old gait: {reason}; with it {does}"
        gain = self.recovered.objective - self.broken.objective
        stays_up = self.recovered.walks(before) and not self.broken.walks(before, LIMPING)
        if gain <= 0 and not stays_up:
            return "not recovered: the new gait does no better than the old one, measured afresh"
        if not stays_up and gain <= math.hypot(self.recovered.standard_error, self.broken.standard_error):
            return (
                f"not clear: measured afresh, the new gait is better by no more than chance; with it {does}"
            )
        if not self.recovered.walks(before):
            return f"improved, but not recovered: with the new gait {does}"
        return f"recovered: with the new gait {does}{self._share(before)}"

    def _share(self, before: float) -> str:
        """How far that is next to the distance that the whole robot walked [m], in words."""
        if not before:
            return ""
        length = f" in {self.seconds:.3g} s" if self.seconds else ""
        share = self.recovered.distance / before
        if share > _MORE:
            return f", more than the {before:.2f} m that it did{length} when whole, with a gait that was poor"
        return f", {share:.0%} of what it did{length} when whole"

    def performances(self) -> dict[str, Performance]:
        """What was measured, by name."""
        return {"healthy": self.healthy, "broken": self.broken, "recovered": self.recovered}

    def to_json(self) -> dict[str, object]:
        """A dictionary for `json.dump`, with the format first; refined gaits without their parameters."""
        known: dict[str, Any] = {"format": FORMAT, "version": VERSION, **asdict(self)}
        for gait in known["refined"]:
            del gait["solution"]  # thousands of numbers
        return known

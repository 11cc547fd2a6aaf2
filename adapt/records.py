"""Records of a recovery: what a trial measured, what a controller is worth, and how the whole went."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from robots.deployment.walk import IN_CIRCLES
from robots.errors import InvalidValueError

FORMAT = "surefoot-recovery"
VERSION = 10
_NEGLIGIBLE = 0.005  # probability that rounds to 0.00
WALKING = 1 / 3  # share of the distance before the damage from which a robot is said to walk
_MORE = 1.1  # share of the healthy distance beyond which the gait of the whole robot was a poor one
LIMPING = 0.05  # the same to limp: below it, it stands or falls
TRUSTED = 0.3  # share of the trials' difference from a healthy robot that an explanation must explain


def format_objective(value: float) -> str:
    """An objective with the digits that count: rewards may sum to hundreds, a distance be below 1 m."""
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3f}"


def diagnosis_words(diagnosis: Iterable[tuple[str, float]]) -> str:
    """The first three causes in a line, e.g. "front_left:dead 0.83, front_left:lost 0.10".

    Args:
        diagnosis: causes and their probabilities, the most probable first.
    """
    likely = [(name, p) for name, p in list(diagnosis)[:3] if p >= _NEGLIGIBLE]
    return ", ".join(f"{name} {p:.2f}" for name, p in likely)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one trial measured.

    Attributes:
        objective: in its own units.
        fell: whether the trial ended in a fall.
        evidence: what else there was to see, (e,), as `adapt.evidence` lists it; empty if nothing
            was looked at.
        trace: what the sensors read in every control step, (steps, c), see `robots.simulation.trace`; without
            rows if nothing was recorded.

    Raises:
        InvalidValueError: a number is not finite, or the evidence is not one row of numbers.
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
    """What a selector simulated between two trials.

    Attributes:
        seconds: that it took.
        episodes: that it simulated.
        explained: share of what the trials showed beyond a healthy robot that the best fit explains, 0 to 1.
    """

    seconds: float
    episodes: int
    explained: float

    @property
    def words(self) -> str:
        """In a few words."""
        return f"explains {self.explained:.0%}, thought {self.seconds:.1f} s, {self.episodes:,} episodes"


@dataclass(frozen=True)
class Trial:
    """One controller tried on the damaged robot, in a single episode.

    Attributes:
        number: of the trial, from 1.
        row: of the controller in the repertoire.
        cell: of the controller in the archive.
        seed: of the episode.
        predicted: objective expected before the trial.
        measured: objective; the least value that counts, see `RecoveryObjective`, where the simulation
            diverged.
        fell: whether the robot fell, or the simulation diverged.
        steps: control steps survived.
        distance: progress towards the target [m].
        diagnosis: what the selector then holds to be wrong, the most probable first: texts of damages, or
            "unknown", with their probabilities, those below a hundredth left out; empty if it does not ask.
        confirms: whether it is a confirmation trial, see `Confirmation`.
        specialist: the damages for which it was refined, if it is one of the repertoire's specialists; or "".
        refined: whether the controller was found during the recovery, see `RefinedGait`.
        thought: what the selector simulated after it, if it did.
        objective: what `predicted` and `measured` are, as in the `Recovery`: `progress` is in metres.
    """

    number: int
    row: int
    cell: tuple[int, ...]
    seed: int
    predicted: float
    measured: float
    fell: bool
    steps: int
    distance: float
    diagnosis: dict[str, float] = field(default_factory=dict)
    confirms: bool = False
    specialist: str = ""
    refined: bool = False
    thought: Thought | None = None
    objective: str = "progress"


@dataclass(frozen=True)
class Confirmation:
    """How the controller that a search recommends compares with the incumbent in confirmation trials.

    Attributes:
        row: of the recommended controller, which is not the incumbent.
        trials: numbers of confirmation trials of it and of the incumbent.
        falls: how many of these ended in a fall; of the incumbent's other trials if they stand for them.
        difference: of their mean objectives in these trials; None if nothing can be compared.
        standard_error: of that difference.
        stays_up: whether the recommended controller never fell, and the incumbent in all of its trials, and
            more than once or as expected.
    """

    row: int
    trials: tuple[int, int]
    falls: tuple[int, int] = (0, 0)
    difference: float | None = None
    standard_error: float | None = None
    stays_up: bool = False

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
        return self.stays_up or (self.better and not self.falls_instead)

    @property
    def words(self) -> str:
        """What the trials showed, in words."""
        if self.difference is None or self.standard_error is None:
            unconfirmed = "too few trials were left to confirm that the new gait is better than the old one"
            return f"{unconfirmed}, but that fell and the new one did not" if self.stays_up else unconfirmed
        if self.difference == 0:
            return "the new gait did as well as the old one in the confirmation trials"
        sense = "better" if self.difference > 0 else "worse"
        doubt = ", which may be chance" if 0 < self.difference <= self.standard_error else ""
        doubt = ", but that fell and the new one did not" if self.stays_up and self.difference < 0 else doubt
        doubt = ", but falls" if self.falls_instead else doubt
        count = f"{self.trials[0]} confirmation trial{'s' * (self.trials[0] != 1)}"
        against = self.trials[1] or "the old gait's first trial"
        return (
            f"the new gait did {format_objective(abs(self.difference))} ± "
            f"{format_objective(self.standard_error)} {sense} than the old one, in {count} "
            f"against {against}{doubt}"
        )


@dataclass(frozen=True, eq=False)
class RefinedGait:
    """A gait that was found during a recovery, and where it comes from.

    Attributes:
        solution: its parameters, (n,) float32.
        row: by which trials name it, after those of the repertoire.
        parent: row of the gait that the search started from.
        score: mean recovery objective on the models.
        before: that of the parent.
        episodes: that the search took.
        believed: texts of the damages that it was made for.
        fall: how probable a fall is by its episodes on the models.
    """

    solution: np.ndarray
    row: int
    parent: int
    score: float
    before: float
    episodes: int
    believed: tuple[str, ...]
    fall: float = 0.5


@dataclass(frozen=True)
class Performance:
    """How well a controller does on a robot, over several episodes.

    Attributes:
        objective: mean.
        standard_error: of that mean.
        distance: mean progress towards the target [m]; negative where the robot went backwards.
        falls: episodes in which the robot fell or the simulation diverged.
        episodes: how many there were.
        course: how it went over the ground, see `robots.deployment.walk.Walk`: "straight", "in a curve" or
            "in circles"; "" where every episode diverged, or nobody asked.
        way: the same in full words.
    """

    objective: float
    standard_error: float
    distance: float
    falls: int
    episodes: int
    course: str = ""
    way: str = ""

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

    The search saw single episodes, as on a real robot, and the controller chosen is the best of them by what
    the selector believes: a maximum of noisy numbers, which flatters it. The performances are therefore
    measured afresh, all on the same seeds, none of which was used in a trial. They can be compared with each
    other, and `recovered` may be lower than the trials that it was chosen for.

    Attributes:
        robot: name of the robot.
        damage: text of the damage.
        selector: name of what chose the trials.
        objective: what it was after, `progress` or `reward`, see `adapt.objective`.
        seed: from which every episode's seed derives.
        incumbent: row of the controller that the robot walked with before the damage: among those with the
            highest objectives the one that does best on average on the intact robot, since the highest
            objective itself is a maximum over single episodes.
        healthy: the incumbent on the intact robot.
        broken: the incumbent on the damaged robot.
        recovered: the chosen controller on the damaged robot.
        oracle: the best controller of the repertoire on the damaged robot; None if it was not asked for.
        oracle_row: row of that controller.
        trials: in order; the first is of the incumbent.
        confirmation: of the controller that the search recommended; None if that is the incumbent, or if no
            confirmation was asked for.
        row: of the chosen controller in the repertoire: the incumbent unless another one was confirmed.
        cell: of the chosen controller in the archive.
        stop: why the search stopped.
        refined: gaits that were found on the way; `row` may be that of one.
        seconds: length of an episode [s].
    """

    robot: str
    damage: str
    selector: str
    seed: int
    incumbent: int
    healthy: Performance
    broken: Performance
    recovered: Performance
    oracle: Performance | None
    oracle_row: int | None
    trials: tuple[Trial, ...]
    confirmation: Confirmation | None
    row: int
    cell: tuple[int, ...]
    stop: str
    objective: str = "reward"
    refined: tuple[RefinedGait, ...] = ()
    seconds: float | None = None

    @property
    def falls(self) -> int:
        """Trials that ended in a fall."""
        return sum(trial.fell for trial in self.trials)

    @property
    def effort(self) -> str:
        """Its trials and falls, in words."""
        trials, falls = len(self.trials), self.falls
        return f"{trials} trial{'s' * (trials != 1)} and {falls or 'no'} fall{'s' * (falls != 1)}"

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
        stays_up = 2 * self.broken.falls > self.broken.episodes and self.recovered.walks(before)
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
        known = {"healthy": self.healthy, "broken": self.broken, "recovered": self.recovered}
        return known | ({"oracle": self.oracle} if self.oracle else {})

    def to_json(self) -> dict[str, object]:
        """A dictionary that `json.dump` takes, with the name and version of this format first.

        It tells where refined gaits come from, but not their parameters.
        """
        known: dict[str, Any] = {"format": FORMAT, "version": VERSION, **asdict(self)}
        for gait in known["refined"]:
            del gait["solution"]  # thousands of numbers
        return known

"""The record of a recovery: its trials, and what they were worth."""

from dataclasses import asdict, dataclass, field

FORMAT = "surefoot-recovery"
VERSION = 2


def format_objective(value: float) -> str:
    """An objective with the digits that count: a sum of rewards may be hundreds, a distance less than 1 m."""
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3f}"


@dataclass(frozen=True)
class Trial:
    """One controller tried on the damaged robot, in a single episode.

    Attributes:
        number: of the trial, from 1.
        row: of the controller in the repertoire.
        cell: of the controller in the archive.
        seed: of the episode.
        predicted: objective expected before the trial.
        measured: objective; the repertoire's minimum objective where the simulation diverged.
        fell: whether the robot fell, or the simulation diverged.
        steps: control steps survived.
        distance: progress towards the target [m].
        diagnosis: what the selector then holds to be wrong, the most probable first: texts of damages, or
            "unknown", with their probabilities, those below a hundredth left out; empty if it does not ask.
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


@dataclass(frozen=True)
class Level:
    """How well a controller does on a robot: means over several episodes.

    Attributes:
        objective: mean.
        standard_error: of that mean.
        distance: mean progress towards the target [m].
    """

    objective: float
    standard_error: float
    distance: float


@dataclass(frozen=True)
class Recovery:
    """How a recovery went.

    What the search saw are single episodes, as on a real robot, and the controller chosen is the best of
    them by what the selector believes: a maximum of noisy numbers, which flatters it. The levels are
    therefore measured afresh, all on the same seeds, none of which was used in a trial. They can be compared
    with each other, and `recovered` may be lower than the trials that it was chosen for.

    Attributes:
        robot: name of the robot.
        damage: text of the damage.
        selector: name of what chose the trials.
        seed: from which every episode's seed derives.
        in_use: row of the controller that the robot walked with before: of those with the highest objectives,
            the one that does best on average on the intact robot. The highest objective of all is a maximum
            over single episodes, and often luck.
        healthy: the controller in use, on the intact robot.
        broken: the same controller on the damaged robot.
        recovered: the chosen controller on the damaged robot.
        oracle: the best controller of the repertoire on the damaged robot, see `Bench.winner`, or None if it
            was not asked for.
        oracle_row: of that controller.
        trials: in order; the first is of the controller in use.
        row: of the chosen controller in the repertoire.
        cell: of the chosen controller in the archive.
        stop: why the search stopped.
    """

    robot: str
    damage: str
    selector: str
    seed: int
    in_use: int
    healthy: Level
    broken: Level
    recovered: Level
    oracle: Level | None
    oracle_row: int | None
    trials: tuple[Trial, ...]
    row: int
    cell: tuple[int, ...]
    stop: str

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

    def levels(self) -> dict[str, Level]:
        """The levels that were measured, by name."""
        known = {"healthy": self.healthy, "broken": self.broken, "recovered": self.recovered}
        return known | ({"oracle": self.oracle} if self.oracle else {})

    def to_json(self) -> dict[str, object]:
        """A dictionary that `json.dump` takes, with the name and version of this format first."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}

"""What the trials of a recovery study leave behind: `OracleResult` and `RecoveryResult`."""

from typing import Annotated, Any

from pydantic import Field

from robots.errors import InvalidValueError
from robots.files.records import Record, validate
from robots.words import duration
from suites.suite import Key

ORACLE = "oracle"  # what takes the place of the selector's name in the file of a fault's oracle
BINDING = 0.9  # a fault is binding if the incumbent has less than this share of the oracle's score
_LARGEST = 1e9
_Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, strict=True, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0, lt=2**63, strict=True)]


class TrialRecord(Record):
    """What results of oracles and of recoveries have in common.

    Attributes:
        case: fault and robot, or track and fault, see `RecoveryTrial.key`.
        selector: its name.
        number: of the trial, from 0.
        seed: from which its random numbers derive.
        damage: text of the fault.
        gait: row of the controller that it ended with.
        final: mean objective of that gait in the episodes by which the oracle is chosen.
        score: true score of that gait: its mean objective in yet other episodes, above the minimum objective.
        took: how long the trial took [s].
    """

    case: str
    selector: str
    number: _Count
    seed: _Count
    damage: str
    gait: _Count
    final: _Number
    score: _Number
    took: _Number

    @property
    def key(self) -> Key:
        """Case, selector and number, which identify the trial in its study."""
        return self.case, self.selector, self.number

    @property
    def words(self) -> str:
        """How it went, in a line."""
        return f"{self.case:<20} {self.selector:<18} {self.number:<3} {duration(self.took):>8}  {self.damage}"


class OracleResult(TrialRecord):
    """The best gait of the repertoire for a fault.

    Attributes:
        incumbent: score of the gait that the whole robot walks with.
        whole: score of that gait on the robot before the fault.
    """

    incumbent: _Number
    whole: _Number

    @property
    def binding(self) -> bool:
        """Whether the fault takes another gait, and there is one that scores above the minimum objective."""
        return self.score > 0 and self.incumbent < BINDING * self.score


class RecoveryResult(TrialRecord):
    """One recovery; if the fault is not binding, one without trials.

    Attributes:
        scores: of what was recommended after each trial.
        falls: whether each trial ended in a fall.
        stop: number of trials after which the selector would have stopped.
        seconds: of thinking after a trial, as a mean [s].
        explained: share of what the first trial showed that its best fit explains.
        diagnosis: the most probable cause in the end; empty if the selector does not ask.
        probability: of that cause.
        refined: whether the gait in the end was found during the recovery.
        fallen: share of that gait's true episodes that ended in a fall.
    """

    scores: tuple[_Number, ...] = ()
    falls: tuple[bool, ...] = ()
    stop: _Count = 0
    seconds: _Number = 0.0
    explained: _Number = 0.0
    diagnosis: str = ""
    probability: _Number = 0.0
    refined: bool = False
    fallen: _Number = 0.0


def parse_result(found: dict[str, Any]) -> OracleResult | RecoveryResult:
    """The result of a trial that a file holds; raise an InvalidValueError if it is not a sound one."""
    if found.get("selector") == ORACLE:
        return validate(OracleResult, found)
    result = validate(RecoveryResult, found)
    if len(result.falls) != len(result.scores) or result.stop > len(result.scores):
        raise InvalidValueError("scores, falls and stop must be of the same trials")
    if result.scores and (result.stop < 1 or result.scores[-1] != result.score):
        raise InvalidValueError("stop must be a trial, and the last score that of the gait")
    return result

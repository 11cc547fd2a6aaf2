"""`TransferResult`: what a trial of a transfer study found."""

from typing import Annotated, Any

from pydantic import Field

from robots.errors import InvalidValueError
from robots.files.records import Record, validate
from robots.words import duration
from suites.suite import Key

GAITS = "gaits"  # what takes the place of the selector's name where gaits run without damage
GAIT_FIGURES, TEXTS = ("mean", "worst tenth", "upright"), ("damage", "diagnosis")
SHARES = ("old gait", "recovered", "old gait falls", "falls", "explained")
_Number = Annotated[float, Field(allow_inf_nan=False)]


class TransferResult(Record):
    """What a trial found.

    Attributes:
        case: names of the repertoire and the world.
        method: name of the selector, or `GAITS`.
        number: of the fault, from 0.
        seed: from which the random numbers of a recovery derive; gaits walk with those of the study.
        took: how long it took [s].
        figures: see `Stage.walk` and `Stage.recover`.
    """

    case: str
    method: str
    number: Annotated[int, Field(ge=0, strict=True)]
    seed: Annotated[int, Field(ge=0, strict=True)]
    took: _Number
    figures: dict[str, bool | _Number | str]

    @property
    def key(self) -> Key:
        """Case, method and number, which identify the trial in its study."""
        return self.case, self.method, self.number

    @property
    def words(self) -> str:
        """How it went, in a line."""
        found = (
            f"{value:.2f}" if isinstance(value, float) else f"{value}" for value in self.figures.values()
        )
        return f"{self.case:<24} {self.method:<11} {duration(self.took):>8}  {' '.join(found)}"


def parse_result(found: dict[str, Any]) -> TransferResult:
    """The result that a file holds; raise an InvalidValueError if it lacks a figure of the report."""
    result = validate(TransferResult, found)
    recovered = ("best", *SHARES, "right part")
    numbers, texts = (GAIT_FIGURES, ()) if result.method == GAITS else (recovered, TEXTS)
    for name in (*numbers, *texts):
        value = result.figures.get(name)
        if value is None or isinstance(value, str) != (name in texts):
            raise InvalidValueError(f'"{name}" must be a {"text" if name in texts else "number"}')
    return result

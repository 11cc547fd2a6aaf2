"""`TransferResult`: what a trial of a transfer study found."""

from typing import Annotated, Any

from pydantic import Field

from robots.errors import InvalidValueError
from robots.files.records import validate
from robots.words import duration
from suites.records import TrialRecord

GAITS = "gaits"  # what takes the place of the selector's name where gaits run without damage
GAIT_FIGURES, TEXTS = ("mean", "worst tenth", "upright"), ("damage", "diagnosis")
SHARES = ("old gait", "recovered", "old gait falls", "falls", "explained")
_Number = Annotated[float, Field(allow_inf_nan=False)]


class TransferResult(TrialRecord):
    """What a trial found.

    Its case are the names of the repertoire and the world, and its number is that of the fault. The seed is
    that of a recovery; gaits walk with those of the study.

    Attributes:
        took: how long it took [s].
        figures: see `Stage.walk` and `Stage.recover`.
    """

    took: _Number
    figures: dict[str, bool | _Number | str]

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

"""`TrialRecord`: the result of one trial; `RecordSuite`: a study that keeps them as JSON files."""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Field

from robots.errors import InvalidFileError, InvalidValueError, naming
from robots.files.atomic import write_text
from robots.files.records import Record
from robots.files.texts import read_json
from robots.seeds import SeedFamily, derive_seeds
from suites.suite import Key, Suite, case_number

Whole = Annotated[int, Field(ge=0, strict=True)]
_R = TypeVar("_R")


class TrialRecord(Record):
    """What results have in common.

    Attributes:
        case: what was solved, e.g. a task and the number of a damage.
        method: by what.
        number: of the trial, from 0.
        seed: from which its random numbers derive.
    """

    case: str
    method: str
    number: Whole
    seed: Whole

    @property
    def key(self) -> Key:
        """Case, method and number, which identify the trial in its study."""
        return self.case, self.method, self.number


@dataclass(frozen=True)
class CaseTrial:
    """What a trial is to do: the case of a name, by a method, for the time of a number, from 0."""

    case: str
    method: str
    number: int

    @property
    def key(self) -> Key:
        """Case, method and number."""
        return self.case, self.method, self.number


def read_record(path: Path, what: str, parse: Callable[[dict[str, Any]], _R]) -> _R:
    """Read a result; errors say `what` the file should hold, such as `mission`."""
    found = read_json(path)
    with naming(f"{path} holds no {what}"):
        if not isinstance(found, dict):
            raise InvalidValueError("it is not a table")
        return parse(found)


class RecordSuite(Suite):
    """A study whose results are records with the `damage` that the robot had.

    Attributes:
        holds: what a file holds, such as `recovery`.
        parse: static method that makes the record of what a file holds, or raises an InvalidValueError.
    """

    suffix = ".json"
    holds: ClassVar[str]
    parse: ClassVar[Any]

    def _named(self, trial: CaseTrial) -> dict[str, Any]:
        """What a `TrialRecord` says of its trial."""
        known = {field.name: getattr(trial, field.name) for field in fields(CaseTrial)}
        return known | {"seed": self.trial_seed(trial.key)}

    def trial_seed(self, key: Key) -> int:
        """Seed of a trial, the same for all methods."""
        return int(derive_seeds(self.seed, SeedFamily.FAULT, key[2], 1, case_number(key))[0])

    def read(self, path: Path) -> Any:
        """Read a result; one of another damage than that of the plan is refused."""
        result = read_record(path, self.holds, self.parse)
        expected = self.damage_of(result.key)
        if expected not in (None, result.damage):
            raise InvalidFileError(f"{path} is of {result.damage}, not of {expected}")
        return result

    def write(self, path: Path, result: Record) -> None:
        write_text(path, json.dumps(result.model_dump(), indent=1) + "\n")

    def damage_of(self, key: Key) -> str | None:
        """Text of the damage in the trial of a key; None if that is not in the plan."""
        return self._damages.get(key[0])

    @cached_property
    def _damages(self) -> dict[str, str]:
        return {trial.key[0]: str(trial.damage) for trial in self.plan()}

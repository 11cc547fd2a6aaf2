"""`TrialRecord`: the result of one trial, and how it is kept as a JSON file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field

from robots.errors import InvalidFileError, InvalidValueError
from robots.files.atomic import write_text
from robots.files.records import Record
from robots.files.texts import read_json
from suites.suite import Key

Whole = Annotated[int, Field(ge=0, strict=True)]
_R = TypeVar("_R", bound=Record)


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


def read_record(path: Path, what: str, parse: Callable[[dict[str, Any]], _R]) -> _R:
    """Read a result; errors say `what` the file should hold, such as `mission`."""
    found = read_json(path)
    try:
        if not isinstance(found, dict):
            raise InvalidValueError("it is not a table")
        return parse(found)
    except InvalidValueError as error:
        raise InvalidFileError(f"{path} holds no {what}: {error}") from error


def write_record(path: Path, record: Record) -> None:
    """Write a result in one step."""
    write_text(path, json.dumps(record.model_dump(), indent=1) + "\n")

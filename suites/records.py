"""`read_record` and `write_record`: a JSON file that holds the result of one trial."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from robots.errors import InvalidFileError, InvalidValueError
from robots.files.atomic import write_text
from robots.files.records import Record
from robots.files.texts import read_json

_R = TypeVar("_R", bound=Record)


def read_record(path: Path, what: str, parse: Callable[[dict[str, Any]], _R]) -> _R:
    """Read a result.

    Args:
        path: the file.
        what: it should hold, for errors: `mission`.
        parse: makes the result of the content of the file, or raises an InvalidValueError.
    """
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

"""`Record`: the base of all that is read from YAML or JSON, and its complaints in plain words."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
Count = Annotated[int, Field(gt=0, le=10_000, strict=True)]
Steps = Annotated[int, Field(gt=0, le=1_000_000, strict=True)]
Names = Annotated[tuple[str, ...], Field(min_length=1)]


class Record(BaseModel):
    """A frozen record that refuses keys it does not know and values of the wrong type."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def describe_validation_error(error: ValidationError, record: type[BaseModel]) -> str:
    """Put the first of pydantic's complaints in one sentence."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(record.model_fields) if len(first["loc"]) == 1 else ""
        return f"unknown key {where!r}" + (f"; available: {known}" if known else "")
    if first["type"] == "missing":
        return f"missing key {where!r}"
    if first["type"] == "union_tag_invalid":
        given, known = first["ctx"]["tag"], first["ctx"]["expected_tags"]
        return f"{where}.kind: it must be one of {known}, not {given!r}"
    if first["type"] == "union_tag_not_found":
        return f"missing key '{where}.kind'"
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    return f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}, not {first['input']!r}"

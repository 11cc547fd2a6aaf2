"""`Kind`: settings of one kind of a thing, such as a strategy, that a table lists by name."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_serializer, model_validator
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from robots.errors import InvalidValueError, UnknownNameError
from robots.validation import describe_validation_error

BatchSize = Annotated[int, Field(ge=2, le=10_000, strict=True)]
StepSize = Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)]
Model = TypeVar("Model", bound=BaseModel)
K = TypeVar("K", bound="Kind")


class Kind(BaseModel):
    """A frozen record of settings; in JSON it has its name as `kind`.

    Attributes:
        kind: the name in the table and in files.
        summary: what it is, in a line.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: ClassVar[str]
    summary: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _without_kind(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or "kind" not in value:
            return value
        if value["kind"] != cls.kind:
            raise InvalidValueError(f"the kind must be {cls.kind}, not {value['kind']!r}")
        return {name: entry for name, entry in value.items() if name != "kind"}

    @model_serializer(mode="wrap")
    def _with_kind(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.kind, **serialize(self)}


def by_kind(*records: type[K]) -> dict[str, type[K]]:
    """Return a table of records by their names."""
    return {record.kind: record for record in records}


def find_kind(table: Mapping[str, type[K]], what: str, name: str) -> type[K]:
    """Look a record up.

    Args:
        table: the records by name.
        what: what to call one in an error, such as "strategy".
        name: of the record.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if name not in table:
        raise UnknownNameError(what, name, table)
    return table[name]


def reader(table: Mapping[str, type[K]], what: str) -> Callable[[Any], K]:
    """Return a validator for pydantic that makes a record of its JSON; a record passes as it is.

    Args:
        table: the records by name.
        what: what to call one in an error.
    """

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return validate(find_kind(table, what, str(value.get("kind", "none"))), value)

    return read


def validate(model: type[Model], settings: Mapping[str, object]) -> Model:
    """Make a record of settings.

    Raises:
        InvalidValueError: a setting is unknown, missing, of the wrong type or out of range.
    """
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        raise InvalidValueError(describe_validation_error(error, model)) from error

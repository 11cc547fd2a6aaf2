"""Records read from YAML or JSON: their base, kinds of them that a table lists, and errors in plain words."""

import inspect
import re
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from robots.errors import InvalidValueError, shown
from robots.files.texts import LARGEST
from robots.registry import Registry

Finite = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False, strict=True)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
Count = Annotated[int, Field(gt=0, le=10_000, strict=True)]
Steps = Annotated[int, Field(gt=0, le=1_000_000, strict=True)]
Names = Annotated[tuple[str, ...], Field(min_length=1)]
Several = Annotated[int, Field(ge=1, strict=True)]
Seed = Annotated[int, Field(ge=0, strict=True)]


def _ascending(limits: tuple[float, float]) -> tuple[float, float]:
    if limits[0] > limits[1]:
        raise ValueError(f"a range goes from low to high, not from {limits[0]:g} to {limits[1]:g}")
    return limits


_Number = TypeVar("_Number", float, int)
Range = Annotated[tuple[_Number, _Number], AfterValidator(_ascending)]  # from low to high


class Record(BaseModel):
    """A frozen record that refuses keys it does not know and values of the wrong type."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Kind(Record):
    """Settings of one kind of a thing, such as a strategy; in tables, YAML and JSON its name is `kind`."""

    kind: ClassVar[str]

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


Model = TypeVar("Model", bound=BaseModel)
K = TypeVar("K", bound=Kind)


def by_kind(what: str, *records: type[K]) -> Registry[type[K]]:
    """Return a registry of records by their names, of which errors call one what it is, e.g. "strategy"."""
    return Registry(what, [(record.kind, record) for record in records])


def attribute_words(record: type, name: str) -> str:
    """What the docstring of a record, or of one that it inherits from, says of an attribute."""
    texts = (
        inspect.getdoc(one) or "" for one in record.__mro__ if name in vars(one).get("__annotations__", {})
    )
    for text in texts:
        found = re.search(rf"^    {name}: (.*?)(?=^ {{0,4}}\S|\Z)", text, re.MULTILINE | re.DOTALL)
        if found:
            return " ".join(found[1].split())
    return name.replace("_", " ")


def default_of(record: type, name: str) -> Any:
    """The default of a field of a record, or of a dataclass; None if it has none."""
    if issubclass(record, BaseModel):
        return record.model_fields[name].get_default(call_default_factory=True)
    return getattr(record, name, None)


class Unregistered(Kind):
    """Settings in a file of a kind that no table has: they are kept as they are."""

    kind = "unregistered"
    entries: dict[str, Any]  # of the file

    @model_serializer(mode="wrap")
    def _with_kind(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return self.entries

    def make(self, *_: Any, **__: Any) -> Any:
        """Nothing is made of them."""
        raise not_registered(shown(self.entries["kind"]))


def not_registered(what: str) -> InvalidValueError:
    """The error that a file names a thing of a plugin that was not loaded."""
    return InvalidValueError(
        f"it was recorded with {what}, which is not registered here: load the plugin that registers it"
    )


def reader(table: Registry[type[K]], unregistered: Callable[..., K] | None = None) -> Callable[[Any], K]:
    """Return a validator for pydantic that makes a record of its YAML or JSON; a record passes as it is.

    `unregistered` keeps the settings of a kind that the table lacks when a value is read; by default such are
    refused.
    """

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        kind = str(value.get("kind", "none"))
        if unregistered and kind not in table and "kind" in value:
            return unregistered(entries=dict(value))
        return validate(table.find(kind), value)

    return read


def validate(model: type[Model], settings: Mapping[str, object]) -> Model:
    """Make a record of settings; whole numbers may be NumPy's."""
    plain = {
        name: int(one) if isinstance(one, Integral) and not isinstance(one, bool) else one
        for name, one in settings.items()
    }
    try:
        return model.model_validate(plain)
    except ValidationError as error:
        raise InvalidValueError(_in_words(error, model)) from error


def _in_words(error: ValidationError, record: type[BaseModel]) -> str:
    """The first of pydantic's complaints in one sentence; a key that is unknown is why another is missing."""
    complaints = error.errors()
    first = next((one for one in complaints if one["type"] == "extra_forbidden"), complaints[0])
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(record.model_fields) if len(first["loc"]) == 1 else ""
        return f"unknown key {where!r}" + (f"; available: {known}" if known else "")
    if first["type"] == "missing":
        return f"missing key {where!r}"
    if first["type"] == "value_error":
        reason = first["ctx"]["error"]  # those of this package say themselves what they are about
        return f"{where}: {reason}" if where and type(reason) is ValueError else str(reason)
    if first["type"] == "too_short":
        return f"{where}: it must have at least {first['ctx']['min_length']}, not {shown(first['input'])}"
    return f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}, not {shown(first['input'])}"

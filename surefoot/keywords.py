"""Keywords of functions that derive from records of settings, and how the settings are checked."""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_type_hints

from robots.files.records import Record, attribute_words, validate

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Request = TypeVar("_Request", bound=Record)
_PLACE = "        **settings: "  # of the description of the settings in a docstring
_WIDTH = 110


def asked(record: type[_Request], settings: Mapping[str, object]) -> _Request:
    """The request that settings make, of which None stands for the default.

    Raises:
        InvalidValueError: a setting is unknown, of the wrong type or out of range.
    """
    return validate(record, {name: value for name, value in settings.items() if value is not None})


def takes(record: type[Record]) -> Callable[[_Function], _Function]:
    """Have the signature and the docstring of a function say which `**settings` it takes.

    Args:
        record: of which they are fields, with its defaults and descriptions.
    """
    fields, hints = record.model_fields.items(), get_type_hints(record)
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[name])
        for name, field in fields
    ]
    described = [
        textwrap.fill(
            f"{name}: {attribute_words(record, name)}",
            _WIDTH,
            initial_indent=" " * 8,
            subsequent_indent=" " * 12,
            break_on_hyphens=False,
        )
        for name, _ in fields
    ]

    def add(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        function.__signature__ = signature.replace(parameters=[*own, *keywords])  # type: ignore[attr-defined]
        lines = (function.__doc__ or "").split("\n")
        place = next(number for number, line in enumerate(lines) if line.startswith(_PLACE))
        function.__doc__ = "\n".join([*lines[:place], *described, *lines[place + 1 :]])
        return function

    return add

"""Keywords of functions that derive from records of settings, and how the settings are checked."""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_type_hints

from robots.files.records import Record, attribute_words, validate

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Request = TypeVar("_Request", bound=Record)
_SHARED = {  # arguments that several functions have, and that their docstrings need not describe
    "source": "a repertoire, or what `load` takes.",
    "damages": "one or several; by default those that `surefoot damages ROBOT --library` lists.",
    "overwrite": "whether to replace the file.",
    "threads": "number of threads that run episodes, or a `Backend` such as a cluster; all cores by default. "
    "The result does not depend on it.",
    "progress": "whether to show a bar. An interrupt then lets the current batch finish and be saved.",
}
_ERRORS = "SurefootError: a name, an argument or a file is wrong; `robots.errors` has a class for each."
_ARGUMENTS, _RAISES = "    Args:", "    Raises:"
_WIDTH = 110


def asked(record: type[_Request], settings: Mapping[str, object]) -> _Request:
    """The request that settings make, of which None stands for the default."""
    return validate(record, {name: value for name, value in settings.items() if value is not None})


def takes(record: type[Record] | None = None) -> Callable[[_Function], _Function]:
    """Have a function's signature and docstring say which `**settings` it takes: the fields of a record.

    The docstring also gets the arguments of `_SHARED` that it leaves out, and which errors there are.
    """
    fields = {} if record is None else record.model_fields
    hints = {} if record is None else get_type_hints(record)
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[name])
        for name, field in fields.items()
    ]

    def add(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [
            one
            for one in signature.parameters.values()
            if record is None or one.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        function.__signature__ = signature.replace(parameters=[*own, *keywords])  # type: ignore[attr-defined]
        lines = (function.__doc__ or "").rstrip().split("\n")
        known = {line.strip().partition(":")[0] for line in lines if line.startswith(" " * 8)}
        words = {one.name: _SHARED[one.name] for one in own if one.name in _SHARED.keys() - known}
        words |= {name: attribute_words(record, name) for name in fields if record is not None}
        lines += [] if _ARGUMENTS in lines else ["", _ARGUMENTS]
        place = lines.index(_ARGUMENTS) + 1
        place += next((n for n, line in enumerate(lines[place:]) if not line), len(lines) - place)
        lines[place:place] = [_entry(f"{name}: {text}") for name, text in words.items()]
        if _RAISES not in lines:
            lines += ["", _RAISES, _entry(_ERRORS)]
        function.__doc__ = "\n".join(lines)
        return function

    return add


def _entry(text: str) -> str:
    first, later = " " * 8, " " * 12
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)

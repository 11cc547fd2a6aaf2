"""Options that derive from records of settings: types, ranges, defaults and help texts are written once."""

import types
from collections.abc import Callable
from functools import reduce, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from robots.files.records import Record, attribute_words, default_of
from surefoot.commands.console import AnyPath, Names, Number, Sizes, Whole
from surefoot.keywords import asked

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_UNIONS = (Union, types.UnionType)


class _SelectorOption(click.Option):
    """An option whose help lists the selectors that there are, once help is asked for."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from adapt.selectors.catalogue import DEFAULT_SELECTOR, selector_entries

        known = "; ".join(f"{name}: {entry.summary}" for name, entry in selector_entries().items())
        self.help = f"How trials are chosen: {known}.  [default: {DEFAULT_SELECTOR}]"
        return super().get_help_record(ctx)


selector_option = click.option("--selector", cls=_SelectorOption, metavar="NAME")


def setting_option(
    record: type,
    name: str,
    *,
    flag: str = "",
    default: object = ...,
    before: str = "",
    more: str = "",
    repeated: str = "",
) -> Decorator:
    """The option for a field of a record of settings, as its docstring describes it.

    A default in brackets is only shown: not given, the option then is None. `before` comes before the
    description, and `more` after it. An option that may be `repeated` takes one such value at a time.
    """
    default = default_of(record, name) if default is ... else default
    text = attribute_words(record, name).rstrip(".")
    words = f"{before}{text}.{more}" if before else f"{text[0].upper()}{text[1:]}.{more}"
    flag = flag or f"--{name.replace('_', '-')}"
    if repeated:
        return click.option(flag, name, multiple=True, metavar=repeated, help=words)
    kind = _kind(get_type_hints(record, include_extras=True)[name])
    if kind is click.BOOL:
        return click.option(flag, name, is_flag=True, help=words)
    if isinstance(default, str) and default.startswith("["):
        return click.option(flag, name, type=kind, help=f"{words}  {default}")
    default = ",".join(map(str, default)) if isinstance(default, tuple) else default
    return click.option(flag, name, type=kind, default=default, show_default=True, help=words)


def chain(*decorators: Decorator) -> Decorator:
    """Apply decorators so that the help lists their options in this order."""
    return lambda command: reduce(lambda made, one: one(made), reversed(decorators), command)


def request_options(request: type[Record] | Record, *names: str, **others: Decorator) -> Decorator:
    """Give a command the options of a request, and instead of their values the request as `request`.

    Args:
        request: its record; or a request, whose values are then the defaults.
        *names: of the fields that the command has options for; all by default.
        **others: options for fields that need one of their own.
    """
    record = request if isinstance(request, type) else type(request)
    known = {} if isinstance(request, type) else dict(request)
    asked_for = names or tuple(record.model_fields)

    def option(name: str) -> Decorator:
        default = known.get(name, default_of(record, name))
        return others.get(name) or setting_option(record, name, default=default)

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def asking(*arguments: Any, **options: Any) -> Any:
            given = {name: options.pop(name) for name in asked_for}
            chosen = known | {name: value for name, value in given.items() if value is not None}
            return command(*arguments, request=asked(record, chosen), **options)

        return chain(*map(option, asked_for))(asking)

    return add


def _kind(annotation: Any, rules: tuple[Any, ...] = ()) -> click.ParamType:
    """The type of an option for values of a type, within the bounds that pydantic is told."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(parts[0], (*rules, *parts[1:]))
    if origin in _UNIONS:
        kinds = [_kind(part, rules) for part in parts if part is not types.NoneType]
        return click.STRING if click.STRING in kinds else kinds[0]
    if origin is Literal:
        return click.Choice(parts)
    if origin is tuple:
        return Sizes() if parts[0] is int else Names()
    if annotation is bool:
        return click.BOOL
    if annotation is Path:
        return AnyPath
    if annotation not in (int, float):
        return click.STRING
    bounds: dict[str, Any] = {}
    for rule in (one for some in rules for one in getattr(some, "metadata", [some])):
        for bound in ("ge", "gt", "le", "lt"):
            if getattr(rule, bound, None) is not None:
                bounds[bound] = getattr(rule, bound)
    low, high = bounds.get("ge", bounds.get("gt")), bounds.get("le", bounds.get("lt"))
    if annotation is int:
        return Whole(bounds["gt"] + 1 if "gt" in bounds else low, high)
    return Number(low, high, min_open="gt" in bounds, max_open="lt" in bounds)


MAP_HELP = (
    "What the policy observes: playground, mjlab, unitree_rl_lab, legged_gym, sb3, or the path of a YAML "
    "that says it."
)

"""Surefoot: train repertoires of gaits, and get a damaged walking robot going again.

Its names are those of `__all__`, each with a docstring, and `surefoot.environments`: the walking task for
Gymnasium, whose environments are registered when it is imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robots.link.observer import Observer
    from robots.plugins import load_plugins
    from surefoot.api import (
        calibrate,
        deploy,
        evaluate,
        keep,
        load,
        merge,
        recover,
        rehearse,
        resume,
        show,
        strengthen,
        train,
    )
    from surefoot.driving import drive
    from surefoot.mission import Mission
    from surefoot.search import Search

__all__ = [
    "Mission",
    "Observer",
    "Search",
    "calibrate",
    "deploy",
    "drive",
    "evaluate",
    "keep",
    "load",
    "load_plugins",
    "merge",
    "recover",
    "rehearse",
    "resume",
    "show",
    "strengthen",
    "train",
]

_HOMES = (
    *("surefoot.api", "surefoot.driving", "surefoot.mission", "surefoot.search"),
    *("robots.plugins", "robots.link.observer"),
)


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: `import surefoot` itself takes no time."""
    if name == "__version__":
        return str(import_module("importlib.metadata").version("surefoot"))
    if name not in __all__:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}; it has {', '.join(__all__)}")
    return next(vars(home)[name] for home in map(import_module, _HOMES) if name in vars(home))


def __dir__() -> list[str]:
    """The public names, which are imported when they are used; for the completion of shells."""
    return [*__all__, "__version__"]

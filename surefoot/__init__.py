"""Surefoot: train repertoires of gaits, and get a damaged walking robot going again.

* `load`: read a repertoire, with `.to_pandas()` and `.policy(cell or "best")`; `show` prints what it is.
* `train`: train a repertoire for a robot or a benchmark problem; `resume` goes on after an interruption.
* `recover`: break a robot and find a gait that still works; `keep` adds what it refined, `deploy` walks.
* `Mission`: walk to goals while things break: the robot notices, recovers where it stands, and walks on.
* `drive`: play a gait on a robot behind a link.
* `calibrate`: fit models of the robot to what it did while it was whole; `recover` thinks with them.
* `evaluate` and `rehearse`: try every gait again, or under a library of damages.
* `strengthen`: add gaits for the damages that leave a repertoire no good one.
* `merge`: put the best gaits of several repertoires into one.
* `Search`: quality-diversity optimisation of a function of one's own by `ask` and `tell`.
* `surefoot.environments`: the walking task for Gymnasium; importing it registers the environments.
* `Observer`: make of raw sensor readings what a controller was trained to see.
* `load_plugins`: add kinds of damage, selectors and other things of one's own.
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

_HOMES = {
    "Mission": "surefoot.mission",
    "Observer": "robots.link.observer",
    "Search": "surefoot.search",
    "drive": "surefoot.driving",
    "load_plugins": "robots.plugins",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: `import surefoot` itself takes no time."""
    if name == "__version__":
        return str(import_module("importlib.metadata").version("surefoot"))
    if name not in __all__:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES.get(name, "surefoot.api")), name)


def __dir__() -> list[str]:
    """The public names, which are imported when they are used; for the completion of shells."""
    return [*__all__, "__version__"]

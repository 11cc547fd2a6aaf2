"""Surefoot: train repertoires of gaits, and get a damaged walking robot going again.

* `load`: read a repertoire, which offers `.to_pandas()` and `.policy(cell or "best")`.
* `train`: train a repertoire for a robot or a benchmark problem.
* `recover`: break a robot and find a gait that still works.
* `Search`: quality-diversity optimisation of a function of one's own by `ask` and `tell`.
* `surefoot.environments`: the walking task for Gymnasium; importing it registers the environments.
* `load_plugins`: add kinds of damage, selectors and other things of one's own.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robots.plugins import load_plugins
    from surefoot.api import load, recover, train
    from surefoot.search import Search

__all__ = ["Search", "load", "load_plugins", "recover", "train"]

_HOMES = {
    "Search": "surefoot.search",
    "load": "surefoot.api",
    "load_plugins": "robots.plugins",
    "recover": "surefoot.api",
    "train": "surefoot.api",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: `import surefoot` itself takes no time."""
    if name not in _HOMES:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)

"""The kinds of damage, similar ones in a file each; `damage_kinds` finds them all."""

import importlib
import pkgutil
from functools import cache

from adapt.damage.damage import KINDS, Defect
from robots.registry import Registry


def damage_kinds() -> Registry[type[Defect]]:
    """All kinds of defects by name: those of this package, and those that a user has registered."""
    _import_all()
    return Registry(KINDS.what, sorted(KINDS.items()))


@cache
def _import_all() -> None:
    """Import the modules of this package, which register their kinds."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")

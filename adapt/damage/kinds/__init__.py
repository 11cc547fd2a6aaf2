"""The kinds of damage, similar ones in a file each; `damage_kinds` finds them all."""

import importlib
import pkgutil
from functools import cache

from adapt.damage.damage import KINDS, SingleDamage
from robots.registry import Registry


def damage_kinds() -> Registry[type[SingleDamage]]:
    """All kinds of damage by name: those of this package, and those that a user has registered."""
    _import_all()
    return Registry(KINDS.what, sorted(KINDS.items()))


def kinds_in_order() -> list[type[SingleDamage]]:
    """All kinds in the order in which they are tried and listed, see `SingleDamage.order`."""
    return sorted(damage_kinds().values(), key=lambda kind: kind.order)


@cache
def _import_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")

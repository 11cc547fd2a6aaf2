"""Damage: each kind is a change to a robot's model, and a word on the command line.

* `damage`: `Damage`, the contract, the table of kinds, and `parse_damage`, which reads `front_left:lost`.
* `lost`: `Lost`, a leg that is gone from the hip on.
* `dead`: `Dead`, a leg whose motors give no torque.
"""

from adapt.damage.damage import Damage, damage_kinds, parse_damage, register
from adapt.damage.dead import Dead
from adapt.damage.lost import Lost

__all__ = ["Damage", "Dead", "Lost", "damage_kinds", "parse_damage", "register"]

"""Damage: each kind is a change to a robot, and a word on the command line.

* `damage`: `Damage`, the contract; `defect`: one thing wrong with one part, and the table of kinds;
  `combination`: several at once, or none; `parsing`: `parse_damage`, which reads `front_left:lost`.
* `target`, `strength`, `anatomy`: which part, how bad, and what the robot has there.
* `effect`: what a damage does to a robot, and which damages contradict each other.
* `parts`, `frames`, `contacts`, `marks`: what the kinds do to a model.
* `lost`, `dead`, `weak`, `locked`, `short`, `slip`, `stuck_sensor`, `noisy_sensor`, `payload`, `delay`,
  `friction`, `slope`: the kinds.
* `library`: the damages to rehearse; `files`: lists of damages in YAML; `words`: all of this for a reader.
"""

from adapt.damage.combination import Combination
from adapt.damage.damage import Damage
from adapt.damage.dead import Dead
from adapt.damage.defect import Defect, damage_kinds, register
from adapt.damage.delay import Delay
from adapt.damage.friction import Friction
from adapt.damage.library import LIMB_LOSS, damage_library, family
from adapt.damage.locked import Locked
from adapt.damage.lost import Lost
from adapt.damage.noisy_sensor import NoisySensor
from adapt.damage.parsing import parse_damage
from adapt.damage.payload import Payload
from adapt.damage.short import Short
from adapt.damage.slip import Slip
from adapt.damage.slope import Slope
from adapt.damage.stuck_sensor import StuckSensor
from adapt.damage.weak import Weak

__all__ = [
    "LIMB_LOSS",
    "Combination",
    "Damage",
    "Dead",
    "Defect",
    "Delay",
    "Friction",
    "Locked",
    "Lost",
    "NoisySensor",
    "Payload",
    "Short",
    "Slip",
    "Slope",
    "StuckSensor",
    "Weak",
    "damage_kinds",
    "damage_library",
    "family",
    "parse_damage",
    "register",
]

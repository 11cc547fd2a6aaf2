"""Damage: what can be wrong with a robot, and how a user writes it.

* `damage`: `Damage`, what all damages promise; `Defect`, the base class of the kinds; `Combination`.
* `strength`: `Scale`, what a strength means.
* `parts`: the parts of a robot that damage can happen to; `edits`, `frames`: changes to a MuJoCo model;
  `patches`: changes to the numbers of a compiled one.
* `kinds/`: the kinds, similar ones in a file.
* `text`: `parse_damage` reads `front_left:lost`; lists of damages in YAML; all of this in words.
* `library`: the damages to rehearse.
"""

HEALTHY = "healthy"  # the text of no damage

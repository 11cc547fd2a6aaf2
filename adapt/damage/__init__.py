"""Damage: what can be wrong with a robot, and how a user writes it.

* `damage`: `Damage`, what all damages promise; `SingleDamage`, the base class of the kinds; `Suspect`.
* `strength`: what a strength means, and which are suspected.
* `parts`: the parts of a robot that damage can happen to; `edits`: changes to a MuJoCo model.
* `kinds/`: the kinds, similar ones in a file; each says all that others need of it.
* `text`: `parse_damage` reads `front_left:lost`; lists of damages in YAML; all of this in words.
* `library`: the damages to rehearse.
"""

HEALTHY = "healthy"  # the text of no damage

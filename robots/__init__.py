"""What moves: robot models, controllers, closed-loop simulation.

* `robot`: `Robot`, a validated twin of MJCF and YAML; `load_robot`, `read_robot`.
* `find`: a robot by its name or by the path of its YAML; `intake`: what it takes to bring your own.
* `simulation`: `Simulation`, which evaluates many controllers in closed loop on all cores; `episodes`: what
  it finds; `lanes`: its threads.
* `environment`: the same task as a Gymnasium environment; importing this package registers one per robot,
  e.g. `gymnasium.make("surefoot/QDAnt-v0")`.
* `controllers`: what turns observations into actions.
* `rendering`: pictures, by `opengl` where that works and by `raycasting` elsewhere; `overlay`, `video`.
* `atomic`: files that are written whole or not at all.
* `errors`: `SurefootError`, the root of everything a user can get wrong.
"""

from robots.catalogue import register_environments, robot_names

__all__ = ["register_environments", "robot_names"]

register_environments()

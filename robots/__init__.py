"""What moves: robot models, controllers and closed-loop simulation.

* `catalogue`: the robots that come with it.
* `description`: a robot's YAML; `model`: its MJCF, checked and compiled; `robot`: `Robot`, both together.
* `controllers`: what turns observations into actions.
* `simulation`: `stepper` simulates one robot, `simulation` many episodes on all cores; `environment` is the
  same task for Gymnasium.
* `rendering`: pictures and videos; `importing`: what it takes to bring a robot of your own.
* `compilation`, `errors`, `files`, `plugins`, `records`, `seeds`, `words`: the ground of all else.
"""

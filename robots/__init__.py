"""What moves: robot models, controllers and closed-loop simulation.

* `catalogue`: the robots that come with it.
* `description`: a robot's YAML; `model`: its MJCF, checked and compiled; `robot`: `Robot`, both together.
* `motors`: what drives joints; `stance`: how a robot stands; `randomization`: models that differ.
* `controllers`: what turns observations into actions.
* `simulation`: `stepper` simulates one robot, `simulation` many episodes on all cores; `environment` is the
  same task for Gymnasium. `evaluations`: what episodes and other evaluations give.
* `deployment`: one walk, measured and filmed; `rendering`: pictures and videos.
* `importing`: what it takes to bring a robot of your own; `mjcf`: models of others, read within limits.
* `arrays`, `compilation`, `errors`, `files`, `plugins`, `seeds`, `words`: the ground of all else.
"""

"""What moves: robot models, controllers and closed-loop simulation.

* `catalogue`: the robots that come with it.
* `task`: what a YAML declares of observations, reward, measures and terrain; `description`: the whole YAML;
  `model`: the MJCF, checked and compiled; `robot`: `Robot`, both together; `facts`: both in words.
* `motors`: what drives joints; `stance`: how a robot stands; `attitude`: how far it leans; `symmetry`: gaits
  in the mirror; `randomization`: models that differ.
* `controllers`: what turns observations into actions.
* `simulation`: `stepper` simulates one robot, `simulation` many episodes on all cores; `environment` is the
  same task for Gymnasium. `evaluations`: what episodes and other evaluations give.
* `deployment`: one walk, measured and filmed; `link`: onto a real robot; `rendering`: pictures and videos.
* `importing`: what it takes to bring a robot of your own; `mjcf`: models of others, read within limits.
* `arrays`, `compilation`, `errors`, `files`, `plugins`, `seeds`, `words`: the ground of all else.
"""

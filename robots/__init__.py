"""What moves: robot models, controllers and closed-loop simulation.

* `catalogue`: the robots that come with it.
* `task`: what a YAML declares of observations, reward, measures and terrain; `description`: the whole YAML;
  `model`: the MJCF, checked and compiled; `robot`: `Robot`, both together; `facts`: both in words.
* `motors`: what drives joints; `stance`: how a robot stands; `attitude`: how far it leans; `pose`: where it
  is; `symmetry`: gaits in the mirror; `randomization`: models that differ.
* `controllers`: what turns observations into actions, policies that others trained among them.
* `simulation`: `stepper` simulates one robot, `backend` is the contract of what runs many episodes;
  `environment` is the same task for Gymnasium. `evaluations`: what episodes and other evaluations give.
* `deployment`: one walk, measured and filmed; `link`: onto a real robot; `rendering`: pictures and videos.
* `importing`: what it takes to bring a robot of your own; `mjcf`: models of others, read within limits.
* `arrays`, `compilation`, `errors`, `files`, `plugins`, `seeds`, `words`, `workers`: the ground of all else.
"""

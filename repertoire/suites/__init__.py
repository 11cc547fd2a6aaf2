"""Suites: the experiments of the field as studies that are run, resumed and reported on.

* `optimization`: the CMA-MAE variants on the benchmarks Sphere, Arm and Maze.
* `study`: `Study`, many trials in a folder, in parallel processes; `progress`: how far it is.
* `runner`: one trial; `result`: what it leaves behind; `files`: that in a file.
* `report`: what a study shows, in Markdown and HTML, beside the numbers of `paper`.
* `trials`, `tables`, `agreement`, `hypotheses`, `figures`, `sections`, `document`, `formats`: parts of it.
"""

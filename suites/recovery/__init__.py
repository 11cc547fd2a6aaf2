"""The recovery benchmark: how well and how soon selectors recover, relative to the best of the repertoire.

* `cases`, `hexapod.yaml`, `tuning.yaml`: damages to recover from, and tracks.
* `study`: a benchmark in a folder, and `truth_tables`: the true outcomes of all controllers.
* `replay`: one recovery, read from a table; `recoveries`: all of them, in parallel processes, as a data
  frame; `simulation`: some on the simulated robot.
* `simulated_study`: recoveries of which every trial is simulated, also from random `faults`;
  `simulated_report`: their report.
* `metrics`: statistics of recoveries; `report`, `figures`, `videos`: the report.
"""

"""The recovery benchmark: how well and how soon selectors recover, relative to the best of the repertoire.

* `cases`, `hexapod.yaml`, `tuning.yaml`: damages to recover from, and tracks; `reality_gap`: robots that
  differ from the rehearsed one.
* `study`: a benchmark in a folder, and `plans`: its tables of the true outcomes of all controllers.
* `replay`: one recovery, read from a table; `runner`: all of them, in parallel processes; `simulation`: some
  on the simulated robot.
* `results`: records; `metrics`: their statistics; `report`, `tables`, `figures`, `videos`: the report.
"""

"""The recovery benchmark: how well and how soon selectors recover, against the repertoire's own oracle.

* `damages`, `hexapod.yaml`, `tuning.yaml`: what is broken; `tracks`: what selectors know beforehand; `gap`:
  robots that differ from the rehearsed one.
* `truth`: tables of what every controller does under every damage, and the oracles; `study`: all of them in a
  folder; `case`: a damage with its truth; `schedule`, `replays`: recoveries from tables; `simulated`: some on
  the simulated robot; `runs`, `results`: what came of it; `estimate`: how long it takes.
* `metrics`, `summaries`, `paired`, `targets`: numbers that sum up recoveries, and tests of their differences.
* `report`, `sections`, `tables`, `figures`, `videos`, `notes`, `words`, `formats`: the report.
"""

"""The recovery benchmark: how well and how soon selectors recover, against the repertoire's own oracle.

* `damages`, `hexapod.yaml`, `tuning.yaml`: what is broken; `tracks`: what selectors know beforehand; `gap`:
  robots that differ from the rehearsed one.
* `exhaustive`: tables of what every controller does under every damage; `study`: all of them in a folder.
* `case`: a damage with its truth and its oracle; `schedule`, `replays`: recoveries from tables; `simulated`:
  some of them on the simulated robot; `runs`, `results`: what came of them; `estimate`: how long they take.
* `metrics`, `summaries`, `paired`, `targets`: numbers that sum up recoveries, and tests of their differences.
* `report`, `sections`, `tables`, `figures`, `videos`, `notes`, `words`, `formats`: the report.
"""

"""Rehearsal: what every controller of a repertoire does under every damage of a library, tried in simulation.

* `rehearsal`: the evaluation that runs the episodes.
* `table`: `Table`, what it finds, what is left under each damage, and `Expectations` of trials.
* `storage`: tables in files.
"""

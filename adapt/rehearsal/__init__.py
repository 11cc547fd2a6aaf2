"""Rehearsal: what every controller of a repertoire does under every damage of a library, tried in simulation.

* `rehearsal`: the evaluation that runs the episodes.
* `table`: `Table`, what it finds, and how well the repertoire survives each damage.
* `storage`: tables in files.
"""

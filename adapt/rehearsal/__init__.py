"""Rehearsal: what every controller of a repertoire does under every damage of a library, tried in simulation.

* `rehearsal`: the evaluation that runs the episodes.
* `table`: `Table`, what it finds, and how well the repertoire survives each damage.
* `conditions`: what a table expects of trials.
* `storage`: tables in files.
* `plots`: what the repertoire can still do, in a picture.
"""

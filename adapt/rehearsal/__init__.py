"""Rehearsal: what every controller of a repertoire does under every damage of a library, known beforehand.

* `table`: `Table`, what a rehearsal found.
* `stage`: `Stage`, where episodes run under one condition after another.
* `rehearsal`: `Rehearsal`, which runs them, in blocks between which it can be interrupted.
* `samples`: the episodes of an unfinished rehearsal, and the file that keeps them.
* `storage`: tables in files.
* `survival`: how well a repertoire survives each damage, from its table.
* `plots`: a picture of that.
"""

from adapt.rehearsal.rehearsal import Rehearsal
from adapt.rehearsal.storage import read_table, rehearsal_path, write_table
from adapt.rehearsal.table import Table

__all__ = ["Rehearsal", "Table", "read_table", "rehearsal_path", "write_table"]

"""Some of the Hexapod's gaits, so that missions take seconds."""

from dataclasses import replace
from functools import cache

import numpy as np

import surefoot
from adapt.rehearsal.storage import read_table
from adapt.rehearsal.table import Table
from repertoire.repertoire import Repertoire
from repertoire.storage.files import RunFiles
from surefoot.shipped import repertoire_path

_GAITS = 60


@cache
def small_hexapod() -> tuple[Repertoire, Table]:
    """Gaits that walk under some damage, those that turn most, and what was rehearsed of them."""
    whole = surefoot.load("hexapod")
    table = read_table(RunFiles(repertoire_path("hexapod")).rehearsal, whole)
    good = np.argsort(-table.objectives[:30].mean(axis=0), kind="stable")
    turns = np.argsort(table.evidence[0, :, table.evidence_names.index("sine of heading")], kind="stable")
    rows = np.unique([*good[:_GAITS], *turns[:10], *turns[-10:]])
    parts = {
        name: value[:, rows]
        for name, value in vars(table).items()
        if isinstance(value, np.ndarray) and value.shape[:2] == table.objectives.shape
    }
    kept = replace(whole, elites=whole.elites.take(rows), specialists=None, spread=None)
    return kept, replace(table, **parts)

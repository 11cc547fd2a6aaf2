"""Some gaits of included robots, so that missions take seconds."""

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
    whole, table = _included("hexapod")
    good = np.argsort(-table.objectives[:30].mean(axis=0), kind="stable")
    turns = np.argsort(table.evidence[0, :, table.evidence_names.index("sine of heading")], kind="stable")
    return _some(whole, table, np.unique([*good[:_GAITS], *turns[:10], *turns[-10:]]))


@cache
def small_ant() -> tuple[Repertoire, Table]:
    """Gaits of a robot that cannot stand still, and what was rehearsed of them."""
    whole, table = _included("ant")
    return _some(
        whole, table, np.argsort(-table.objectives[:, : len(whole.elites)].mean(axis=0), kind="stable")[:12]
    )


def _included(name: str) -> tuple[Repertoire, Table]:
    whole = surefoot.load(name)
    return whole, read_table(RunFiles(repertoire_path(name)).rehearsal, whole)


def _some(whole: Repertoire, table: Table, rows: np.ndarray) -> tuple[Repertoire, Table]:
    parts = {
        name: value[:, rows]
        for name, value in vars(table).items()
        if isinstance(value, np.ndarray) and value.shape[:2] == table.objectives.shape
    }
    return replace(whole, elites=whole.elites.take(rows), specialists=None, spread=None), replace(
        table, **parts
    )

"""Rehearsal tables in files; `docs/reference/format.md` describes the file."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from adapt.damage import HEALTHY
from adapt.evidence import evidence_names
from adapt.rehearsal.table import Table
from repertoire.evaluation.evaluator import Identity
from repertoire.repertoire import Repertoire
from repertoire.storage.formats import Array, Contents, Format
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidValueError
from robots.seeds import MOST_SEED

_BY_ELITE = ("conditions", "elites")
_DISTANCES = "progress/distances"
_FORMAT = Format(
    "surefoot rehearsal",
    version=3,
    arrays={
        "objectives": Array("<f4", _BY_ELITE, compressed=True),
        "noise": Array("<f4", _BY_ELITE, low=0, compressed=True),
        "falls": Array("<f4", _BY_ELITE, low=0, high=1, compressed=True),
        "evidence": Array("<f4", (*_BY_ELITE, "evidence"), compressed=True),
        "evidence_std": Array("<f4", (*_BY_ELITE, "evidence"), low=0, compressed=True),
        "episodes": Array("<i8", low=1),
        _DISTANCES: Array("<f4", _BY_ELITE, optional=True, compressed=True),  # older files lack it
    },
    texts=("conditions", "evidence_names", "identity"),
)
# Steps to which values are rounded, as shares of their standard deviation over the table. Selectors assume
# that evidence is off by 8% of it at the least.
_STEPS = {"objectives": 1e-4, "noise": 0.1, "evidence": 0.03, "evidence_std": 0.1, _DISTANCES: 1e-3}


def write_table(path: str | Path, table: Table, identity: Identity) -> None:
    """Write a table to a file in one step; reading gives the rounded values of `docs/reference/format.md`.

    The identity says what it depends on, by name; `repertoire` is that repertoire's fingerprint.
    """
    columns = table.columns | {"episodes": np.asarray(table.episodes)}
    if table.distances is not None:
        columns[_DISTANCES] = columns.pop("distances")
    arrays = {
        name: _rounded(column, _STEPS[name]) if name in _STEPS else column for name, column in columns.items()
    }
    texts = {
        "conditions": json.dumps(table.conditions),
        "evidence_names": json.dumps(table.evidence_names),
        "identity": json.dumps(dict(identity)),
    }
    contents = Contents(arrays, texts)
    _FORMAT.check(contents)
    _FORMAT.write(path, contents)


def read_table(path: str | Path, repertoire: Repertoire) -> Table:
    """Read a table of a repertoire; one of another repertoire is refused."""
    with _FORMAT.read(path) as contents:
        conditions, names = _names(contents, "conditions"), _names(contents, "evidence_names")
        if conditions[:1] != (HEALTHY,) or len(set(conditions)) < len(conditions):
            raise InvalidValueError(f"'conditions' must be {HEALTHY!r} first, and all different")
        identity = contents.json("identity", dict)
        seed = _check_origin(identity, repertoire)
        if names != evidence_names(repertoire.robot):
            raise InvalidValueError(f"'evidence_names' must be those of the {repertoire.robot.name}")
        lengths = {"conditions": len(conditions), "elites": len(repertoire), "evidence": len(names)}
        _FORMAT.check(contents, **lengths)
        columns: dict[str, Any] = dict(contents.arrays)
        episodes = int(columns.pop("episodes"))
        columns |= {"distances": columns.pop(_DISTANCES, None), "seed": seed}
        columns["randomization"] = str(identity.get("randomization", "none"))
        table = Table(conditions=conditions, evidence_names=names, episodes=episodes, **columns)
        if tuple(map(str, table.damages)) != conditions:
            raise InvalidValueError("'conditions' must be damages as they are written in full")
    return table


def _rounded(values: np.ndarray, share: float) -> np.ndarray:
    """Values rounded to steps of at most a share of their standard deviation, for each kind of evidence.

    Steps are powers of two, since gzip compresses numbers best that have few binary digits.
    """
    std = values.std(axis=(0, 1), dtype=np.float64)
    step = 2.0 ** np.floor(np.log2(share * np.where(std > 0, std, 1)))
    return np.where(std > 0, np.rint(values / step) * step, values).astype(np.float32)


def _names(contents: Contents, text: str) -> tuple[str, ...]:
    names = contents.json(text, list)
    if not all(isinstance(name, str) for name in names):
        raise InvalidValueError(f"{text!r} must hold a list of texts")
    return tuple(map(str, names))


def _check_origin(identity: Identity, repertoire: Repertoire) -> int | None:
    """Refuse a table of another repertoire; return the seed of its episodes."""
    found, expected = str(identity.get("repertoire")), fingerprint(repertoire)
    if found != expected:
        raise InvalidValueError(
            f"it is the rehearsal of another repertoire (checksum {found[:16]}, not {expected[:16]}): "
            "rehearse this one"
        )
    seed = identity.get("seed")
    return seed if isinstance(seed, int) and 0 <= seed <= MOST_SEED else None

"""`Samples`: the episodes of a rehearsal under way, and the file that keeps them when it is interrupted."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repertoire.storage.hdf5 import create_file, open_file
from repertoire.storage.unfinished import Identity, read_unfinished, write_unfinished
from robots.errors import InvalidValueError

_FORMAT = "surefoot rehearsal samples"


@dataclass(frozen=True, eq=False)
class Samples:
    """Results of s episodes in their order. Of those that diverged, see `Table`.

    Attributes:
        objectives: (s,) float32.
        fell: whether the episode ended in a fall, (s,) uint8.
        evidence: what the episodes show, (s, e) float32.
    """

    objectives: np.ndarray
    fell: np.ndarray
    evidence: np.ndarray

    def __len__(self) -> int:
        return len(self.objectives)

    def __getitem__(self, part: slice) -> "Samples":
        """Views of some of the episodes."""
        return Samples(self.objectives[part], self.fell[part], self.evidence[part])


def empty_samples(episodes: int, evidence_dim: int) -> Samples:
    """Samples to be filled in."""
    return Samples(
        np.zeros(episodes, np.float32),
        np.zeros(episodes, np.uint8),
        np.zeros((episodes, evidence_dim), np.float32),
    )


def write_samples(path: Path, samples: Samples, identity: Identity) -> None:
    """Write samples to a file in one step.

    Args:
        path: the file; its folder must exist.
        samples: the first of those that there will be.
        identity: what they are a function of, by name.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    with create_file(path) as file:
        write_unfinished(file, _FORMAT, vars(samples), identity)


def read_samples(path: Path, identity: Identity, *, most: int, evidence_dim: int) -> Samples:
    """Read samples.

    Args:
        path: the file.
        identity: what they should be a function of.
        most: how many there may be.
        evidence_dim: e.

    Raises:
        InvalidFileError: the file cannot be read, holds no sound samples, or those of something else.
    """
    with open_file(path) as file:
        arrays = read_unfinished(file, _FORMAT, identity)
        samples = Samples(*(arrays[name] for name in ("objectives", "fell", "evidence")))
        _check_samples(samples, most, evidence_dim)
    return samples


def _check_samples(samples: Samples, most: int, evidence_dim: int) -> None:
    """Raise if samples do not fit each other, or are impossible."""
    count = samples.objectives.size
    expected = empty_samples(min(count, most), evidence_dim)
    for name, column in vars(samples).items():
        wanted = getattr(expected, name)
        if (column.dtype, column.shape) != (wanted.dtype, wanted.shape):
            raise InvalidValueError(
                f"{name!r} must be {wanted.dtype} {wanted.shape}, not {column.dtype} {column.shape}"
            )
        if not np.isfinite(column).all():
            raise InvalidValueError(f"{name!r} must be finite")
    if samples.fell.max(initial=0) > 1:
        raise InvalidValueError("'fell' must be 0 or 1")

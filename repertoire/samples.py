"""`Samples`: what elites did in fresh episodes, and the file that keeps those of an unfinished evaluation."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repertoire.storage.hdf5 import create_file, open_file
from repertoire.storage.unfinished import Identity, read_unfinished, write_unfinished
from robots.errors import InvalidValueError

_FORMAT = "surefoot samples"


@dataclass(frozen=True, eq=False)
class Samples:
    """Results of s episodes in their order.

    Attributes:
        objectives: (s,) float64, nan where the simulation diverged.
        measures: (s, m) float64, nan where the simulation diverged.
    """

    objectives: np.ndarray
    measures: np.ndarray

    def __len__(self) -> int:
        return len(self.objectives)


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


def read_samples(path: Path, identity: Identity, *, most: int, measure_dim: int) -> Samples:
    """Read samples.

    Args:
        path: the file.
        identity: what they should be a function of.
        most: how many there may be.
        measure_dim: m.

    Raises:
        InvalidFileError: the file cannot be read, holds no sound samples, or those of something else.
    """
    with open_file(path) as file:
        arrays = read_unfinished(file, _FORMAT, identity)
        samples = Samples(arrays["objectives"], arrays["measures"])
        _check_samples(samples, most, measure_dim)
    return samples


def _check_samples(samples: Samples, most: int, measure_dim: int) -> None:
    """Raise if samples do not fit each other, or are impossible."""
    count = samples.objectives.size
    shapes = samples.objectives.shape == (count,) and samples.measures.shape == (count, measure_dim)
    if not shapes or count > most or any(column.dtype != "<f8" for column in vars(samples).values()):
        raise InvalidValueError(
            f"it must hold the objectives and {measure_dim} measures of at most {most} episodes as float64"
        )
    diverged = np.isnan(samples.objectives)
    if np.isinf(samples.objectives).any() or not (np.isfinite(samples.measures) == ~diverged[:, None]).all():
        raise InvalidValueError("objectives and measures must be finite, or nan in the same episodes")

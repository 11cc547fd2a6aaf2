"""What the files of a format hold: declared once, and checked whenever a file is written or read."""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

import h5py
import numpy as np

from repertoire.storage.hdf5 import Contents, read_attribute, read_tree, write_tree
from robots.errors import InvalidValueError

Identity = Mapping[str, str | int]  # what results depend on, by name
Kind = TypeVar("Kind", bound=dict[str, object] | list[object])


@dataclass(frozen=True)
class Array:
    """What an array must be.

    Attributes:
        dtype: type in numpy's notation; None if any numeric type is allowed.
        shape: names of the dimensions; a name stands for the same length in all arrays of a file. None if
            any shape is allowed.
            any shape is allowed.
        low: least value.
        high: largest value.
        finite: whether every value must be finite.
        optional: whether the array may be missing, together with the others of its group.
        compressed: whether the array is stored with gzip.
    """

    dtype: str | None
    shape: tuple[str, ...] | None = ()
    low: float = -math.inf
    high: float = math.inf
    finite: bool = True
    optional: bool = False
    compressed: bool = False

    def check(self, name: str, array: np.ndarray, lengths: dict[str, int]) -> None:
        """Refuse an array that is not this or does not fit the known lengths, which its own are added to."""
        dtype = np.dtype(self.dtype or array.dtype)
        names = self.shape if self.shape is not None else [f"{name} {axis}" for axis in range(array.ndim)]
        if array.dtype != dtype or array.ndim != len(names):
            raise InvalidValueError(
                f"{name!r} must be {dtype} of rank {len(names)}, not {array.dtype} of rank {array.ndim}"
            )
        expected = tuple(map(lengths.setdefault, names, array.shape))
        if array.shape != expected:
            raise InvalidValueError(f"{name!r} must have shape {expected}, not {array.shape}")
        wrong = ~np.isfinite(array) if self.finite else np.zeros(array.shape, bool)
        if (self.low, self.high) != (-math.inf, math.inf):
            wrong |= (array < self.low) | (array > self.high)
        if wrong.any():
            raise InvalidValueError(
                f"{name!r} must be finite and from {self.low:g} to {self.high:g}, "
                f"but {np.count_nonzero(wrong)} of {array.size} values are not"
            )


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes:
        name: of the format, written to every file.
        version: the only one that is read.
        arrays: by name; a name that ends in "/*" declares any number of arrays in a group.
        texts: names of the texts.
        optional_texts: names of the texts that may be missing.
    """

    name: str
    version: int
    arrays: Mapping[str, Array]
    texts: Collection[str] = ()
    optional_texts: Collection[str] = ()

    def save(self, file: h5py.File, contents: Contents) -> None:
        """Check contents and write them to an empty file.

        Raises:
            InvalidValueError: the contents could not be read again.
        """
        self.check(contents)
        file.attrs["format"], file.attrs["version"] = np.bytes_(self.name.encode()), np.int64(self.version)
        compressed = {name for name in contents.arrays if self.declared(name).compressed}
        write_tree(file, contents, compressed=compressed)

    def load(self, file: h5py.File, *, without: Collection[str] = ()) -> Contents:
        """Read and check the contents of a file, without some members of its root group.

        Raises:
            InvalidValueError: the file is of another format or version, is damaged, or has other contents.
        """
        self.check_version(file)
        contents = read_tree(file, without=without)
        self.check(contents)
        return contents

    def check_version(self, file: h5py.File) -> None:
        """Raise `InvalidValueError` if a file is of another format or version."""
        if read_attribute(file, "format") != self.name:
            kind = self.name.removeprefix("surefoot ")
            raise InvalidValueError(f"it is no {kind} file: its attribute 'format' is not {self.name!r}")
        version = read_attribute(file, "version")
        if version != self.version:
            raise InvalidValueError(
                f"it is in version {version} of the format {self.name!r}, "
                f"but this software reads only version {self.version}"
            )

    def check(self, contents: Contents, **lengths: int) -> None:
        """Refuse contents that are not what the format declares.

        Args:
            contents: of a file.
            **lengths: of the dimensions whose length is known, by name.

        Raises:
            InvalidValueError: something is missing, not declared, or of another type, shape or value.
        """
        groups = {name.rpartition("/")[0] for name in contents.arrays}
        for name, declared in self.arrays.items():
            needed = not declared.optional or name.rpartition("/")[0] in groups
            if needed and not name.endswith("/*") and name not in contents.arrays:
                raise InvalidValueError(f"the array {name!r} is missing")
        for name in self.texts:
            if name not in contents.texts:
                raise InvalidValueError(f"the text {name!r} is missing")
        for name in contents.texts.keys() - {*self.texts, *self.optional_texts}:
            raise InvalidValueError(f"the text {name!r} is not part of the format")
        for name in sorted(contents.arrays):
            self.declared(name).check(name, contents.arrays[name], lengths)

    def declared(self, name: str) -> Array:
        """What is declared of an array.

        Raises:
            InvalidValueError: nothing is.
        """
        array = self.arrays.get(name) or self.arrays.get(f"{name.partition('/')[0]}/*")
        if array is None:
            raise InvalidValueError(f"the array {name!r} is not part of the format")
        return array


def parse_json(contents: Contents, name: str, kind: type[Kind]) -> Kind:
    """Parse a text that holds a JSON object, or a list.

    Raises:
        InvalidValueError: the text is not valid JSON, or holds something else.
    """
    try:
        value = json.loads(contents.texts[name])
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(f"{name!r} is not valid JSON: {error}") from error
    if not isinstance(value, kind):
        raise InvalidValueError(f"{name!r} must hold a JSON {'list' if kind is list else 'object'}")
    return value


def check_identity(contents: Contents, expected: Identity) -> None:
    """Check the text "identity" of unfinished results, which says what they depend on.

    Raises:
        InvalidValueError: the results depend on something else than expected, and cannot be continued.
    """
    found = parse_json(contents, "identity", dict)
    wrong = [
        f"{name} {found.get(name)}, not {value}"
        for name, value in expected.items()
        if found.get(name) != value
    ]
    if wrong:
        raise InvalidValueError(f"it belongs to another evaluation ({'; '.join(wrong)})")

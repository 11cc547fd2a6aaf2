"""Formats of HDF5 files: what a file holds is declared once, and checked when it is written and read.

Files are written in one step, sealed with a checksum, and read without trusting them.
"""

import hashlib
import io
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from robots.errors import InvalidFileError, InvalidValueError, SurefootError
from robots.files.atomic import check_regular, explain_errors, replace_file
from robots.files.texts import LARGEST, check_values, parse_json

Kind = TypeVar("Kind", bound=dict[str, object] | list[object])

# the layout of HDF5 1.8 is the oldest in which metadata have checksums of their own
_LAYOUT = "v108"
_MOST_INFLATED = 2**30  # [bytes] by which the arrays of a file may be larger than the file
SUM = 1e38  # largest sum of numbers up to `LARGEST`, such as a QD score; float32 holds it, too
_FILTERS: tuple[list[int], ...] = (
    [],
    [h5py.h5z.FILTER_DEFLATE],
    [h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE],
)


@dataclass(frozen=True)
class Contents:
    """Arrays and texts of a group and of the groups in it, by path; '/' in a name separates groups."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def group(self, name: str) -> dict[str, np.ndarray]:
        """The arrays of one group, by their names in it."""
        prefix = f"{name}/"
        return {key.removeprefix(prefix): self.arrays[key] for key in self.arrays if key.startswith(prefix)}

    def json(self, name: str, kind: type[Kind]) -> Kind:
        """Parse a text that holds a JSON object, or a list."""
        value = parse_json(self.texts[name])
        if not isinstance(value, kind):
            raise InvalidValueError(f"{name!r} must hold a JSON {'list' if kind is list else 'object'}")
        return value

    def checksum(self) -> str:
        """BLAKE2b of all names, types, shapes and values: see `docs/reference/format.md`."""
        total = hashlib.blake2b(digest_size=32)
        for name, text in sorted(self.texts.items()):
            encoded = text.encode()
            total.update(f"{name}\0text\0{len(encoded)}\0".encode() + encoded)
        for name, array in sorted(self.arrays.items()):
            shape = ",".join(map(str, array.shape))
            total.update(f"{name}\0{array.dtype.str}\0{shape}\0".encode())
            total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return total.hexdigest()


@dataclass(frozen=True)
class Array:
    """What an array must be."""

    dtype: str | None  # type in numpy's notation; None if any numeric type is allowed
    # names of the dimensions; a name stands for the same length in all arrays of a file. None if any shape
    # is allowed
    shape: tuple[str, ...] | None = ()
    low: float = -LARGEST  # least value
    high: float = LARGEST  # largest value
    # whether every value must be finite; otherwise the limits are those of the finite ones
    finite: bool = True
    optional: bool = False  # whether the array may be missing, together with the others of its group
    # whether the array is stored with gzip, in a chunk for every index beyond the second axis
    compressed: bool = False

    def check(self, name: str, array: np.ndarray, lengths: dict[str, int]) -> None:
        """Refuse an array that is not this or does not fit the known lengths, which its own are added to."""
        if not _storable(array.dtype):
            raise InvalidValueError(f"{name!r} must be real numbers to be saved, not {array.dtype}")
        dtype = np.dtype(self.dtype or array.dtype)
        names = self.shape if self.shape is not None else [f"{name} {axis}" for axis in range(array.ndim)]
        if array.dtype != dtype or array.ndim != len(names):
            raise InvalidValueError(
                f"{name!r} must be {dtype} of rank {len(names)}, not {array.dtype} of rank {array.ndim}"
            )
        expected = tuple(map(lengths.setdefault, names, array.shape))
        if array.shape != expected:
            raise InvalidValueError(f"{name!r} must have shape {expected}, not {array.shape}")
        finite = np.isfinite(array)
        with np.errstate(over="ignore"):  # of limits that a float16 cannot hold
            wrong = ((array < self.low) | (array > self.high)) & finite | (~finite & self.finite)
        if wrong.any():
            raise InvalidValueError(
                f"{name!r} must be {'finite and ' if self.finite else ''}from {self.low:g} to {self.high:g}, "
                f"but {np.count_nonzero(wrong)} of {array.size} values are not"
            )


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str  # written to every file
    version: int  # the only one that is read
    arrays: Mapping[str, Array]  # by name; a name that ends in "/*" declares any number of arrays in a group
    texts: Collection[str] = ()  # their names
    optional_texts: Collection[str] = ()  # names of those that may be missing
    separate: str = ""  # name of a group of any arrays that is read on its own, and has a checksum of its own

    def write(
        self, path: str | Path, contents: Contents, separate: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Write contents, and arrays in the separate group unless they are None, in one step."""
        compressed = {name for name in contents.arrays if self.declared(name).compressed}
        with replace_file(path) as temporary:
            buffer = io.BytesIO()  # HDF5 can end the process when it cannot write, as to a full disk
            with h5py.File(buffer, "w", libver=_LAYOUT) as file:
                file.attrs["format"] = np.bytes_(self.name.encode())
                file.attrs["version"] = np.int64(self.version)
                write_group(file, contents, compressed)
                if separate is not None:
                    arrays = {name: np.asarray(value) for name, value in separate.items()}
                    write_group(file.create_group(self.separate), Contents(arrays))
            temporary.write_bytes(buffer.getbuffer())

    @contextmanager
    def read(self, path: str | Path) -> Iterator[Contents]:
        """Read a file; whatever the body raises about its contents is reported as a fault of the file."""
        with self._opened(path) as file:
            contents = read_group(file, without=self.separate)
            self._check_names(contents)
            yield contents

    def read_separate(self, path: str | Path) -> dict[str, np.ndarray] | None:
        """Read the separate group of a file; None if there is none."""
        with self._opened(path) as file:
            return read_group(file, self.separate).arrays if self.separate in set(file) else None

    def check(self, contents: Contents, **lengths: int) -> None:
        """Refuse arrays that are not what the format declares, given known lengths of dimensions by name."""
        for name in sorted(contents.arrays):
            self.declared(name).check(name, contents.arrays[name], lengths)

    def declared(self, name: str) -> Array:
        """What is declared of an array."""
        array = self.arrays.get(name) or self.arrays.get(f"{name.partition('/')[0]}/*")
        if array is None:
            raise InvalidValueError(f"the array {name!r} is not part of the format")
        return array

    @contextmanager
    def _opened(self, path: str | Path) -> Iterator[h5py.File]:
        """Open a file of this format and version; whatever the body raises is a fault of the file."""
        with explain_errors(f"{path} cannot be read"):
            check_regular(Path(path))  # opening a pipe would wait forever
            with Path(path).open("rb"):  # is_hdf5 returns False for a file that may not be read
                if not h5py.is_hdf5(path):
                    raise OSError("it is not an HDF5 file")
        try:
            with h5py.File(path, "r") as file:
                if not _holds(file, "format", np.bytes_(self.name.encode())):
                    kind = self.name.removeprefix("surefoot ")
                    raise InvalidValueError(
                        f"it is no {kind} file: its attribute 'format' is not {self.name!r}"
                    )
                if not _holds(file, "version", self.version):
                    version = file.attrs.get("version", "unknown")
                    raise InvalidValueError(
                        f"it is in version {version} of the format {self.name!r}, "
                        f"but this software reads only version {self.version}"
                    )
                yield file
        except SurefootError as error:
            raise InvalidFileError(f"{path}: {error}") from error
        except BlockingIOError as error:
            raise InvalidFileError(
                f"{path} is open for writing in another program, which locks it: try again once that is done"
            ) from error
        except Exception as error:  # a damaged file makes HDF5 raise nearly anything
            reason = " ".join(str(error).split()).strip("'")  # the message of a KeyError is quoted
            reason = reason[:1].lower() + reason[1:]
            raise InvalidFileError(f"{path} is damaged or incomplete: {reason}") from error

    def _check_names(self, contents: Contents) -> None:
        """Refuse contents that lack something, or hold more than is declared."""
        groups = {self.declared(name) and name.rpartition("/")[0] for name in contents.arrays}
        for name, array in self.arrays.items():
            needed = not array.optional or name.rpartition("/")[0] in groups
            if needed and not name.endswith("/*") and name not in contents.arrays:
                raise InvalidValueError(f"the array {name!r} is missing")
        for name in self.texts:
            if name not in contents.texts:
                raise InvalidValueError(f"the text {name!r} is missing")
        for name in contents.texts.keys() - {*self.texts, *self.optional_texts}:
            raise InvalidValueError(f"the text {name!r} is not part of the format")


def write_group(group: h5py.Group, contents: Contents, compressed: Collection[str] = ()) -> None:
    """Write contents into an empty group in the order of their names, and their checksum as its attribute.

    The same contents then make the same file, however they came about.
    """
    for name, text in sorted(contents.texts.items()):
        dtype = h5py.string_dtype("utf-8", max(1, len(text.encode())))  # HDF5 has no strings of length 0
        group.create_dataset(name, data=np.array(text.encode(), dtype), dtype=dtype)
    for name, array in sorted(contents.arrays.items()):
        chunks = array.shape[:2] + (1,) * (array.ndim - 2)
        gzip = {"chunks": chunks, "compression": "gzip", "compression_opts": 9}
        group.create_dataset(name, data=array, **(gzip if name in compressed and array.size else {}))
    group.attrs["checksum"] = np.bytes_(contents.checksum())


def read_group(file: h5py.File, name: str = "", *, without: str = "") -> Contents:
    """Read what `write_group` wrote: a group, or all groups but one; and verify the checksum."""
    contents, room = Contents(), file.id.get_filesize() + _MOST_INFLATED
    prefix = f"{name}/" if name else ""
    if name and not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise InvalidValueError(f"{name!r} is a link, which this format does not allow")
    paths: list[str] = []
    file.visit(paths.append)  # which leaves out links
    for whole in sorted(paths):
        outside = not whole.startswith(prefix) or (without and f"{whole}/".startswith(f"{without}/"))
        if outside or isinstance(member := file[whole], h5py.Group):
            continue
        path = whole.removeprefix(prefix)
        room -= _bytes(member, path)
        if room < 0:
            raise InvalidValueError(f"{path!r} claims shape {member.shape}, which the file cannot hold")
        if member.dtype.kind == "S":
            try:
                contents.texts[path] = bytes(member[()]).decode()
                check_values(contents.texts[path])
            except (UnicodeDecodeError, InvalidValueError) as error:
                raise InvalidValueError(f"{path!r}: {error}") from error
        else:
            contents.arrays[path] = np.asarray(member[()])
    if not _holds(file[name or "/"], "checksum", np.bytes_(contents.checksum())):
        raise InvalidValueError(
            f"the content of /{name} does not match its checksum: "
            "the file was damaged, or changed after it was written"
        )
    return contents


def _bytes(dataset: Any, path: str) -> int:
    """How many bytes a dataset takes when it is read; it is refused if `write_group` does not write such."""
    text = isinstance(dataset, h5py.Dataset) and dataset.dtype.kind == "S" and dataset.shape == ()
    if not text and not (isinstance(dataset, h5py.Dataset) and _storable(dataset.dtype)):
        raise InvalidValueError(f"{path!r} must be a numeric array or a text")
    properties = dataset.id.get_create_plist()
    if dataset.is_virtual or properties.get_external_count() or dataset.shape is None:
        raise InvalidValueError(f"{path!r} must be stored in the file itself")
    # HDF5 would load whatever other filter a file names. Its own for gzip is trusted: what a chunk inflates
    # to beyond its shape is ignored, and bytes inflate to 1032 times their number at most.
    if [properties.get_filter(i)[0] for i in range(properties.get_nfilters())] not in _FILTERS:
        raise InvalidValueError(f"{path!r} must be compressed with gzip, or not at all")
    largest = max(math.prod(map(int, shape)) for shape in (dataset.shape, dataset.chunks or ()))
    return largest * dataset.dtype.itemsize  # in Python's integers, which do not overflow


def _storable(dtype: np.dtype) -> bool:
    """Whether arrays of a type have the same bytes on every machine; long doubles do not."""
    return dtype.kind in "biuf" and dtype.char != "g"


def _holds(group: h5py.Group, name: str, expected: Any) -> bool:
    return np.array_equal(group.attrs.get(name), expected)

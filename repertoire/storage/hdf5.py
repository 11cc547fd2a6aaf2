"""HDF5 files that are written in one step, sealed with a checksum, and read without trusting them."""

import hashlib
import io
import math
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

from robots.errors import InvalidFileError, InvalidValueError, SurefootError
from robots.files import replace_file

# the layout of HDF5 1.8 is the oldest in which metadata have checksums of their own
_LAYOUT = "v108"
_MOST_INFLATED = 2**30  # [bytes] of all compressed arrays of a group together


@dataclass(frozen=True)
class Contents:
    """Arrays and texts of a group and of the groups in it, by path; '/' in a name separates groups."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def group(self, name: str) -> dict[str, np.ndarray]:
        """The arrays of one group, by their names in it."""
        prefix = f"{name}/"
        return {key.removeprefix(prefix): self.arrays[key] for key in self.arrays if key.startswith(prefix)}

    def checksum(self) -> str:
        """BLAKE2b of all names, types, shapes and values: see `docs/format.md`."""
        total = hashlib.blake2b(digest_size=32)
        for name, text in sorted(self.texts.items()):
            encoded = text.encode()
            total.update(f"{name}\0text\0{len(encoded)}\0".encode())
            total.update(encoded)
        for name, array in sorted(self.arrays.items()):
            shape = ",".join(map(str, array.shape))
            total.update(f"{name}\0{array.dtype.str}\0{shape}\0".encode())
            total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return total.hexdigest()


@contextmanager
def create_file(path: str | Path) -> Iterator[h5py.File]:
    """Write an HDF5 file in one step, see `replace_file`.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    with replace_file(path) as temporary:
        buffer = io.BytesIO()  # HDF5 can end the process when it cannot write, as to a full disk
        with h5py.File(buffer, "w", libver=_LAYOUT) as file:
            yield file
        temporary.write_bytes(buffer.getbuffer())


@contextmanager
def open_file(path: str | Path) -> Iterator[h5py.File]:
    """Open an HDF5 file for reading; whatever the body raises is reported as a fault of the file.

    Raises:
        InvalidFileError: the file cannot be read or is damaged, or the body raised.
    """
    try:
        if not Path(path).is_file():  # opening a pipe would wait forever
            Path(path).stat()
            raise OSError("it is a folder" if Path(path).is_dir() else "it is not a regular file")
        with Path(path).open("rb"):
            pass  # is_hdf5 returns False for a file that may not be read
        if not h5py.is_hdf5(path):
            raise OSError("it is not an HDF5 file")
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be read: {_one_line(error.strerror or error)}") from error
    try:
        with h5py.File(path, "r") as file:
            yield file
    except SurefootError as error:
        raise InvalidFileError(f"{path}: {error}") from error
    except Exception as error:  # a damaged file makes HDF5 raise nearly anything
        raise InvalidFileError(f"{path} is damaged or incomplete: {_one_line(error)}") from error


def write_tree(group: h5py.Group, contents: Contents, *, compressed: Collection[str] = ()) -> None:
    """Write contents into an empty group, and their checksum as its attribute.

    Args:
        group: where to write.
        contents: what to write.
        compressed: names of the arrays to compress, with one chunk for every index beyond the second axis.

    Raises:
        InvalidValueError: an array is not numeric.
    """
    for name, text in contents.texts.items():
        dtype = h5py.string_dtype("utf-8", max(1, len(text.encode())))  # HDF5 has no strings of length 0
        group.create_dataset(name, data=np.array(text.encode(), dtype), dtype=dtype)
    for name, array in contents.arrays.items():
        if not _storable(array.dtype):
            raise InvalidValueError(f"{name!r} must be numeric to be saved, not {array.dtype}")
        if name in compressed and array.size:
            chunks = array.shape[:2] + (1,) * (array.ndim - 2)
            group.create_dataset(name, data=array, chunks=chunks, compression="gzip", compression_opts=9)
        else:
            group.create_dataset(name, data=array)
    group.attrs["checksum"] = np.bytes_(contents.checksum())


def read_tree(file: h5py.File, name: str = "", *, without: Collection[str] = ()) -> Contents:
    """Read a group with all that is in it, and verify its checksum.

    Only what `write_tree` writes is read: datasets in this file, which together are no larger than the file
    or, if they are compressed, than 1 GiB.

    Args:
        file: the file.
        name: of the group; the root group by default.
        without: names in the root group to leave out.

    Raises:
        InvalidValueError: the file holds something that `write_tree` does not write, or was changed.
    """
    links: dict[str, object] = {}
    file.visititems_links(links.__setitem__)
    contents, room = Contents(), {False: file.id.get_filesize(), True: _MOST_INFLATED}
    prefix = f"{name}/" if name else ""
    for path, link in sorted(links.items()):
        if not isinstance(link, h5py.HardLink):
            raise InvalidValueError(f"{path!r} is a link, which this format does not allow")
        if path.startswith(prefix) and path.partition("/")[0] not in without:
            member = file[path]
            if not isinstance(member, h5py.Group):
                _read_dataset(member, path.removeprefix(prefix), contents, room)
    if read_attribute(file[name or "/"], "checksum") != contents.checksum():
        raise InvalidValueError(
            f"the content of /{name} does not match its checksum: "
            "the file was damaged, or changed after it was written"
        )
    return contents


def read_attribute(group: h5py.Group, name: str) -> str | int | None:
    """Read an attribute that is a text or an integer; None if there is no such attribute."""
    value = group.attrs.get(name)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return int(value) if isinstance(value, np.integer) else None


def _read_dataset(dataset: object, path: str, contents: Contents, room: dict[bool, int]) -> None:
    """Add a dataset to the contents, and take its size from the room for those that are compressed or not."""
    is_text = isinstance(dataset, h5py.Dataset) and dataset.dtype.kind == "S" and dataset.shape == ()
    if not isinstance(dataset, h5py.Dataset) or not (
        is_text or (_storable(dataset.dtype) and dataset.shape is not None)
    ):
        raise InvalidValueError(f"{path!r} must be a numeric array or a text")
    properties = dataset.id.get_create_plist()
    compressed = properties.get_layout() == h5py.h5d.CHUNKED
    if properties.get_layout() == h5py.h5d.VIRTUAL or properties.get_external_count():
        raise InvalidValueError(f"{path!r} must be stored in the file itself")
    size = math.prod(map(int, dataset.shape)) * dataset.dtype.itemsize  # Python's integers do not overflow
    room[compressed] -= size
    if room[compressed] < 0 or (not compressed and size != dataset.id.get_storage_size()):
        raise InvalidValueError(f"{path!r} claims shape {dataset.shape}, which is not what the file holds")
    if is_text:
        try:
            contents.texts[path] = bytes(dataset[()]).decode()
        except UnicodeDecodeError as error:
            raise InvalidValueError(f"{path!r} is not UTF-8 text") from error
    else:
        contents.arrays[path] = _inflate(dataset, path) if compressed else np.asarray(dataset[()])


def _inflate(dataset: h5py.Dataset, path: str) -> np.ndarray:
    """Read a compressed dataset.

    This is not left to HDF5, which loads the filters that a file names and inflates chunks to any size.
    """
    properties, chunks = dataset.id.get_create_plist(), dataset.chunks
    filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    count, rest = divmod(math.prod(dataset.shape), math.prod(chunks))
    if filters != [h5py.h5z.FILTER_DEFLATE] or rest or dataset.id.get_num_chunks() != count:
        raise InvalidValueError(f"{path!r} must be compressed with gzip, in chunks of equal size")
    array = np.zeros(dataset.shape, dataset.dtype)
    size = math.prod(chunks) * array.itemsize
    for index in range(count):
        start = dataset.id.get_chunk_info(index).chunk_offset
        block = zlib.decompressobj().decompress(dataset.id.read_direct_chunk(start)[1], size + 1)
        place = tuple(slice(low, low + length) for low, length in zip(start, chunks, strict=True))
        array[place] = np.frombuffer(block, array.dtype).reshape(chunks)
    return array


def _storable(dtype: np.dtype) -> bool:
    """Whether arrays of a type have the same bytes on every machine; long doubles do not."""
    return dtype.kind in "biufc" and dtype.char not in "gG"


def _one_line(error: object) -> str:
    """A message without line breaks that begins in lower case."""
    message = " ".join(str(error).split()).strip("'")  # the message of a KeyError is quoted
    return message[:1].lower() + message[1:]

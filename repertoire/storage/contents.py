"""Arrays and texts in an HDF5 group: sealed with a checksum, and read without trusting the file."""

import hashlib
import math
from collections.abc import Collection
from dataclasses import dataclass, field

import h5py
import numpy as np

from robots.errors import InvalidValueError

_CHECKSUM = "checksum"


@dataclass(frozen=True)
class Contents:
    """What a group holds, its groups' content included, by path from it; no name is in both.

    Attributes:
        arrays: numeric arrays of any shape.
        texts: texts without a NUL at their end.
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def write_tree(group: h5py.Group, contents: Contents) -> None:
    """Write arrays and texts into an empty group, '/' in their names making groups, and seal them.

    Raises:
        InvalidValueError: a name is not one that HDF5 can hold, or an array is not numeric.
    """
    _check_names({*contents.arrays, *contents.texts})
    for name, text in contents.texts.items():
        encoded = text.encode()
        dtype = h5py.string_dtype("utf-8", max(1, len(encoded)))  # HDF5 has no strings of length 0
        group.create_dataset(name, data=np.array(encoded, dtype), dtype=dtype)
    for name, array in contents.arrays.items():
        if not _storable(array.dtype):
            raise InvalidValueError(f"{name!r} must be numeric to be saved, not {array.dtype}")
        group.create_dataset(name, data=array)
    write_attribute(group, _CHECKSUM, checksum(contents))


def read_tree(group: h5py.Group, *, without: Collection[str] = ()) -> Contents:
    """Read every array and text below a group.

    Only what `write_tree` writes is read: contiguous datasets inside this file, none larger than the file can
    hold, so that neither memory nor another file is touched because a file says so.

    Args:
        group: the group.
        without: names in the group to leave out.

    Raises:
        InvalidValueError: something is there that `write_tree` does not write.
    """
    contents = Contents()
    room = group.file.id.get_filesize()  # datasets may claim the same bytes, so their sum is bounded
    seen = {_address(group)}
    waiting = [("", group)]
    while waiting:
        prefix, parent = waiting.pop()
        for name in set(parent) - set(without if parent is group else ()):
            member = _member(parent, name, prefix + name)
            if _address(member) in seen:
                raise InvalidValueError(
                    f"{prefix + name!r} has a second name, which this format does not allow"
                )
            seen.add(_address(member))
            if isinstance(member, h5py.Group):
                waiting.append((f"{prefix}{name}/", member))
            else:
                room -= _read_dataset(member, prefix + name, contents, room)
    return contents


def find_group(parent: h5py.Group, name: str) -> h5py.Group | None:
    """Open a group in a group, or return None if there is nothing of that name.

    Raises:
        InvalidValueError: it is not a group of this file.
    """
    if name not in set(parent):
        return None
    member = _member(parent, name, name)
    if not isinstance(member, h5py.Group):
        raise InvalidValueError(f"{name!r} must be a group")
    return member


def verify(group: h5py.Group, contents: Contents) -> None:
    """Check what was read from a group against its seal.

    Raises:
        InvalidValueError: they differ.
    """
    if read_attribute(group, _CHECKSUM, "S") != checksum(contents):
        raise InvalidValueError(
            f"the content of {group.name} does not match its checksum: "
            "the file was damaged, or changed after it was written"
        )


def checksum(contents: Contents) -> str:
    """BLAKE2b of the names, types, shapes and values, texts and then arrays in order of name."""
    total = hashlib.blake2b(digest_size=32)
    for name, text in sorted(contents.texts.items()):
        encoded = text.encode()
        total.update(f"{name}\0text\0{len(encoded)}\0".encode())
        total.update(encoded)
    for name in sorted(contents.arrays):
        array = contents.arrays[name]
        shape = ",".join(map(str, array.shape))
        total.update(f"{name}\0{array.dtype.str}\0{shape}\0".encode())
        total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def write_attribute(group: h5py.Group, name: str, value: str | int) -> None:
    """Attach a short text or an integer to a group."""
    group.attrs[name] = np.bytes_(value.encode()) if isinstance(value, str) else np.int64(value)


def read_attribute(group: h5py.Group, name: str, kind: str) -> object:
    """Read a scalar attribute.

    Args:
        group: the group it is attached to.
        name: its name.
        kind: "S" for a text, "i" for an integer.

    Returns:
        A `str` or an `int`; None if there is no such attribute, or it is of another kind.
    """
    if name not in group.attrs:
        return None
    attribute = group.attrs.get_id(name)
    if attribute.shape != () or attribute.dtype.kind != kind:
        return None
    value = group.attrs[name]
    return value.decode(errors="replace") if kind == "S" else int(value)


def _check_names(names: Collection[str]) -> None:
    """Raise if a name cannot be a path in HDF5, or is a group because of another name."""
    for name in names:
        parts = name.split("/")
        if any(part in ("", ".") or "\0" in part for part in parts):
            raise InvalidValueError(f"{name!r} cannot name what is saved")
        for end in range(1, len(parts)):
            if "/".join(parts[:end]) in names:
                raise InvalidValueError(f"{'/'.join(parts[:end])!r} and {name!r} cannot both be saved")


def _storable(dtype: np.dtype) -> bool:
    """Whether arrays of a type have the same bytes on every machine; long doubles have not."""
    return dtype.kind in "biufc" and dtype.char not in "gG"


def _member(group: h5py.Group, name: str, full: str) -> h5py.Group | h5py.Dataset:
    """Open a group or dataset that is in this file and in this group."""
    # a name with a slash would be taken for a path, and paths follow links
    if "/" in name or name in ("", ".") or not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise InvalidValueError(f"{full!r} is a link, which this format does not allow")
    member = group[name]
    if not isinstance(member, h5py.Group | h5py.Dataset):
        raise InvalidValueError(f"{full!r} is neither a group nor a dataset")
    return member


def _address(member: h5py.Group | h5py.Dataset) -> int:
    """Where in the file a member is."""
    return h5py.h5o.get_info(member.id).addr


def _read_dataset(dataset: h5py.Dataset, name: str, contents: Contents, room: int) -> int:
    """Add a numeric array or a text of at most `room` bytes to the contents; returns its size in bytes."""
    # virtual and external datasets read other files, and a compressed one can be of any size
    properties = dataset.id.get_create_plist()
    if (
        properties.get_layout() not in (h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT)
        or properties.get_external_count()
    ):
        raise InvalidValueError(f"{name!r} must be stored contiguously and in the file itself")
    is_text = dataset.dtype.kind == "S" and dataset.shape == ()
    if dataset.shape is None or not (is_text or _storable(dataset.dtype)):
        raise InvalidValueError(f"{name!r} must be a numeric array or a text, not of type {dataset.dtype}")
    size = math.prod(map(int, dataset.shape)) * dataset.dtype.itemsize  # Python's integers do not overflow
    if size > room or size != dataset.id.get_storage_size():
        raise InvalidValueError(f"{name!r} claims shape {dataset.shape}, which is not what the file holds")
    if is_text:
        contents.texts[name] = _decode(dataset[()], name)
    else:
        contents.arrays[name] = np.asarray(dataset[()])
    return size


def _decode(encoded: bytes, name: str) -> str:
    """Decode a text."""
    try:
        return bytes(encoded).decode()
    except UnicodeDecodeError as error:
        raise InvalidValueError(f"{name!r} is not UTF-8 text") from error

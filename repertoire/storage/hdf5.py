"""HDF5 files that are written in one step, and opened without trust."""

import io
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py

from robots.errors import InvalidFileError, SurefootError
from robots.files import replace_file

# HDF5 1.8's layout is the oldest whose metadata carry checksums, so that damage is found before it is read
_LAYOUT = "v108"


@contextmanager
def create_file(path: Path) -> Iterator[h5py.File]:
    """Write an HDF5 file in one step, see `replace_file`.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    with replace_file(path) as temporary, temporary.open("w+b", buffering=0) as raw:
        sink = _Sink(raw)
        try:
            with h5py.File(sink, "w", libver=_LAYOUT) as file:
                yield file
        except Exception:
            if sink.failure is None:
                raise
        if sink.failure is not None:
            raise sink.failure


@contextmanager
def open_file(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file for reading; whatever goes wrong in the body is the file's fault.

    Raises:
        InvalidFileError: the file cannot be read or is damaged, or the body raised.
    """
    try:
        _check_readable(path)
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be read: {_one_line(error.strerror or error)}") from error
    try:
        with h5py.File(path, "r") as file:
            yield file
    except SurefootError as error:
        raise InvalidFileError(f"{path}: {error}") from error
    except Exception as error:  # a damaged file makes HDF5 raise nearly anything
        raise InvalidFileError(f"{path} is damaged or incomplete: {_one_line(error)}") from error


class _Sink(io.RawIOBase):
    """A file for HDF5 to write to that never fails.

    HDF5 can end the process when a write fails while it flushes, as on a full disk. So the first failure is
    kept for later and what follows it is dropped.

    Attributes:
        failure: what went wrong first.
    """

    def __init__(self, raw: io.FileIO) -> None:
        self._raw = raw
        self.failure: BaseException | None = None

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        return self._raw.readinto(buffer)

    def write(self, data: bytearray, /) -> int:  # type: ignore[override]
        try:
            rest = memoryview(data)
            while rest and self.failure is None:
                rest = rest[self._raw.write(rest) :]
        except BaseException as error:  # an interrupt must not pass through HDF5 either
            self.failure = error
        return len(data)

    def truncate(self, size: int | None = None, /) -> int:
        try:
            return self._raw.truncate(size)
        except BaseException as error:
            self.failure = self.failure or error
            return size or 0


def _check_readable(path: Path) -> None:
    """Raise if the path is not an HDF5 file that may be opened."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise OSError("it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file")
    with path.open("rb"):
        pass  # is_hdf5 would say False of a file that may not be read
    if not h5py.is_hdf5(path):
        raise OSError("it is not an HDF5 file")


def _one_line(error: object) -> str:
    """A message without line breaks, beginning in lower case."""
    message = " ".join(str(error).split()).strip("'")  # a KeyError's message comes quoted
    return message[:1].lower() + message[1:]

"""`TrainingLog`: the history of a training and the time that it took, batch by batch, for other programs."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from robots.errors import InvalidFileError, SurefootError
from robots.files.atomic import explain_errors, file_exists, make_folder, write_text
from robots.files.texts import parse_number, read_text

_MOST = 2_000_000_000  # bytes of a log, which are millions of batches


class TrainingLog:
    """Writes a row after each batch to a CSV file, for TensorBoard, or to both.

    Of a CSV file that an earlier process of the same run wrote, the rows up to its last checkpoint stay, and
    `seconds` goes on from there. Without a CSV file, the `seconds` for TensorBoard start again at 0.

    Args:
        csv: the CSV file; None for none.
        tensorboard: folder of TensorBoard's event files; None for none.
        history: of the run so far, which is empty at its start.

    Raises:
        InvalidFileError: a file cannot be written, or is not the log of this run.
        SurefootError: TensorBoard is not installed.
    """

    def __init__(
        self, csv: str | Path | None, tensorboard: str | Path | None, history: Mapping[str, list[float]]
    ) -> None:
        self._closing = ExitStack()
        self._csv, self._seconds = csv, 0.0
        self._names: list[str] = []  # columns of the CSV file; histories that were read have another order
        self._writer = None if tensorboard is None else self._start_tensorboard(Path(tensorboard))
        self._file = None if csv is None else self._open(Path(csv), history)

    def _open(self, path: Path, history: Mapping[str, list[float]]) -> TextIO:
        """Leave in a CSV file what belongs to the run so far, and open it to go on."""
        kept: list[str] = []
        if history and file_exists(path) and (lines := _read(path).splitlines(keepends=True)):
            columns = read_log(path)
            self._names = [*columns]
            if {*columns} != {*history, "seconds", "evaluations_per_s"}:
                raise InvalidFileError(f"{path} is not the log of this run: it has other columns")
            count = int(np.searchsorted(columns["evaluations"], history["evaluations"][-1], side="right"))
            kept = lines[: 1 + count]
            self._seconds = float(columns["seconds"][count - 1]) if count else 0.0
        write_text(path, "".join(kept))
        with explain_errors(f"{path} cannot be written"):
            return self._closing.enter_context(path.open("a", encoding="utf-8", buffering=1))

    def _start_tensorboard(self, folder: Path) -> Any:
        """A writer of TensorBoard's event files."""
        try:
            from tensorboard.summary import Writer
        except ImportError as error:
            raise SurefootError(
                "TensorBoard is not installed: pip install 'surefoot[tensorboard]'"
            ) from error
        make_folder(folder)
        writer = Writer(str(folder))
        self._closing.callback(writer.close)
        return writer

    def __call__(self, row: Mapping[str, float]) -> None:
        """Write a row, whose columns are always the same."""
        row = {**row, "seconds": self._seconds + row["seconds"]}
        if self._file is not None:
            with explain_errors(f"{self._csv} cannot be written"):
                if not self._names:
                    self._names = [*row]
                    self._file.write(",".join(row) + "\n")
                self._file.write(",".join(str(row[name]) for name in self._names) + "\n")
        if self._writer is not None:
            for name, value in row.items():
                self._writer.add_scalar(name, value, step=int(row["evaluations"]))

    def __enter__(self) -> "TrainingLog":
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()


def read_log(path: str | Path) -> dict[str, np.ndarray]:
    """Read the columns of a log in CSV, without a last row that was not finished.

    Raises:
        InvalidFileError: the file cannot be read, or is not the log of a training.
    """
    text = _read(Path(path))
    header, *rows = text[: text.rfind("\n") + 1].splitlines() or [""]
    names = header.split(",")
    try:
        table = np.fromiter(_numbers(rows, len(names)), np.float64).reshape(-1, len(names))
    except ValueError as error:
        raise InvalidFileError(f"{path} is not the log of a training: {error}") from error
    if not {"evaluations", "seconds", "evaluations_per_s"} <= {*names}:
        raise InvalidFileError(
            f"{path} is not the log of a training, with columns evaluations, seconds and evaluations_per_s"
        )
    return dict(zip(names, table.T, strict=True))


def _numbers(rows: Iterable[str], count: int) -> Iterator[float]:
    """The numbers of all rows one by one: lists of them would take several times the memory.

    Raises:
        ValueError: a row does not hold so many numbers.
    """
    for row in rows:
        cells = row.split(",")
        if len(cells) != count:
            raise ValueError(f"a row has {len(cells)} numbers, not {count}")
        yield from map(parse_number, cells)


def _read(path: Path) -> str:
    return read_text(path, most=_MOST)

"""`TrainingLog`: the history of a training and the time that it took, batch by batch, for other programs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robots.errors import InvalidFileError, SurefootError
from robots.files.atomic import check_writable, explain_errors, file_exists, make_folder, write_text
from robots.files.texts import read_text

_MOST = 2_000_000_000  # bytes of a log, which are millions of batches


class TrainingLog:
    """Writes a row after each batch to a CSV file, for TensorBoard, or to both.

    Of a CSV file that an earlier process of the same run wrote, the rows up to its last checkpoint stay, and
    `seconds` goes on from there. Without a CSV file, the `seconds` for TensorBoard start again at 0.

    Args:
        csv: the CSV file; None for none.
        tensorboard: folder of TensorBoard's event files; None for none.
        history: of the run so far, which is empty at its start.
    """

    def __init__(
        self, csv: str | Path | None, tensorboard: str | Path | None, history: Mapping[str, list[float]]
    ) -> None:
        self._csv, self._seconds = None if csv is None else Path(csv), 0.0
        self._names: list[str] = []  # columns of the CSV file; histories that were read have another order
        self._kept: str | None = None if self._csv is None else self._belonging(self._csv, history)
        self._tensorboard = tensorboard
        self._writer = None if tensorboard is None else self._start_tensorboard(Path(tensorboard))

    def _belonging(self, path: Path, history: Mapping[str, list[float]]) -> str:
        """What of a CSV file belongs to the run so far, with which the first row replaces it."""
        check_writable(path)
        lines = read_text(path, most=_MOST).splitlines(keepends=True) if file_exists(path) else []
        if not (history and lines):
            return ""
        columns = read_log(path)
        self._names = [*columns]
        if {*columns} != {*history, "seconds", "evaluations_per_s"}:
            raise InvalidFileError(f"{path} is not the log of this run: it has other columns")
        count = int(np.searchsorted(columns["evaluations"], history["evaluations"][-1], side="right"))
        self._seconds = float(columns["seconds"][count - 1]) if count else 0.0
        return "".join(lines[: 1 + count])

    def _start_tensorboard(self, folder: Path) -> Any:
        """A writer of TensorBoard's event files."""
        try:
            from tensorboard.summary import Writer
        except ImportError as error:
            raise SurefootError(
                "TensorBoard is not installed: pip install 'surefoot[tensorboard]'"
            ) from error
        with explain_errors(f"{folder} cannot be written"):
            str(folder).encode()  # TensorBoard knows no other names
            make_folder(folder)
            return Writer(str(folder))

    def __call__(self, row: Mapping[str, float]) -> None:
        """Write a row, whose columns are always the same."""
        row = {**row, "seconds": self._seconds + row["seconds"]}
        if self._csv is not None:
            self._add(self._csv, row)
        if self._writer is not None:
            with explain_errors(f"{self._tensorboard} cannot be written"):
                for name, value in row.items():
                    self._writer.add_scalar(name, value, step=int(row["evaluations"]))

    def _add(self, path: Path, row: Mapping[str, float]) -> None:
        """Add a row to the CSV file, which begins with the first one: without any, no file is left behind."""
        header = "" if self._names else ",".join(row) + "\n"
        self._names = self._names or [*row]
        line = ",".join(str(row[name]) for name in self._names) + "\n"
        if self._kept is not None:
            write_text(path, self._kept + header + line)
            self._kept = None
            return
        with explain_errors(f"{path} cannot be written"), path.open("a", encoding="utf-8") as file:
            file.write(line)

    def __enter__(self) -> "TrainingLog":
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            with explain_errors(f"{self._tensorboard} cannot be written"):
                self._writer.close()


def read_log(path: str | Path) -> dict[str, np.ndarray]:
    """Read the columns of a log in CSV, without a last row that was not finished."""
    text = read_text(Path(path), most=_MOST)
    header, *rows = text[: text.rfind("\n") + 1].splitlines() or [""]
    names = header.split(",")
    try:
        table = np.loadtxt(rows, delimiter=",", ndmin=2) if rows else np.empty((0, len(names)))
        columns = dict(zip(names, table.T, strict=True))
    except ValueError as error:
        raise InvalidFileError(f"{path} is not the log of a training: {error}") from error
    if not {"evaluations", "seconds", "evaluations_per_s"} <= {*names}:
        raise InvalidFileError(
            f"{path} is not the log of a training, with columns evaluations, seconds and evaluations_per_s"
        )
    return columns

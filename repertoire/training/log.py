"""`TrainingLog`: the history of a training and the time that it took, batch by batch, for other programs."""

from collections.abc import Mapping
from pathlib import Path

from robots.errors import InvalidFileError
from robots.files.atomic import check_writable, explain_errors, file_exists, write_text
from robots.files.texts import read_text

_MOST = 2_000_000_000  # bytes of a log, which are millions of batches


class TrainingLog:
    """Writes a row after each batch to a CSV file, which begins with the first row.

    Of a file that an earlier process of the same run wrote, the rows up to its last checkpoint stay, and
    `seconds` goes on from there.

    Args:
        path: of the file.
        history: of the run so far, which is empty at its start.
    """

    def __init__(self, path: str | Path, history: Mapping[str, list[float]]) -> None:
        self._path, self._seconds = Path(path), 0.0
        self._names: list[str] = []  # histories that were read have another order
        self._kept: str | None = ""  # what the first row follows
        check_writable(self._path)
        if history and file_exists(self._path) and self._path.stat().st_size:
            self._keep(history)

    def _keep(self, history: Mapping[str, list[float]]) -> None:
        """Keep what belongs to the run so far, and know its columns and its time."""
        header, *lines = read_text(self._path, most=_MOST).splitlines(keepends=True) or ["\n"]
        self._names = header.strip().split(",")
        whole = [line for line in lines if line.endswith("\n")]  # the last one may have been cut off
        try:
            rows = [dict(zip(self._names, map(float, line.split(",")), strict=True)) for line in whole]
        except ValueError as error:
            raise InvalidFileError(f"{self._path} is not the log of a training: {error}") from error
        if {*self._names} != {*history, "seconds", "evaluations_per_s"}:
            raise InvalidFileError(f"{self._path} is not the log of this run: it has other columns")
        saved = [row for row in rows if row["evaluations"] <= history["evaluations"][-1]]
        self._seconds = saved[-1]["seconds"] if saved else 0.0
        self._kept = "".join([header, *whole[: len(saved)]])

    def __call__(self, row: Mapping[str, float]) -> None:
        """Write a row, whose columns are always the same."""
        row = {**row, "seconds": self._seconds + row["seconds"]}
        if self._kept is not None:
            self._names = self._names or [*row]
            write_text(self._path, self._kept or ",".join(self._names) + "\n")
            self._kept = None
        line = ",".join(str(row[name]) for name in self._names) + "\n"
        with explain_errors(f"{self._path} cannot be written"), self._path.open("a") as file:
            file.write(line)

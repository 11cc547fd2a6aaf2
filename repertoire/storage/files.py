"""`RunFiles`: where a repertoire lies, in the folder of its run or elsewhere, and what lies next to it."""

from dataclasses import dataclass
from pathlib import Path

FILE_NAME = "repertoire.h5"  # of a repertoire in the folder of its run


@dataclass(frozen=True)
class RunFiles:
    """The files of a repertoire.

    Whoever writes one of them holds its lock, see `robots.files.atomic`.
    """

    repertoire: Path  # holds the elites and the history and, until the run has finished, its last checkpoint

    @classmethod
    def of(cls, folder: Path) -> "RunFiles":
        """Those in the folder of a run."""
        return cls(folder / FILE_NAME)

    @property
    def corrected(self) -> Path:
        """The repertoire with what several episodes of every elite showed."""
        return _added(self.repertoire, "corrected")

    @property
    def rehearsal(self) -> Path:
        """The rehearsal of the repertoire."""
        return _added(self.repertoire, "rehearsal")

    @property
    def calibration(self) -> Path:
        """Models of the real robot that the repertoire is for."""
        return _added(self.repertoire, "calibration")

    @staticmethod
    def unfinished(out: Path) -> Path:
        """The finished episodes of an evaluation whose result will be `out`, until all are finished."""
        return _added(out, "unfinished")


def _added(file: Path, word: str) -> Path:
    """A file in the same folder with a word added to its name."""
    return file.with_name(f"{file.stem}-{word}{file.suffix}")

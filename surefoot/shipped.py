"""Repertoires by name or path: those that are included in Surefoot, and those in files and run folders."""

from pathlib import Path

from robots.errors import InvalidFileError
from robots.files.atomic import file_exists

DATA = Path(__file__).parent / "data"
FILE_NAME = "repertoire.h5"  # of a repertoire in the folder of its run


def included() -> list[str]:
    """Names of the included repertoires, which are those of their robots; each is corrected and rehearsed."""
    return sorted(path.stem for path in DATA.glob("*.h5") if not path.stem.endswith("-rehearsal"))


def repertoire_path(source: str | Path) -> Path:
    """The file of a repertoire.

    Args:
        source: the file itself, the folder of the run that it is in, or the name of an included repertoire.
            A file or folder comes before an included repertoire of the same name.

    Raises:
        InvalidFileError: there is no such file, folder or included repertoire.
    """
    path = Path(source)
    if file_exists(path / FILE_NAME):
        return path / FILE_NAME
    if file_exists(path) or path.parent != Path() or path.suffix:
        return path
    if path.name not in included():
        raise InvalidFileError(
            f"{path} is neither a file nor an included repertoire; included: {', '.join(included())}"
        )
    return DATA / f"{path.name}.h5"


def results_base(file: Path) -> Path:
    """The path next to which results about a repertoire are written by default.

    It is the repertoire's file or, for an included one, a file of its name in the current folder.
    """
    return Path(file.name) if file.parent == DATA else file

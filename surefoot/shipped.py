"""Repertoires by name or path: those that are included in Surefoot, and those in files and run folders."""

from pathlib import Path
from typing import TYPE_CHECKING

from repertoire.storage.files import RunFiles
from robots.catalogue import known_robots
from robots.errors import InvalidFileError
from robots.files.atomic import file_exists

if TYPE_CHECKING:
    from repertoire.repertoire import Repertoire, Which

DATA = Path(__file__).parent / "data"
_FOLDERS = (DATA, DATA / "zoo")


def included() -> list[str]:
    """Names of the included repertoires, each after its robot; they are corrected and rehearsed."""
    files = (path for folder in _FOLDERS for path in sorted(folder.glob("*.h5")))
    return [path.stem for path in files if not path.stem.endswith("-rehearsal")]


def is_repertoire(text: str | Path) -> bool:
    """Whether this names a repertoire, and neither a robot nor another problem."""
    return Path(text).suffix == ".h5" or str(text) in {*included()}.difference(known_robots())


def repertoire_path(source: str | Path) -> Path:
    """The file of a repertoire.

    Args:
        source: the file itself, the folder of the run that it is in, or the name of an included repertoire.
            A file or run comes before an included repertoire of the same name, any other folder after it.
    """
    path = Path(source)
    if file_exists(RunFiles.of(path).repertoire):
        return RunFiles.of(path).repertoire
    is_name = path.parent == Path() and not path.suffix
    if is_name and path.name in included() and not path.is_file():
        return next(file for folder in _FOLDERS if (file := folder / f"{path.name}.h5").exists())
    if is_name and not file_exists(path):
        raise InvalidFileError(
            f"{path} is neither a file nor an included repertoire; included: {', '.join(included())}"
        )
    return path


def opened(source: "Repertoire | str | Path") -> "tuple[Repertoire, Path | None]":
    """A repertoire, and its file if it comes from one."""
    from repertoire.repertoire import Repertoire
    from repertoire.storage.repertoires import read_repertoire

    if isinstance(source, Repertoire):
        return source, None
    file = repertoire_path(source)
    return read_repertoire(file), file


def chosen(source: "Repertoire | str | Path", gait: "Which") -> "tuple[Repertoire, int, str]":
    """A repertoire, the row of one of its gaits, and a note on how the best one is chosen, or ""."""
    (repertoire, file), note = opened(source), ""
    if file is not None and isinstance(gait, str) and gait == "best":
        repertoire, note = best_known(file, repertoire)
    return repertoire, repertoire.find(gait), note


def source_words(file: Path) -> str:
    """How a user names the file of a repertoire: an included one by its name."""
    return file.stem if file.parent in _FOLDERS else str(file)


def result_files(file: Path) -> RunFiles:
    """Where results about a repertoire are written: next to it, or for an included one to this folder."""
    return RunFiles(Path(file.name) if file.parent in _FOLDERS else file)


def recovery_folder(file: Path) -> Path:
    """Where recoveries are saved by default: in the repertoire's folder, or for an included one its own."""
    return Path(f"{file.stem}-recovery") if file.parent in _FOLDERS else file.parent


def caution(file: Path, repertoire: "Repertoire", *, current: bool = True) -> str:
    """Why objectives flatter, if they do, and where corrected ones are, if `current`, or come from; or ""."""
    if not repertoire.caution:
        return ""
    corrected = result_files(file).corrected
    where = (
        f"see {corrected}"
        if current and corrected.exists()
        else f"correct them with: surefoot evaluate {file}"
    )
    return f"note: {repertoire.caution}; {where}"


def best_known(file: Path, repertoire: "Repertoire") -> "tuple[Repertoire, str]":
    """The corrected repertoire where there is one, since single episodes flatter, and a note."""
    from repertoire.storage.repertoires import read_repertoire

    path = result_files(file).corrected
    if repertoire.caution and path.exists():
        corrected = read_repertoire(path)
        if len(corrected) and _was_corrected(repertoire, corrected):
            return corrected, f"note: the best gait is chosen by the corrected objectives of {path}"
    return repertoire, caution(file, repertoire, current=False)


def _was_corrected(repertoire: "Repertoire", corrected: "Repertoire") -> bool:
    """Whether it is this repertoire that was corrected, not one that was in its file before."""
    of_now, of_then = ((one.settings, one.evaluations, one.problem.texts) for one in (repertoire, corrected))
    # two merges of as many runs have all of these in common, but not their gaits
    known = {solution.tobytes() for solution in repertoire.elites.solutions}
    return of_now == of_then and all(one.tobytes() in known for one in corrected.elites.solutions)

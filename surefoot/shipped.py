"""The repertoires that are included in Surefoot: trained, corrected and rehearsed."""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from robots.errors import InvalidFileError, UnknownNameError

SHIPPED = ("hexapod",)
_CHECKOUT = Path(__file__).parent.parent / "examples" / "data"


def shipped_repertoire(robot: str) -> Path:
    """The file of a robot's repertoire; its rehearsal is in the same folder.

    Args:
        robot: one of `SHIPPED`.

    Raises:
        UnknownNameError: no repertoire of it is shipped.
        InvalidFileError: the file is missing.
    """
    if robot not in SHIPPED:
        raise UnknownNameError("robot with an included repertoire", robot, SHIPPED)
    name = f"{robot}.h5"
    for path in (_CHECKOUT / name, *_installed(name)):
        if path.is_file():
            return path
    raise InvalidFileError(
        f"{name}, which is included in Surefoot, is neither in {_CHECKOUT} nor among the installed files: "
        "install Surefoot again"
    )


def _installed(name: str) -> list[Path]:
    """Where an installation put the file of a name; pip decides where data is kept."""
    try:
        installed = files("surefoot") or []
    except PackageNotFoundError:
        return []
    return [Path(str(file.locate())).resolve() for file in installed if file.name == name]

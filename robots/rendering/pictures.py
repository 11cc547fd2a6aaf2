"""Pictures in files: what is refused before one is drawn."""

from pathlib import Path

from robots.errors import InvalidValueError
from robots.files import check_writable


def check_suffix(path: Path) -> None:
    """Refuse a picture in another format.

    Raises:
        InvalidValueError: the path does not end in .png.
    """
    if path.suffix.lower() != ".png":
        raise InvalidValueError(f"{path} must end in .png")


def check_picture(path: Path) -> None:
    """Find out whether a picture could be written, before the work that it will show.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    check_suffix(path)
    check_writable(path)

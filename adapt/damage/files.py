"""Lists of damages in YAML files."""

from pathlib import Path

import yaml

from adapt.damage.damage import Damage
from adapt.damage.parsing import parse_damage
from robots.errors import InvalidFileError, SurefootError
from robots.robot import Robot


def read_damages(path: Path, robot: Robot) -> list[Damage]:
    """Read a list of damages from a YAML file: a list of texts.

    Raises:
        InvalidFileError: the file cannot be read, or is no such list, or an entry of it is no damage of the
            robot or is there twice.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidFileError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidFileError(f"{path} is not a text file") from error
    except yaml.YAMLError as error:
        raise InvalidFileError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, list) or not content:
        raise InvalidFileError(f"{path} must hold a list of damages, for example: - healthy")
    damages = [_read_entry(path, number, entry, robot) for number, entry in enumerate(content, 1)]
    texts = [str(damage) for damage in damages]
    for number, text in enumerate(texts, 1):
        if text in texts[: number - 1]:
            raise InvalidFileError(f"{path}, entry {number}: {text} is there twice")
    return damages


def _read_entry(path: Path, number: int, entry: object, robot: Robot) -> Damage:
    """Read an entry of a list."""
    if not isinstance(entry, str):
        raise InvalidFileError(f"{path}, entry {number}: a damage is a text, not {entry!r}")
    try:
        return parse_damage(entry, robot)
    except SurefootError as error:
        raise InvalidFileError(f"{path}, entry {number}: {error}") from error

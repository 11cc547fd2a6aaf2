"""`find_robot`: a robot by what a user types."""

from pathlib import Path

from robots.catalogue import robot_names
from robots.errors import InvalidRobotError
from robots.robot import Robot, load_robot, read_robot

_YAML = (".yaml", ".yml")


def find_robot(text: str) -> Robot:
    """Find a robot.

    Args:
        text: the name of a robot that comes with the package, or the path of the YAML of another one.

    Raises:
        UnknownNameError: there is no robot of that name.
        InvalidRobotError: the path is not that of a YAML, or its files do not describe a robot.
    """
    path = Path(text)
    if text in robot_names():  # whatever lies in this folder
        return load_robot(text)
    if path.suffix.lower() in _YAML:
        return read_robot(path)
    if path.suffix.lower() == ".xml":
        raise InvalidRobotError(
            f"{text} is an MJCF, but a robot is named by the YAML that describes it: "
            f"surefoot robots --draft {text} writes a first one"
        )
    if len(path.parts) > 1 or path.is_dir():
        found = sorted(str(other) for kind in _YAML for other in path.glob(f"*{kind}"))
        raise InvalidRobotError(
            f"{text} is not the YAML of a robot; YAML files in this folder: {', '.join(found) or 'none'}"
        )
    return load_robot(text)

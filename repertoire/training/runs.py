"""Training runs, each in a folder: how one starts, and how it is taken up again."""

from collections.abc import Mapping
from pathlib import Path

from repertoire.algorithms import find_algorithm
from repertoire.cells import check_cells
from repertoire.storage.repertoires import read_repertoire, read_search
from repertoire.training.settings import Configuration, make_configuration
from repertoire.training.training import Training
from robots.controllers import robot_controller
from robots.description import MLPShape
from robots.errors import InvalidFileError, InvalidValueError
from robots.files import file_exists, make_folder
from robots.find import find_robot
from robots.robot import Robot

FILE_NAME = "repertoire.h5"


def configure(robot: Robot, algorithm: str, settings: Mapping[str, object]) -> Configuration:
    """Complete the settings of a run with what the algorithm prescribes and with the robot's own.

    Raises:
        UnknownNameError: there is no such algorithm.
        InvalidValueError: a setting is wrong.
    """
    description = robot.description
    configuration = make_configuration(
        {
            "robot": robot.name,
            "algorithm": algorithm,
            "archive": description.archive,
            "min_objective": description.min_objective.value,
            "episode_steps": description.episode_steps,
            "sigma0": robot_controller(robot).sigma0,
            **find_algorithm(algorithm).complete(settings),
        }
    )
    return check_cells(configuration, robot)


def start_training(
    robot: str,
    algorithm: str,
    *,
    out: Path,
    overwrite: bool = False,
    threads: int | None = None,
    hidden: tuple[int, ...] | None = None,
    **settings: object,
) -> Training:
    """Set up a new run.

    Args:
        robot: name of the robot, or path of the YAML of a robot of one's own.
        algorithm: name of the algorithm.
        out: folder of the run, made if it is missing.
        overwrite: whether to replace a run that the folder already holds.
        threads: of the simulation; all cores by default.
        hidden: units of the hidden layers of networks to drive the robot; by default its own controllers do.
        **settings: of `Configuration`; what is left out takes its default or the robot's.

    Raises:
        UnknownNameError: there is no such robot or algorithm.
        InvalidRobotError: the robot's files cannot be read, or do not describe a robot.
        InvalidValueError: a setting is wrong, or the folder already holds a run.
        InvalidFileError: the folder cannot be made.
    """
    found = find_robot(robot)
    if hidden is not None:
        found = found.with_controller(MLPShape(kind="mlp", hidden=hidden))
    configuration = configure(found, algorithm, settings)
    if file_exists(out / FILE_NAME) and not overwrite:
        raise InvalidValueError(
            f"{out} already holds a run: use --resume {out} to go on with it, or --overwrite"
        )
    training = Training(configuration, found, threads=threads)  # first, so that a refusal leaves no folder
    make_folder(out)
    return training


def resume_training(out: Path, *, threads: int | None = None) -> Training | None:
    """Take a run up where it was last saved.

    Args:
        out: folder of the run.
        threads: of the simulation; all cores by default.

    Returns:
        The run, or None if it had finished.

    Raises:
        InvalidFileError: the folder holds no run that can be read.
    """
    path = out / FILE_NAME
    if not file_exists(path):
        raise InvalidFileError(f"{out} holds no run to resume: there is no {FILE_NAME} in it")
    repertoire = read_repertoire(path)
    state = read_search(path)
    if state is None:
        return None
    training = Training(repertoire.configuration, repertoire.robot, threads=threads)
    if len(repertoire) and not len(repertoire.history.get("evaluations", ())):
        raise InvalidFileError(f"{path}: there are elites, but no history of how they came about")
    try:
        training.restore(repertoire, state)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError, InvalidValueError) as error:
        raise InvalidFileError(f"{path}: the search state does not fit the configuration: {error}") from error
    return training

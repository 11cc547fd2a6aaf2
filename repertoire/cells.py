"""Whether an archive's cells fit a robot."""

import math

from repertoire.training.settings import Configuration
from robots.errors import InvalidValueError
from robots.robot import Robot

_MOST_CELLS = 1_000_000


def check_cells(configuration: Configuration, robot: Robot) -> Configuration:
    """Refuse an archive that does not fit a robot's measures, or the memory.

    Returns:
        The configuration.

    Raises:
        InvalidValueError: it does not fit.
    """
    archive = configuration.archive
    if len(archive) != robot.measure_dim:
        raise InvalidValueError(
            f"the archive of {robot.name} must have cells along each of its {robot.measure_dim} measures, "
            f"{', '.join(robot.description.measures)}, not along {len(archive)}"
        )
    if math.prod(archive) > _MOST_CELLS:
        raise InvalidValueError(
            f"the archive must have at most {_MOST_CELLS:,} cells in all, not {math.prod(archive):,}"
        )
    return configuration

"""Whether an archive's cells fit a problem."""

import math

from repertoire.problems.record import ProblemRecord
from repertoire.training.settings import Settings
from robots.errors import InvalidValueError

_MOST_CELLS = 1_000_000


def check_cells(settings: Settings, problem: ProblemRecord) -> Settings:
    """Refuse an archive that does not fit a problem's measures, or the memory.

    Returns:
        The settings.

    Raises:
        InvalidValueError: it does not fit.
    """
    archive, measures = settings.archive, len(problem.measure_names)
    if len(archive) != measures:
        raise InvalidValueError(
            f"the archive of {problem.name} must have cells along each of its {measures} measures, "
            f"{', '.join(problem.measure_names)}, not along {len(archive)}"
        )
    if math.prod(archive) > _MOST_CELLS:
        raise InvalidValueError(
            f"the archive must have at most {_MOST_CELLS:,} cells in all, not {math.prod(archive):,}"
        )
    return settings

"""The paper's study of high-dimensional controllers: algorithms x robots (Tjanaka et al. 2023, Sec. V)."""

from collections.abc import Sequence

from repertoire.algorithms import ALGORITHMS as KNOWN
from repertoire.suites.gait_experiment import GaitExperiment
from repertoire.suites.gait_study import Variant
from repertoire.suites.published_locomotion import LOCOMOTION
from robots.errors import InvalidValueError

ALGORITHMS = tuple(name for name in LOCOMOTION.algorithms if name not in LOCOMOTION.unavailable)


def algorithm_variants(algorithms: Sequence[str]) -> tuple[Variant, ...]:
    """Algorithms as they are.

    Raises:
        InvalidValueError: an algorithm is one of the paper's that is not available.
    """
    for name in algorithms:
        if name in LOCOMOTION.unavailable and name not in KNOWN:
            raise InvalidValueError(
                f"{name} cannot be run: {LOCOMOTION.unavailable[name]}; of the paper's algorithms these can: "
                f"{', '.join(ALGORITHMS)}"
            )
    return tuple(Variant(name, name) for name in algorithms)


LOCOMOTION_STUDY = GaitExperiment(
    name="locomotion",
    title="Training high-dimensional controllers",
    published=LOCOMOTION,
    variants=algorithm_variants(ALGORITHMS),
)

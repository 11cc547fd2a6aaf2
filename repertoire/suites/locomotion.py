"""The paper's studies that train robots: algorithms, and learning rates (Tjanaka et al. 2023, Sec. V)."""

from collections.abc import Sequence

from repertoire.algorithms import ALGORITHMS as KNOWN
from repertoire.suites.gait_experiment import GaitExperiment
from repertoire.suites.gait_study import Variant
from repertoire.suites.published import published_study
from robots.errors import InvalidValueError

_PUBLISHED = published_study("locomotion")
ALGORITHMS = tuple(name for name in _PUBLISHED.algorithms if name not in _PUBLISHED.unavailable)
LEARNING_RATES = (0.0, 0.001, 0.01, 0.1, 1.0)


def algorithm_variants(algorithms: Sequence[str]) -> tuple[Variant, ...]:
    """Return algorithms with their own settings.

    Raises:
        InvalidValueError: an algorithm is one of the paper's that is not available.
    """
    unavailable = _PUBLISHED.unavailable
    for name in algorithms:
        if name in unavailable and name not in KNOWN:
            raise InvalidValueError(
                f"{name} cannot be run: {unavailable[name]}; of the paper's algorithms these can: "
                f"{', '.join(ALGORITHMS)}"
            )
    return tuple(Variant(name, name) for name in algorithms)


def learning_rate_variants(learning_rates: Sequence[float]) -> tuple[Variant, ...]:
    """Return sep-CMA-MAE with each of some archive learning rates, named for example `alpha-0.001`."""
    return tuple(
        Variant(f"alpha-{rate!r}".removesuffix(".0"), "sep-cma-mae", rate) for rate in learning_rates
    )


LOCOMOTION_STUDY = GaitExperiment("locomotion", algorithm_variants(ALGORITHMS))
ABLATION_STUDY = GaitExperiment(
    "ablation", learning_rate_variants(LEARNING_RATES), compares_learning_rates=True
)

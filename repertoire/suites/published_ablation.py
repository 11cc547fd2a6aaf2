"""What Tjanaka et al. 2023 report of archive learning rates in sep-CMA-MAE (Section V, Table VII)."""

from dataclasses import replace

from repertoire.suites.published import Hypothesis, PublishedStudy, Quantity, read_table
from repertoire.suites.published_locomotion import BEST, COVERAGE, DOMAINS, QD_SCORE
from repertoire.suites.words_locomotion import PYBULLET, READING, WORDS

LEARNING_RATES = (0.0, 0.001, 0.01, 0.1, 1.0)


def variant_name(learning_rate: float) -> str:
    """What sep-CMA-MAE with a learning rate is called in tables and files, e.g. `alpha-0.001`."""
    return f"alpha-{learning_rate!r}".removesuffix(".0")


_NAMES = tuple(variant_name(rate) for rate in LEARNING_RATES)
_TABLE_7 = {
    "alpha-0": (
        (0.314, 0.13, 3001.76),
        (1.577, 0.48, 2106.15),
        (0.232, 0.31, 1177.58),
        (0.109, 0.24, 1019.89),
    ),
    "alpha-0.001": (
        (0.730, 0.36, 2199.41),
        (2.892, 0.63, 2317.81),
        (1.173, 0.55, 2884.33),
        (0.325, 0.41, 1258.44),
    ),
    "alpha-0.01": (
        (0.629, 0.41, 1914.61),
        (2.839, 0.62, 2260.56),
        (1.099, 0.56, 2670.70),
        (0.358, 0.52, 1318.63),
    ),
    "alpha-0.1": (
        (0.595, 0.38, 2285.24),
        (2.939, 0.63, 2413.25),
        (1.054, 0.57, 2696.78),
        (0.318, 0.53, 1277.05),
    ),
    "alpha-1": (
        (0.387, 0.31, 2132.11),
        (2.897, 0.63, 2464.52),
        (0.647, 0.55, 1964.28),
        (0.147, 0.48, 853.18),
    ),
}

_QUANTITY = Quantity(
    name="QD score",
    field="qd_score",
    unit="10⁶",
    scale=1e-6,
    decimals=3,
    anovas={},
    findings={},
    words=(
        "It falls at the extreme values, 0 and 1, where the search cares for the objective alone or for "
        "exploration alone; values between blend both. The paper prints means, and no test of them."
    ),
)

_EXTREMES = ("alpha-0", "alpha-1")
_STATEMENT = Hypothesis(
    "The paper's statement",
    "QD score is lower at the learning rates 0 and 1 than at those between",
    _QUANTITY,
    tuple((extreme, name) for extreme in _EXTREMES for name in _NAMES if name not in _EXTREMES),
    "stated without a test, and against its own mean of 1 in half_cheetah",
)

ABLATION = PublishedStudy(
    domains=DOMAINS,
    algorithms=_NAMES,
    order=_NAMES,
    trials=10,
    evaluations=1_000_000,
    metrics=(QD_SCORE, COVERAGE, BEST),
    means=read_table(DOMAINS, ("qd_score", "coverage", "best"), _TABLE_7),
    quantities=(_QUANTITY,),
    hypotheses=(_STATEMENT,),
    words=replace(
        WORDS,
        results="Results (the paper's Table VII)",
        tests="Tests",
        supported=(
            "A domain supports the statement if each of the two extremes is significantly below every value "
            "between."
        ),
        reading=READING,
    ),
    label="paper (PyBullet)",
    incomparable=PYBULLET,
)

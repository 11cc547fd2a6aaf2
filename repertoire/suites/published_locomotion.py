"""What Tjanaka et al. 2023 report of high-dimensional controllers (Section V, Tables III to V).

"Training Diverse High-Dimensional Controllers by Scaling Covariance Matrix Adaptation MAP-Annealing". The
environments are those of QDGym, in PyBullet; metrics are corrected by ten episodes of each elite; means are
over ten trials, and no spread is printed. Each algorithm ran single-threaded beside 100 CPUs for evaluations.
"""

from itertools import combinations, product

from repertoire.statistics import Sign
from repertoire.suites.published import Hypothesis, Metric, Pair, PublishedStudy, Quantity, read_table
from repertoire.suites.words_locomotion import PYBULLET, WORDS

DOMAINS = ("ant", "half_cheetah", "hopper", "walker")
VARIANTS = ("lm-ma-mae", "sep-cma-mae", "openai-mae")
_DEEP = ("pga-me", "cma-mega-td3-es")
_BASELINES = ("pga-me", "cma-mega-es", "cma-mega-td3-es", "me-es", "map-elites")
_RANKING = ("openai-mae", "sep-cma-mae", "lm-ma-mae")  # of H3 and H5, the lowest first
ALGORITHMS = (*VARIANTS, *_BASELINES)
_SIGNS: dict[str, Sign] = {"<": "<", "-": "-", ">": ">"}
_NO_DEEP_LEARNING = "it trains networks by deep reinforcement learning (TD3), which is not available here"

_FIELDS = ("qd_score", "coverage", "best", "cpu_seconds", "search_bytes")
_TABLE_3 = {
    "lm-ma-mae": (
        (0.761, 0.36, 2297.91, 7.74, 112),
        (2.830, 0.62, 2243.82, 6.45, 87),
        (1.135, 0.54, 2845.35, 4.45, 77),
        (0.327, 0.42, 1289.64, 5.44, 84),
    ),
    "sep-cma-mae": (
        (0.730, 0.36, 2199.41, 8.01, 112),
        (2.892, 0.63, 2317.81, 5.77, 87),
        (1.173, 0.55, 2884.33, 3.91, 77),
        (0.325, 0.41, 1258.44, 4.67, 84),
    ),
    "openai-mae": (
        (0.638, 0.34, 2073.62, 7.25, 111),
        (2.675, 0.61, 2172.15, 6.30, 86),
        (1.153, 0.52, 2656.07, 4.51, 77),
        (0.360, 0.45, 1262.87, 5.67, 84),
    ),
    "pga-me": (
        (0.582, 0.34, 2711.65, 18.19, 374),
        (2.682, 0.56, 2722.17, 18.19, 325),
        (1.002, 0.53, 2740.55, 11.89, 216),
        (0.865, 0.50, 2685.16, 12.42, 291),
    ),
    "cma-mega-es": (
        (0.591, 0.37, 2122.80, 7.43, 110),
        (2.574, 0.59, 2238.03, 7.14, 85),
        (0.502, 0.53, 1508.15, 3.93, 76),
        (0.145, 0.47, 781.89, 3.78, 83),
    ),
    "cma-mega-td3-es": (
        (0.598, 0.40, 2349.77, 14.92, 374),
        (2.693, 0.59, 2495.93, 18.85, 325),
        (0.935, 0.52, 2498.05, 11.18, 216),
        (0.789, 0.54, 2291.46, 10.96, 291),
    ),
    "me-es": (
        (0.138, 0.14, 955.12, 9.28, 111),
        (0.805, 0.42, 848.60, 10.09, 86),
        (0.185, 0.42, 1043.35, 4.46, 77),
        (0.037, 0.30, 388.58, 4.32, 84),
    ),
    "map-elites": (
        (0.444, 0.38, 1160.22, 7.28, 110),
        (2.371, 0.60, 1712.17, 7.09, 85),
        (0.833, 0.56, 2420.35, 4.40, 76),
        (0.139, 0.51, 753.96, 5.53, 83),
    ),
}

QD_SCORE = Metric("QD score [10⁶]", "qd_score", decimals=3, scale=1e-6)
COVERAGE = Metric("coverage", "coverage", decimals=2)
BEST = Metric("best", "best", decimals=2)
_METRICS = (
    QD_SCORE,
    COVERAGE,
    BEST,
    Metric("time [h]", "cpu_seconds", decimals=2, scale=1 / 3600, judged=False, best=min),
    Metric("space [MB]", "search_bytes", decimals=0, scale=1e-6, judged=False, best=min),
)

# By domain, the rows of `VARIANTS`; columns are `ALGORITHMS`
_TABLE_4 = {
    "ant": ("∅->>>>>>", "-∅->-->>", "<-∅--->>"),
    "half_cheetah": ("∅----->>", "-∅---->>", "--∅--->>"),
    "hopper": ("∅-->>>>>", "-∅->>>>>", "--∅>>>>>"),
    "walker": ("∅--<><>>", "-∅-<><>>", "--∅<><>>"),
}


def _qd_score_signs(domain: str) -> dict[Pair, Sign]:
    """Table IV, every pair once."""
    found: dict[Pair, Sign] = {}
    for first, signs in zip(VARIANTS, _TABLE_4[domain], strict=True):
        for second, sign in zip(ALGORITHMS, signs, strict=True):
            if ALGORITHMS.index(first) < ALGORITHMS.index(second):
                found[first, second] = _SIGNS[sign]
    return found


def _time_signs(domain: str) -> dict[Pair, Sign]:
    """What the text says on H5 and H6."""
    found: dict[Pair, Sign] = dict.fromkeys(product(VARIANTS, _DEEP), "<")
    for first, second in combinations(VARIANTS, 2):
        faster = domain == "walker" and "sep-cma-mae" in (first, second)
        found[first, second] = "-" if not faster else "<" if first == "sep-cma-mae" else ">"
    return found


_QD_SCORE = Quantity(
    name="QD score",
    field="qd_score",
    unit="10⁶",
    scale=1e-6,
    decimals=3,
    anovas={
        "ant": "Welch's F(7, 30.30) = 287.34, p < 0.001",
        "half_cheetah": "Welch's F(7, 30.66) = 207.25, p < 0.001",
        "hopper": "Welch's F(7, 30.33) = 1017.19, p < 0.001",
        "walker": "Welch's F(7, 29.29) = 500.89, p < 0.001",
    },
    findings={domain: _qd_score_signs(domain) for domain in DOMAINS},
    words=(
        "The variants tend not to differ significantly, and are above or not significantly different from "
        "the other methods without deep reinforcement learning. Only in walker are those with it above them."
    ),
)

_TIME = Quantity(
    name="execution time",
    field="cpu_seconds",
    unit="h",
    scale=1 / 3600,
    decimals=2,
    anovas={
        "ant": "Welch's F(7, 29.19) = 54.83, p < 0.001",
        "half_cheetah": "Welch's F(7, 29.55) = 97.66, p < 0.001",
        "hopper": "Welch's F(7, 30.39) = 60.56, p < 0.001",
        "walker": "Welch's F(7, 29.88) = 111.61, p < 0.001",
    },
    findings={domain: _time_signs(domain) for domain in DOMAINS},
    words=(
        "The variants do not differ significantly, but for sep-cma-mae in walker, where it is faster than "
        "the two others. All are faster than the methods with deep reinforcement learning, which take more "
        "than twice as long."
    ),
)

_RANKED = " < ".join(_RANKING)
_HYPOTHESES = (
    Hypothesis(
        "H3", f"QD score ranks {_RANKED}", _QD_SCORE, tuple(combinations(_RANKING, 2)), "not supported"
    ),
    Hypothesis(
        "H4",
        "every CMA-MAE variant has a higher QD score than every baseline",
        _QD_SCORE,
        tuple(product(_BASELINES, VARIANTS)),
        "partially supported, often but not always",
    ),
    Hypothesis(
        "H5", f"execution time ranks {_RANKED}", _TIME, tuple(combinations(_RANKING, 2)), "not supported"
    ),
    Hypothesis(
        "H6",
        f"every CMA-MAE variant takes less time than {' and '.join(_DEEP)}",
        _TIME,
        tuple(product(VARIANTS, _DEEP)),
        "supported",
    ),
)

LOCOMOTION = PublishedStudy(
    domains=DOMAINS,
    algorithms=ALGORITHMS,
    order=ALGORITHMS,
    trials=10,
    evaluations=1_000_000,
    metrics=_METRICS,
    means=read_table(DOMAINS, _FIELDS, _TABLE_3),
    quantities=(_QD_SCORE, _TIME),
    hypotheses=_HYPOTHESES,
    words=WORDS,
    label="paper (PyBullet)",
    incomparable=PYBULLET,
    unavailable=dict.fromkeys(_DEEP, _NO_DEEP_LEARNING),
    rows=VARIANTS,
)

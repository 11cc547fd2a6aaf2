"""What Tjanaka et al. 2023 report of their optimization benchmarks (Section IV, Tables I and II).

"Training Diverse High-Dimensional Controllers by Scaling Covariance Matrix Adaptation MAP-Annealing". Means
are over ten trials; no spread is printed. Trials ran on one CPU core, but the maze was evaluated on an NVIDIA
RTX A6000.
"""

from itertools import combinations

from repertoire.statistics import Sign
from repertoire.suites.agreement import DEFINITION
from repertoire.suites.published import Hypothesis, Metric, PublishedStudy, Quantity, Words, read_table

DOMAINS = ("sphere-100", "sphere-1000", "arm-100", "arm-1000", "maze")

# Both hypotheses expect the same order, the lowest first
ORDER = ("openai-mae", "sep-cma-mae", "lm-ma-mae", "cma-mae")

_FIELDS = ("qd_score", "coverage", "best", "cpu_seconds")
_TABLE_1 = {
    "cma-mae": (
        (0.541, 0.64, 98.82, 2.00),
        (0.027, 0.03, 100.00, 195.60),
        (0.787, 0.79, 99.98, 2.00),
        (0.763, 0.76, 99.96, 193.41),
        (0.663, 0.71, 100.00, 1.06),
    ),
    "lm-ma-mae": (
        (0.545, 0.65, 99.14, 1.35),
        (0.028, 0.03, 100.00, 13.42),
        (0.784, 0.79, 99.98, 1.36),
        (0.766, 0.77, 99.98, 13.29),
        (0.640, 0.69, 100.00, 0.72),
    ),
    "sep-cma-mae": (
        (0.553, 0.66, 98.74, 0.97),
        (0.028, 0.03, 100.00, 3.87),
        (0.789, 0.79, 99.98, 0.98),
        (0.763, 0.76, 99.96, 4.18),
        (0.741, 0.79, 100.00, 0.47),
    ),
    "openai-mae": (
        (0.007, 0.01, 100.00, 0.66),
        (0.007, 0.01, 100.00, 2.67),
        (0.770, 0.78, 99.97, 0.79),
        (0.714, 0.72, 99.96, 3.19),
        (0.751, 0.81, 100.00, 0.38),
    ),
}

_METRICS = (
    Metric("QD score [10⁶]", "qd_score", decimals=3, scale=1e-6),
    Metric("coverage", "coverage", decimals=2),
    Metric("best", "best", decimals=2),
    # Hardware differs, so that there is nothing to judge; the paper's wall clock is that of a core of its own
    Metric("time [min]", "cpu_seconds", decimals=2, scale=1 / 60, judged=False, best=min),
)


def _qd_score_sign(domain: str, first: str, second: str) -> Sign:
    """What the paper finds between two algorithms of `ORDER`."""
    if (domain, first, second) == ("sphere-100", "sep-cma-mae", "cma-mae"):
        return ">"
    return "<" if first == "openai-mae" and domain != "maze" else "-"


_QD_SCORE = Quantity(
    name="QD score",
    field="qd_score",
    unit="10⁶",
    scale=1e-6,
    decimals=3,
    anovas={
        "sphere-100": "Welch's F(3, 15.31) = 63320, p < 0.005",
        "sphere-1000": "Welch's F(3, 15.80) = 688.45, p < 0.005",
        "arm-100": "F(3, 36) = 5.46, p < 0.005",
        "arm-1000": "F(3, 36) = 258.21, p < 0.005",
        "maze": "F(3, 36) = 0.978, p > 0.05",
    },
    findings={
        domain: {pair: _qd_score_sign(domain, *pair) for pair in combinations(ORDER, 2)} for domain in DOMAINS
    },
    words=(
        "In all sphere and arm domains openai-mae is below all others, which do not differ significantly, "
        "except that sep-cma-mae is above cma-mae in sphere-100 (a later sentence says that these two "
        "differ in no domain). In the maze there is no significant difference."
    ),
)

_TIME = Quantity(
    name="execution time",
    field="cpu_seconds",
    unit="min",
    scale=1 / 60,
    decimals=2,
    anovas={
        "sphere-100": "Welch's F(3, 18.95) = 57608, p < 0.005",
        "sphere-1000": "Welch's F(3, 15.62) = 3.08e6, p < 0.005",
        "arm-100": "Welch's F(3, 18.48) = 67102, p < 0.005",
        "arm-1000": "Welch's F(3, 19.10) = 2.18e6, p < 0.005",
        "maze": "F(3, 36) = 891.73, p < 0.005",
    },
    findings={domain: dict.fromkeys(combinations(ORDER, 2), "<") for domain in DOMAINS},
    words=(
        "Execution times rank as expected in every domain. In the two domains of 1000 dimensions cma-mae "
        "takes, on average, 14.5 times as long as lm-ma-mae, the slowest of its variants."
    ),
)


def _ranking(name: str, quantity: Quantity, verdict: str) -> Hypothesis:
    """That algorithms rank as in `ORDER`."""
    claim = f"{quantity.name} ranks {' < '.join(ORDER)}"
    return Hypothesis(name, claim, quantity, tuple(combinations(ORDER, 2)), verdict)


_WORDS = Words(
    results="Results (the paper's Table I)",
    tests="Tests (the paper's Table II)",
    supported="A domain supports a hypothesis if every algorithm is significantly below each later one.",
    reading=(
        "Mean over trials ± half the width of its 95% interval (Student's t). Bold: the best mean of the "
        "column, with those that look the same in the paper's digits. Beside it the paper's mean; bold "
        "where it does not agree.",
        DEFINITION,
        "Time is the processor time of a trial: what the wall clock shows on a core of its own, as in the "
        "paper, whatever else a machine does meanwhile. x is ours as a multiple of the paper's: hardware "
        "differs, so that it is not judged.",
    ),
    costs=(
        "Wall clock of a trial; its processor time, which is less where it shared its core; and "
        "what of that went into the search (ask, add, tell) and into evaluating solutions. Time as a "
        "multiple of one algorithm's depends less on the hardware than time itself; the paper evaluated "
        "the maze on a GPU. Memory is that of emitters and archives. Times are means ± as above, memory "
        "and restarts are means."
    ),
    curves="QD score over evaluations: mean over trials and its 95% interval.",
    archives="Archive of the trial with the median QD score; first measure to the right, second upwards.",
)

OPTIMIZATION = PublishedStudy(
    domains=DOMAINS,
    algorithms=("cma-mae", "lm-ma-mae", "sep-cma-mae", "openai-mae"),
    order=ORDER,
    trials=10,
    evaluations=2_000_000,
    metrics=_METRICS,
    means=read_table(DOMAINS, _FIELDS, _TABLE_1),
    quantities=(_QD_SCORE, _TIME),
    hypotheses=(
        _ranking("H1", _QD_SCORE, "not supported"),
        _ranking("H2", _TIME, "supported"),
    ),
    words=_WORDS,
    objectives=(0.0, 100.0),
)

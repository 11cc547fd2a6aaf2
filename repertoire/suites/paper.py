"""What Tjanaka et al. 2023 report of their optimization benchmarks (Section IV), as data to compare with.

"Training Diverse High-Dimensional Controllers by Scaling Covariance Matrix Adaptation MAP-Annealing". Means
are over ten trials; no spread is printed. Trials ran on one CPU core, but the maze was evaluated on an NVIDIA
RTX A6000.
"""

from dataclasses import dataclass
from itertools import combinations

from repertoire.statistics import Sign

DOMAINS = ("sphere-100", "sphere-1000", "arm-100", "arm-1000", "maze")
ALGORITHMS = ("cma-mae", "lm-ma-mae", "sep-cma-mae", "openai-mae")
TRIALS = 10
EVALUATIONS = 2_000_000

# Both hypotheses expect the same order, the lowest first
ORDER = ("openai-mae", "sep-cma-mae", "lm-ma-mae", "cma-mae")


@dataclass(frozen=True)
class PaperMeans:
    """What Table I prints of an algorithm in a domain.

    Attributes:
        qd_score: QD score [10⁶].
        coverage: occupied cells as a fraction of all cells.
        best: largest objective.
        time: wall clock of a trial [min].
    """

    qd_score: float
    coverage: float
    best: float
    time: float


# Decimals that Table I prints of each column
DECIMALS = {"qd_score": 3, "coverage": 2, "best": 2, "time": 2}

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

MEANS = {
    (domain, algorithm): PaperMeans(*means)
    for algorithm, row in _TABLE_1.items()
    for domain, means in zip(DOMAINS, row, strict=True)
}


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis that algorithms rank as in `ORDER`, and what the paper finds.

    Attributes:
        name: as in the paper.
        quantity: what is ranked, in words.
        field: of `TrialResult` that holds it.
        unit: in which it is shown.
        scale: from the field's unit to that one.
        anovas: by domain, its column of Table II, with the p of the table's caption.
        findings: by domain, the sign between every two algorithms of `ORDER`, as the text states them.
        words: those statements.
        verdict: the paper's.
    """

    name: str
    quantity: str
    field: str
    unit: str
    scale: float
    anovas: dict[str, str]
    findings: dict[str, dict[tuple[str, str], Sign]]
    words: str
    verdict: str

    def supported_in(self, domain: str) -> bool:
        """Whether the paper's findings in one of its domains support the hypothesis."""
        return all(sign == "<" for sign in self.findings[domain].values())


def _qd_score_sign(domain: str, first: str, second: str) -> Sign:
    """What the paper finds between two algorithms of `ORDER`."""
    if (domain, first, second) == ("sphere-100", "sep-cma-mae", "cma-mae"):
        return ">"
    return "<" if first == "openai-mae" and domain != "maze" else "-"


H1 = Hypothesis(
    name="H1",
    quantity="QD score",
    field="qd_score",
    unit="10⁶",
    scale=1e-6,
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
    verdict="not supported",
)

H2 = Hypothesis(
    name="H2",
    quantity="execution time",
    field="cpu_seconds",  # the paper's wall clock is that of a core of its own
    unit="min",
    scale=1 / 60,
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
    verdict="supported",
)

HYPOTHESES = (H1, H2)

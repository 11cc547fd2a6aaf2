"""`Spread`: how much the episodes of each elite differ."""

from dataclasses import dataclass, replace

import numpy as np

_WORST = 0.1  # a decile


@dataclass(frozen=True)
class Summary:
    """How one kind of spread is distributed over elites.

    Attributes:
        median: half of the elites spread more.
        worst: a tenth of the elites spread at least as much: the mild end of the worst decile.
    """

    median: float
    worst: float


@dataclass(frozen=True, eq=False)
class Spread:
    """How the n episodes of each of k elites differ; episode j has the same seed for all elites.

    Of an elite with objectives f_1 to f_n, `objective_std` is sqrt(Σ (f_j - f̄)² / n) with f̄ = Σ f_j / n: that
    of the n episodes, 0 if n is 1. It underestimates the standard deviation of all possible episodes by the
    factor sqrt(1 - 1/n) or so. `measure_std` is the same of each measure.

    Attributes:
        objective_std: (k,) float64, in units of the objective.
        measure_std: (k, m) float64, in units of the measures.
        reproducibility: share of the n episodes whose measures belong to the elite's cell, (k,) float64.
        episodes: n.
        seed: from which the episodes' seeds derive.
    """

    objective_std: np.ndarray
    measure_std: np.ndarray
    reproducibility: np.ndarray
    episodes: int
    seed: int

    def take(self, rows: np.ndarray) -> "Spread":
        """Those of some elites."""
        return replace(
            self,
            objective_std=self.objective_std[rows],
            measure_std=self.measure_std[rows],
            reproducibility=self.reproducibility[rows],
        )

    def summaries(self) -> dict[str, Summary]:
        """Each kind of spread over the elites, by name; nan without elites.

        An elite counts with the mean over its measures. Elites without a spread, being nan, do not count.
        """
        known = np.isfinite(self.objective_std)
        return {
            "objective std": _summary(self.objective_std[known], 1 - _WORST),
            "measure std": _summary(self.measure_std[known].mean(axis=1), 1 - _WORST),
            "reproducibility": _summary(self.reproducibility[known], _WORST),
        }


def _summary(values: np.ndarray, worst: float) -> Summary:
    """Summarise values (k,), of which those beyond the quantile `worst` are the worst decile."""
    if not len(values):
        return Summary(median=float("nan"), worst=float("nan"))
    return Summary(median=float(np.median(values)), worst=float(np.quantile(values, worst)))

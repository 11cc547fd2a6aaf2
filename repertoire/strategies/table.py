"""The table of evolution strategies by name."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from repertoire.strategies.cma_es import CMAES
from repertoire.strategies.lm_ma_es import LMMAES
from repertoire.strategies.openai_es import OpenAIES
from repertoire.strategies.sep_cma_es import SepCMAES
from repertoire.strategies.strategy import Strategy
from repertoire.training.settings import Settings
from robots.errors import InvalidValueError, UnknownNameError


@dataclass(frozen=True)
class StrategyKind:
    """An entry of the table.

    Attributes:
        name: as on the command line.
        summary: what it is, in a line.
        make: constructs it from a mean (n,), settings and a generator.
        remark: what a user should know of settings for n parameters, if anything.
        matrices: numbers that it keeps for n parameters as a multiple of n²; 0 if it takes linear memory.
    """

    name: str
    summary: str
    make: Callable[[np.ndarray, Settings, np.random.Generator], Strategy]
    remark: Callable[[Settings, int], str | None] = lambda _settings, _n: None
    matrices: int = 0

    def check_memory(self, n: int, emitters: int) -> None:
        """Refuse what this machine cannot hold.

        Raises:
            InvalidValueError: the matrices of so many emitters take more memory than there is.
        """
        needed = self.matrices * emitters * n**2 * 8
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if needed > 0.9 * available:
            raise InvalidValueError(
                f"{self.name} keeps {self.matrices} matrices of {n:,} x {n:,} numbers for each of {emitters} "
                f"emitters, {needed / 1e9:,.0f} GB, and this machine has {available / 1e9:,.0f} GB: "
                "use sep-cma-es, lm-ma-es or openai-es, or fewer emitters"
            )


def _cma_es(mean: np.ndarray, settings: Settings, rng: np.random.Generator) -> Strategy:
    return CMAES(mean, sigma0=settings.sigma0, batch_size=settings.batch_size, rng=rng)


def _lm_ma_es(mean: np.ndarray, settings: Settings, rng: np.random.Generator) -> Strategy:
    vectors = settings.vectors or settings.batch_size  # Tjanaka et al. 2023: k = λ
    return LMMAES(mean, sigma0=settings.sigma0, batch_size=settings.batch_size, rng=rng, vectors=vectors)


def _vectors_remark(settings: Settings, n: int) -> str | None:
    wanted = settings.vectors or settings.batch_size
    if wanted <= n:
        return None
    return f"lm-ma-es can use no more vectors than there are parameters: {n} instead of {wanted}"


def _sep_cma_es(mean: np.ndarray, settings: Settings, rng: np.random.Generator) -> Strategy:
    return SepCMAES(mean, sigma0=settings.sigma0, batch_size=settings.batch_size, rng=rng)


def _openai_es(mean: np.ndarray, settings: Settings, rng: np.random.Generator) -> Strategy:
    return OpenAIES(mean, sigma0=settings.sigma0, batch_size=settings.batch_size, rng=rng)


STRATEGIES = {
    kind.name: kind
    for kind in (
        StrategyKind(
            "cma-es", "a full covariance matrix", _cma_es, matrices=4
        ),  # two of them while decomposing
        StrategyKind("lm-ma-es", "a few direction vectors", _lm_ma_es, _vectors_remark),
        StrategyKind("sep-cma-es", "a diagonal covariance matrix", _sep_cma_es),
        StrategyKind("openai-es", "a Gaussian of constant width, moved by Adam", _openai_es),
    )
}


def find_strategy(name: str) -> StrategyKind:
    """Look a strategy up.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, STRATEGIES)
    return STRATEGIES[name]

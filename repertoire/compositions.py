"""How the emitters of algorithms are put together: each function makes one for every generator."""

from collections.abc import Callable

import numpy as np

from repertoire.emitters.arborescence import ArborescenceEmitter
from repertoire.emitters.emitter import Emitter
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter
from repertoire.emitters.me_es import MEESEmitter, Mode
from repertoire.emitters.ranking import Ranking
from repertoire.emitters.variation import VariationEmitter
from repertoire.problems.problem import Problem
from repertoire.strategies.cma_es import CMAES
from repertoire.strategies.mirrored import MirroredSamples
from repertoire.strategies.table import find_strategy
from repertoire.training.settings import Settings
from robots.errors import InvalidValueError

Generators = list[np.random.Generator]
Emitters = Callable[[Settings, Problem, np.ndarray, Generators], list[Emitter]]


def strategies(
    settings: Settings, _problem: Problem, initial: np.ndarray, generators: Generators
) -> list[Emitter]:
    """Emitters that follow evolution strategies.

    Raises:
        UnknownNameError: there is no such strategy.
        InvalidValueError: a setting does not suit it, or it needs more memory than there is.
    """
    kind = find_strategy(settings.strategy or "")
    if settings.vectors is not None and kind.name != "lm-ma-es":
        raise InvalidValueError(f"vectors are those of lm-ma-es, and {kind.name} has none: leave them out")
    kind.check_memory(initial.size, settings.emitters)
    return [EvolutionStrategyEmitter(kind.make(initial, settings, rng)) for rng in generators]


def variation(
    settings: Settings, _problem: Problem, initial: np.ndarray, generators: Generators
) -> list[Emitter]:
    """Emitters that vary elites."""
    return [
        VariationEmitter(
            initial,
            iso_sigma=settings.sigma0,
            line_sigma=settings.line_sigma,
            batch_size=settings.batch_size,
            rng=rng,
        )
        for rng in generators
    ]


def climbers(
    settings: Settings, problem: Problem, initial: np.ndarray, generators: Generators, *, mode: Mode
) -> list[Emitter]:
    """Emitters that take steps of an evolution strategy from elites.

    Args:
        settings: of the search.
        problem: to be solved.
        initial: the solution to start from.
        generators: one for each emitter.
        mode: what the steps lead towards, see `MEESEmitter`.

    Raises:
        InvalidValueError: a setting is wrong.
    """
    return [
        MEESEmitter(
            initial,
            mode=mode,
            sigma0=settings.sigma0,
            batch_size=settings.batch_size,
            rng=rng,
            measure_dim=len(problem.measure_ranges),
            normaliser=problem.normaliser,
        )
        for rng in generators
    ]


def arborescences(
    settings: Settings,
    problem: Problem,
    initial: np.ndarray,
    generators: Generators,
    *,
    sampled: bool,
    ranking: Ranking,
    restart_unchanged: bool,
) -> list[Emitter]:
    """Emitters that branch off along gradients.

    Args:
        settings: of the search.
        problem: to be solved.
        initial: the solution to start from.
        generators: one for each emitter.
        sampled: whether samples estimate the gradients, which the problem has to know otherwise.
        ranking: see `ArborescenceEmitter`.
        restart_unchanged: see there.

    Raises:
        InvalidValueError: the problem does not know its gradients, or a setting is wrong.
    """
    if not (sampled or problem.differentiable):
        raise InvalidValueError(
            f"{settings.algorithm} needs gradients, which {problem.name} does not know: "
            "choose cma-mega-es, which estimates them"
        )
    return [
        ArborescenceEmitter(
            initial,
            coefficients=_coefficients(settings, problem, rng),
            samples=_samples(settings, initial.size, rng) if sampled else None,
            ranking=ranking,
            restart_unchanged=restart_unchanged,
        )
        for rng in generators
    ]


def _coefficients(settings: Settings, problem: Problem, rng: np.random.Generator) -> CMAES:
    """Draws a coefficient for the objective's gradient and for each measure's."""
    zeros = np.zeros(1 + len(problem.measure_ranges))
    return CMAES(zeros, sigma0=settings.sigma0, batch_size=settings.batch_size, rng=rng)


def _samples(settings: Settings, n: int, rng: np.random.Generator) -> MirroredSamples:
    return MirroredSamples(settings.gradient_samples, sigma=settings.gradient_sigma, solution_dim=n, rng=rng)

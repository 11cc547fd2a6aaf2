"""CMA-ME against a transcription of its publication.

Source: M. C. Fontaine et al., "Covariance Matrix Adaptation for the Rapid Illumination of Behavior Space",
2020, Algorithms 1 and 2.
"""

import numpy as np
import pytest
from published import CodedCMAES, samples_of
from search_tools import generator, grid, improved

from repertoire.algorithms.catalogue import ALGORITHMS, start_search
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter
from repertoire.problems.benchmarks import Sphere
from repertoire.strategies.openai_es import OpenAIESSettings
from robots.errors import InvalidValueError

N, BATCH = 6, 10


class FontaineCMAME:
    """An archive and one improvement emitter a strategy, which returns solutions one by one."""

    def __init__(self, strategies: list[CodedCMAES]) -> None:
        self.strategies = strategies
        self.archive: dict[int, tuple[float, np.ndarray]] = {}

    def return_batch(self, es, x, f, cells, whitening):
        """Whether it goes on from the batch; if not, it restarts from an elite."""
        parents = []
        for x_i, f_i, cell in zip(x, f, cells.tolist(), strict=True):
            if cell not in self.archive:
                parents.append((True, f_i, x_i))
            elif f_i > self.archive[cell][0]:
                parents.append((False, f_i - self.archive[cell][0], x_i))
            else:
                continue
            self.archive[cell] = (f_i, x_i)
        parents.sort(key=lambda parent: parent[:2], reverse=True)
        if parents:
            es.update(np.array([x_i for *_, x_i in parents]), whitening)
        return bool(parents)


@pytest.mark.parametrize("strategy", ["cma-es", "sep-cma-es"])
@pytest.mark.parametrize("shift", [0.0, -90.0])  # objectives of both signs
def test_it_is_the_published_algorithm(strategy, shift):
    problem, algorithm = Sphere(N), ALGORITHMS.find("cma-me")
    settings = algorithm.settings(
        {
            "evaluations": 1,
            "seed": 1,
            "strategy": strategy,
            "emitters": 2,
            "batch_size": BATCH,
            "sigma0": 0.3,
            "archive": "6,6",
            "min_objective": 0.0,
        }
    )
    search = start_search(settings, problem, np.random.SeedSequence(1))
    assert search.soft is search.result
    strategies = [e.strategy for e in search.emitters]
    coded = [
        CodedCMAES(np.zeros(N), 0.3, separable=strategy == "sep-cma-es", published=False) for _ in strategies
    ]
    published, restarts, parents = FontaineCMAME(coded), 0, set()
    for _ in range(120):
        states = [es.state() for es in strategies]
        solutions = search.ask()
        found = problem.evaluate(solutions, np.zeros(len(solutions)))
        found.objectives[:] += shift
        search.tell(found)
        cells = search.soft.cells_of(found.measures)
        for i, (es, state, emitter) in enumerate(zip(strategies, states, search.emitters, strict=True)):
            rows = slice(i * BATCH, (i + 1) * BATCH)
            x, whitening = samples_of(es, state)
            # the emitters of a search add their solutions one after the other, and are then told together
            goes_on = published.return_batch(coded[i], x, found.objectives[rows], cells[rows], whitening)
            assert goes_on == (emitter.status.stop != "archive unchanged")
            parents.add(emitter.status.improvements)
            if emitter.status.stop is not None:
                restarts += 1
                assert (search.soft.elites().solutions == es.mean).all(axis=1).any()
                coded[i].restart(es.mean)
            np.testing.assert_allclose(es.mean, coded[i].m, rtol=1e-8, atol=1e-8)
            assert es.sigma == pytest.approx(coded[i].sigma, rel=1e-8)
    elites = search.result.elites()
    assert dict(zip(elites.cells.tolist(), elites.objectives.tolist(), strict=True)) == {
        cell: f for cell, (f, _) in published.archive.items()
    }
    assert restarts > 3
    assert len(parents) > 3


def test_it_needs_a_strategy_with_parents():
    strategy = OpenAIESSettings(batch_size=BATCH).make(np.zeros(N), generator(1))
    with pytest.raises(InvalidValueError, match="chooses the parents of its strategy"):
        EvolutionStrategyEmitter(strategy, selective=True)
    emitter, archive = EvolutionStrategyEmitter(strategy), grid(4, dim=N, ranges=[(0, 1)])
    emitter.ask(archive)
    emitter.tell(improved(np.arange(BATCH)), archive)

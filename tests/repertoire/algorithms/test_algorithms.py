"""One contract for every named algorithm, with every kind of archive; and what each name means."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from search_tools import Strolling, assert_same_state

from repertoire.algorithms.catalogue import ALGORITHMS, Algorithm, start_search
from repertoire.algorithms.scheduler import Scheduler
from repertoire.algorithms.settings import Settings
from repertoire.emitters.evolution_strategy import EvolutionStrategySettings
from robots.errors import InvalidValueError, SurefootError
from robots.evaluations import Evaluations

PROBLEM = Strolling()
SMALL = {
    "evaluations": 1000,
    "seed": 1,
    "emitters": 3,
    "batch_size": 8,
    "archive": (8, 8),
    "min_objective": 0.0,
}
QUICK = {"critic_updates": 2, "critic_samples": 256, "buffer_size": 100, "gradient_steps": 2}
CLIMBING = {"me-es", "me-es-exploit", "me-es-explore"}
GRADIENTS = {"cma-mega-es", "cma-mega-td3-es"}


@pytest.fixture(params=ALGORITHMS)
def algorithm(request) -> Algorithm:
    return ALGORITHMS.find(request.param)


@pytest.fixture(params=["8,8", "cvt:64"])
def archive(request) -> str:
    """A specification of each kind of archive in turn."""
    return request.param


def settings_of(algorithm: Algorithm, **chosen) -> Settings:
    own = algorithm.own_settings()
    return algorithm.settings({**SMALL, **{name: QUICK[name] for name in QUICK if name in own}, **chosen})


def start(algorithm: Algorithm, *, seed: int = 1, problem=PROBLEM, **given) -> Scheduler:
    return start_search(settings_of(algorithm, **given), problem, np.random.SeedSequence(seed))


def evaluate(search: Scheduler, solutions: np.ndarray) -> Evaluations:
    """All that there is to know about the solutions asked last."""
    return PROBLEM.evaluate(solutions, np.zeros(len(solutions), np.int64), request=search.request)


def advance(search: Scheduler, batches: int) -> None:
    for _ in range(batches):
        search.tell(evaluate(search, search.ask()))


def assert_same(actual: Scheduler, expected: Scheduler) -> None:
    assert_same_state(actual.state(), expected.state())
    assert_same_state(actual.result.state(), expected.result.state())


def test_solutions_are_finite_and_the_archive_fills(algorithm, archive):
    search, cells, seen = start(algorithm, archive=archive, sigma0=0.3), [], []
    for _ in range(15):
        expected = search.batch_size, 12
        solutions = search.ask()
        assert (solutions.dtype, solutions.shape) == (np.float32, expected)
        assert np.isfinite(solutions).all()
        seen.append(solutions.copy())
        search.tell(evaluate(search, solutions))
        cells.append(set(search.result.elites().cells))
    seen = np.concatenate(seen)
    assert len(np.unique(seen, axis=0)) > 0.9 * len(seen)
    assert all(before <= after for before, after in pairwise(cells))
    assert len(cells[-1]) > 1 or algorithm.name in CLIMBING  # whose steps are short compared with these cells
    assert all(np.isfinite(values).all() for values in vars(search.result.elites()).values())


def test_a_search_resumes_bit_for_bit_wherever_it_stopped(algorithm):
    whole = start(algorithm)
    advance(whole, 6)
    for stop_after in (1, 4):
        stopped, resumed = start(algorithm), start(algorithm)
        advance(stopped, stop_after)
        state = {name: value.copy() for name, value in stopped.state().items()}
        elites = stopped.result.elites()
        resumed.restore(state)
        resumed.result.add(elites.solutions, elites.objectives, elites.measures)
        assert_same(resumed, stopped)
        advance(resumed, 6 - stop_after)
        assert_same(resumed, whole)
        for one, other in zip(resumed.emitters, whole.emitters, strict=True):
            np.testing.assert_equal(vars(one.status), vars(other.status))


def test_a_state_that_is_not_of_such_a_search_is_refused(algorithm):
    search = start(algorithm, emitters=1)
    advance(search, 2)
    state = search.state()
    for name in state:
        with pytest.raises(InvalidValueError, match=f"the state lacks .*{name.split('/')[-1]}$"):
            search.restore({other: value for other, value in state.items() if other != name})
        for wrong in (state[name].astype(str), state[name][None]):
            with pytest.raises(InvalidValueError, match=f"{name} must be .* of shape"):
                search.restore({**state, name: wrong})
        if state[name].dtype.kind == "f" and state[name].size:
            with pytest.raises(InvalidValueError, match=f"{name} must be finite"):
                search.restore({**state, name: np.full_like(state[name], np.nan)})


def test_searches_survive_batches_that_fail(algorithm):
    search = start(algorithm)
    for failing in (1, 1, 0.2, 1, 0):
        solutions = search.ask()
        failed = np.arange(len(solutions)) < failing * len(solutions)
        found = evaluate(search, solutions)
        for values in (found.objectives, found.measures):
            if values is not None:
                values[failed] = np.nan
        if found.transitions is not None:
            for row in np.flatnonzero(failed):
                found.transitions[row] = found.transitions[row][:0]
        search.tell(dataclasses.replace(found, diverged=failed))
    assert len(search.result)
    if algorithm.emitter is EvolutionStrategySettings:
        assert [emitter.status.restarts for emitter in search.emitters] == [3] * 3
    if algorithm.name in GRADIENTS:  # whose odd batches have no ranking to learn from
        assert [emitter.status.restarts for emitter in search.emitters] == [2] * 3


def test_settings_survive_json_and_know_all_defaults(algorithm, archive):
    settings = settings_of(algorithm, archive=archive)
    assert Settings.model_validate_json(settings.model_dump_json()) == settings
    own = algorithm.own_settings()
    assert {name: settings.search[name] for name in own if name not in ("strategy", *SMALL, *QUICK)} == {
        name: value for name, value in own.items() if name not in ("strategy", *SMALL, *QUICK)
    }


def test_what_the_problem_suggests_comes_before_common_defaults_and_after_the_algorithms():
    chosen = {name: SMALL[name] for name in ("evaluations", "seed")}
    suggested = {"archive": "5,5", "min_objective": -1.0, "sigma0": 0.1, "learning_rate": 0.5, "vectors": 3}
    mae = ALGORITHMS.find("cma-mae").settings(chosen, suggested=suggested)
    line = ALGORITHMS.find("map-elites-line").settings(chosen, suggested=suggested)
    assert (mae.search["sigma0"], mae.learning_rate) == (0.1, 0.5)
    assert (str(mae.archive), mae.min_objective) == ("5,5", -1)
    assert (line.search["sigma0"], line.learning_rate) == (0.01, 1.0)


def test_defaults_are_the_algorithms_and_then_the_papers():
    paper = {"emitters": 5, "batch_size": 40, "sigma0": 0.02, "learning_rate": 0.001, "rule": "sequential"}
    full = {**paper, "rank_one": "textbook"}
    mega = {"emitters": 1, "rank_one": "textbook"}
    sampled = {"batch_size": 99, "sigma0": 1.0, "gradient_samples": 100, "gradient_sigma": 0.02}
    critics = {"buffer_size": 1_000_000, "time_limit": "terminal"}
    varied = {"sigma0": 0.005, "line_sigma": 0.05, "gradient_steps": 10}
    for name, expected in (
        ("cma-mae", full),
        ("lm-ma-mae", {**paper, "vectors": None}),
        ("cma-me", {name: full[name] for name in ("emitters", "batch_size", "sigma0", "rank_one")}),
        ("map-elites", {"emitters": 1, "batch_size": 100, "sigma0": 0.02, "line_sigma": 0.0}),
        ("map-elites-line", {"emitters": 1, "batch_size": 100, "sigma0": 0.01, "line_sigma": 0.2}),
        ("me-es", {"emitters": 1, "batch_size": 200, "sigma0": 0.02, "mode": "explore-exploit"}),
        ("cma-mega-es", {**mega, **sampled, "ranking": "discovery", "restart_unchanged": True}),
        (
            "cma-mega-td3-es",
            {**mega, **sampled, **critics, "batch_size": 98, "critic_updates": 600, "critic_samples": 65_536}
            | {"ranking": "discovery", "restart_unchanged": True},
        ),
        ("pga-me", {**critics, "emitters": 1, "batch_size": 100, **varied, "critic_updates": 300}),
    ):
        chosen = {name: SMALL[name] for name in ("evaluations", "seed", "archive", "min_objective")}
        assert ALGORITHMS.find(name).settings(chosen).search == expected


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("openai-mae", {"batch_size": 7}, "batch_size must be even, since samples are mirrored, got 7"),
        (
            "cma-me",
            {"strategy": "magic"},
            "unknown strategy 'magic'; available: cma-es, lm-ma-es, sep-cma-es",
        ),
        ("cma-me", {"vectors": 5}, "cma-me has no setting vectors: it has emitters, batch_size, .*"),
        ("map-elites", {"archive": (3,)}, "the archive 3 has cells along 1 measure, but there are 2"),
        ("cma-mega-es", {"gradient_samples": 7}, "gradient_samples must be even and at least 2, got 7"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_a_sentence(name, given, message):
    with pytest.raises(SurefootError, match=f"^{message}$"):
        start(ALGORITHMS.find(name), **given)

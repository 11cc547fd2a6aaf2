"""The arborescence emitter: the published algorithm in plain NumPy, restarts, failures, and resuming."""

from dataclasses import replace

import numpy as np
from search_tools import Strolling, batch, generator
from search_tools import grid as make_grid

from repertoire.archives.archive import Archive
from repertoire.emitters.arborescence import ArborescenceEmitter, LearnedArborescenceSettings
from repertoire.emitters.emitter import accepted, by_discovery
from repertoire.problems.benchmarks import Sphere
from repertoire.strategies.cma_es import CMAESSettings
from repertoire.strategies.openai_es import MirroredSamples
from robots.evaluations import Evaluations

N = 10
BRANCHES = 12
SPHERE = Sphere(N)
ORIGIN = np.zeros(N)


def make(*, samples: int = 6, sigma0: float = 2.0, initial: np.ndarray = ORIGIN) -> ArborescenceEmitter:
    rng = generator(1)
    coefficients = CMAESSettings(sigma0=sigma0, batch_size=BRANCHES).make(np.zeros(3), rng)
    sampling = MirroredSamples(samples, sigma=0.02, solution_dim=N, rng=rng)
    return ArborescenceEmitter(initial, coefficients=coefficients, samples=sampling)


def grid(n: int = N) -> Archive:
    return make_grid(20, 20, dim=n, ranges=Sphere(n).measure_ranges)


def barren(emitter: ArborescenceEmitter) -> Evaluations:
    """Evaluations of a batch of failures."""
    n = emitter.batch_size
    return Evaluations(
        objectives=np.full(n, np.nan),
        measures=np.full((n, 2), np.nan),
        diverged=np.ones(n, bool),
        steps=np.ones(n, int),
        improvements=np.full(n, -np.inf),
        opened=np.zeros(n, bool),
    )


def test_generations_equal_the_published_algorithm():
    """Fontaine & Nikolaidis 2021, Algorithm 1, given the gradients and the coefficients that were drawn."""
    emitter, archive = make(sigma0=0.3), grid()
    twin = CMAESSettings(sigma0=0.3, batch_size=BRANCHES).make(np.zeros(3), generator(1))
    theta = np.zeros(N)
    weights = np.log(BRANCHES // 2 + 0.5) - np.log(np.arange(1, BRANCHES // 2 + 1))
    weights /= weights.sum()
    for _ in range(6):
        (point, *_), _ = batch(SPHERE, emitter, archive)
        np.testing.assert_allclose(point, theta, atol=1e-6)
        gradients = emitter.state()["gradients"]
        c = twin.ask().astype(float)
        solutions, outcomes = batch(SPHERE, emitter, archive)
        steps = [c[i, 0] * gradients[0] + c[i, 1] * gradients[1] + c[i, 2] * gradients[2] for i in range(12)]
        np.testing.assert_allclose(solutions, theta + np.array(steps), atol=1e-5)
        order, _ = by_discovery(outcomes)
        twin.tell(order)
        theta = theta + sum(w * steps[i] for w, i in zip(weights, order, strict=False))
        np.testing.assert_allclose(emitter.point, theta, atol=1e-5)
    assert emitter.status.restarts == 0
    assert emitter.status.sigma == twin.sigma


def test_sampled_gradients_have_length_1_and_point_along_the_exact_ones():
    emitter, archive = make(samples=2000, initial=np.linspace(-3, 1, N)), grid()
    (point, *_), _ = batch(SPHERE, emitter, archive)
    found, first = emitter.state()["gradients"], np.arange(N) < N // 2
    exact = np.stack([-200 * (point - 2.048) / (7.168**2 * N), first, ~first])  # inside the bounds
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    assert (np.sum(found * exact, axis=1) / np.linalg.norm(exact, axis=1) > 0.97).all()


def test_it_restarts_at_an_elite_when_no_branch_changes_the_archive():
    emitter, archive = make(), grid()
    archive.add(np.full((1, N), 1.5, np.float32), np.array([1e6]), np.array([[0.0, 0.0]]))
    batch(SPHERE, emitter, archive)
    emitter.ask(archive)
    emitter.tell(replace(barren(emitter), improvements=-np.arange(1.0, BRANCHES + 1)), archive)
    assert (emitter.status.restarts, emitter.status.stop) == (1, "archive unchanged")
    assert (emitter.point == 1.5).all()
    assert emitter.status.sigma == 2.0


def test_flat_improvements_restart_it_and_with_an_empty_archive_at_the_initial_solution():
    initial = np.linspace(0, 1, N)
    emitter, archive = make(initial=initial), grid()
    for turn in range(4):
        assert np.isfinite(emitter.ask(archive)).all()
        emitter.tell(barren(emitter), archive)
        assert emitter.status.restarts == (turn + 1) // 2
        assert emitter.status.stop == ("flat values" if turn % 2 else None)
    np.testing.assert_array_equal(emitter.point, initial)
    batch(SPHERE, emitter, archive)
    assert len(archive) == 1


LEARNED = LearnedArborescenceSettings(
    strategy=CMAESSettings(sigma0=2.0, batch_size=BRANCHES),
    gradient_samples=20,
    critic_updates=5,
    critic_samples=256,
)


def learned_batch(emitter: ArborescenceEmitter, archive: Archive) -> tuple[np.ndarray, Evaluations]:
    """A batch in which every solution is better than those before it."""
    solutions, size = emitter.ask(archive), emitter.batch_size
    found = Strolling().evaluate(solutions, np.zeros(size, int), request=emitter.request)
    gains, opened = np.arange(size, dtype=float), np.ones(size, bool)
    outcomes = replace(found, improvements=gains, opened=opened)
    emitter.tell(outcomes, archive)
    return solutions, outcomes


def test_a_critics_actor_is_offered_and_not_ranked():
    emitter, archive = LEARNED.make(Strolling(), np.ones(12, np.float32), generator(1)), grid(12)
    for generation in range(1, 4):
        learned_batch(emitter, archive)
        point, actor, gradients = emitter.point, emitter._learner.actor.copy(), emitter.state()["gradients"]
        solutions, _ = learned_batch(emitter, archive)
        assert len(solutions) == BRANCHES + 1
        np.testing.assert_array_equal(solutions[-1], actor)
        parents = emitter._drawn[::-1][: emitter._weights.size]
        np.testing.assert_allclose(emitter.point, point + (emitter._weights @ parents) @ gradients, rtol=1e-9)
        state = emitter.state()
        assert state["learner/critics/steps"] == 5 * generation
        assert state["learner/added"] == 3 * (21 + BRANCHES + 1) * generation


def test_the_gradient_of_the_objective_is_a_critics():
    emitter, twin = (LEARNED.make(Strolling(), np.ones(12, np.float32), generator(1)) for _ in range(2))
    _, outcomes = learned_batch(emitter, grid(12))
    twin._learner.add(outcomes.transitions, len(outcomes.objectives))
    twin._learner.train()
    expected = twin._learner.gradient(np.ones(12))
    found = emitter.state()["gradients"][0]
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected), rtol=1e-4, atol=1e-6)


NAN = np.full(8, np.nan)
IMPROVEMENTS = np.array([0.5, -np.inf, 3, 0, -2, 3, -4, 7])
OPENED = np.array([0, 0, 0, 0, 1, 0, 1, 0], bool)
OUTCOMES = Evaluations(NAN, NAN[:, None], OPENED, NAN, improvements=IMPROVEMENTS, opened=OPENED)


def test_stages_equal_sorting_tuples():
    rng = np.random.default_rng(0)
    for _ in range(50):
        improvements, opened = rng.integers(-3, 4, size=12) * 1.0, rng.random(12) < 0.3
        outcomes = replace(OUTCOMES, improvements=improvements, opened=opened)
        stage = [2 if o else int(i > 0) for o, i in zip(opened, improvements, strict=True)]
        expected = sorted(range(12), key=lambda i: (-stage[i], -improvements[i], i))
        order, values = by_discovery(outcomes)
        assert order.tolist() == expected
        assert (values[0] == values[-1]) == (
            (stage[expected[0]], improvements[expected[0]])
            == (stage[expected[-1]], improvements[expected[-1]])
        )


def test_accepted_is_what_opened_a_cell_or_exceeded_its_threshold():
    assert np.flatnonzero(accepted(OUTCOMES)).tolist() == [0, 2, 4, 5, 6, 7]

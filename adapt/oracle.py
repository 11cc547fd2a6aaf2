"""The oracle: the best controller of a repertoire under a damage, known because all of them were tried."""

from collections.abc import Callable, Iterable

import numpy as np

from repertoire.evaluation.evaluator import Evaluation, Evaluator, objectives_and_falls
from robots.seeds import SeedFamily, derive_seeds

FINALISTS = 20
FINAL_EPISODES = 10
EPISODES = 2  # of every controller in `true_objectives`, by default
_FIRST_FINAL = 4  # number of the first episode of the finalists, from EPISODES on; part of every result


def true_objectives(
    evaluator: Evaluator,
    *,
    seed: int,
    episodes: int = EPISODES,
    on_progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    """Mean objective of every controller over a few episodes under the only condition, (k,).

    Args:
        evaluator: of the repertoire and the condition.
        seed: from which the seeds of the episodes derive.
        episodes: of each controller.
        on_progress: called with the share that is done, from other threads.
    """
    evaluation = Evaluation(evaluator, episodes=episodes, seed=seed, family=SeedFamily.ORACLE)
    evaluation.run(on_progress=on_progress and (lambda done: on_progress(done / evaluation.total)))
    objectives = evaluator.objectives(evaluation.results())
    return np.asarray(objectives.reshape(-1, episodes).mean(axis=1))


def find_oracle(evaluator: Evaluator, means: np.ndarray, *, seed: int, rows: Iterable[int] = ()) -> int:
    """Find the best controller under the only condition, the oracle.

    Of many means over a few episodes the highest are those of lucky controllers, above all of such as fall
    now and then. The `FINALISTS` with the highest means therefore run `FINAL_EPISODES` fresh episodes, the
    same for all. The highest mean of these episodes alone wins, and the first of equals: what a controller
    was selected by does not count for it a second time.

    Args:
        evaluator: of the repertoire and the condition.
        means: mean objective of every controller over a few other episodes, (k,).
        seed: from which the seeds of the fresh episodes derive.
        rows: of controllers that are finalists in any case.

    Returns:
        Its row in the repertoire.
    """
    finalists = np.argsort(-means, kind="stable")[:FINALISTS]
    finalists = np.union1d(finalists, list(rows)).astype(int)
    return int(finalists[np.argmax(final_means(evaluator, finalists, seed=seed))])


def final_means(evaluator: Evaluator, rows: np.ndarray, *, seed: int) -> np.ndarray:
    """Mean objectives by which finalists are compared, (n,), each over `FINAL_EPISODES` episodes."""
    seeds = derive_seeds(seed, SeedFamily.ORACLE, _FIRST_FINAL, FINAL_EPISODES)
    return objectives_and_falls(evaluator, rows, seeds)[0].mean(axis=1)

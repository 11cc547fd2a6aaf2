"""One evaluator: gaits of a repertoire run episodes under conditions, such as intact and with a damage.

`Evaluator` runs chosen gaits, for a question that a few episodes answer. `Evaluation` runs all of them under
all conditions, in blocks between which it is saved and can be interrupted. What both find are `Episodes`.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from repertoire.execution.running import run_with_checkpoints, software_versions
from repertoire.repertoire import Repertoire
from repertoire.storage.formats import Array, Contents, Format
from repertoire.storage.repertoires import fingerprint
from robots.arrays import whole_number
from robots.errors import InvalidValueError
from robots.evaluations import Request
from robots.robot import Robot
from robots.seeds import MOST_SEED, SeedFamily, derive_seeds
from robots.simulation.backend import Backend, ModelBatch, OnFinished
from robots.simulation.episodes import Episodes
from robots.simulation.threads import ALL_CORES
from robots.words import duration

Identity = Mapping[str, str | int]  # what results depend on, by name
MOST_EPISODES = 10_000
_WIDE = {"measures": "measures", "contacts": "feet"}  # columns of rank 2, with the name of their second axis
# Episodes of each worker in a block: seconds of work, so that neither waiting for the last nor saving matters
_BLOCK = 64
_BLOCK_BYTES = 2**29  # of their solutions, at most
_TIMED_CONDITIONS = 4
_TIMED_EPISODES = 4  # of each worker under each of these conditions


class Evaluator:
    """Runs gaits of a repertoire under conditions, in episodes as long as those of its training.

    Args:
        repertoire: whose gaits run, elites and specialists; not empty.
        conditions: robots by the name of their condition, or several models of each, every one as many. All
            share their controllers and measures.
        backend: what runs the episodes. No result depends on it.
        objective: function that scores episodes, (n,). By default their objectives, and the minimum objective
            where the simulation diverged.

    Attributes:
        models: how many of its robot each condition has.
        robots: those of the conditions, all models of the first before the second's.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        conditions: Mapping[str, Robot | Sequence[Robot]],
        *,
        backend: Backend = ALL_CORES,
        objective: Callable[[Episodes], np.ndarray] | None = None,
    ) -> None:
        if not len(repertoire):
            raise InvalidValueError("the repertoire is empty: there is nothing to evaluate")
        steps = repertoire.robot.description.episode_steps
        self.repertoire = repertoire
        self._solutions = repertoire.gaits.solutions
        self._objective = objective
        self.conditions = tuple(conditions)
        models = [[found] if isinstance(found, Robot) else found for found in conditions.values()]
        self.models = len(models[0])
        self.robots = tuple(robot.with_episode_steps(steps) for robots in models for robot in robots)
        self._batch, self.backend = ModelBatch(*self.robots), backend

    def add(self, solutions: np.ndarray) -> np.ndarray:
        """Have further controllers, (n, p), run; returns their rows, (n,), which follow those there are."""
        first = len(self._solutions)
        self._solutions = np.concatenate([self._solutions, solutions])
        return np.arange(first, len(self._solutions))

    def run(
        self,
        rows: np.ndarray,
        seeds: np.ndarray,
        *,
        robots: np.ndarray | None = None,
        traced: bool = False,
        on_finished: OnFinished | None = None,
    ) -> Episodes:
        """Run an episode of each of n gaits, given by their rows, on robots given by their numbers, (n,)."""
        return self.backend.run(
            self._batch,
            self._solutions[rows],
            seeds,
            models=robots,
            request=Request(traces=traced),
            on_finished=on_finished,
        )

    def objectives(self, episodes: Episodes) -> np.ndarray:
        """Objectives of episodes, see `Evaluator`."""
        if self._objective:
            return self._objective(episodes)
        least = self.repertoire.settings.min_objective
        return np.where(episodes.diverged, least, episodes.objectives)


def objectives_and_falls(
    evaluator: Evaluator, rows: np.ndarray, seeds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Objectives and falls, (n, m) each, of n gaits in the same m episodes under the first condition."""
    episodes = evaluator.run(np.repeat(rows, len(seeds)), np.tile(seeds, len(rows)))
    shape = (len(rows), len(seeds))
    return evaluator.objectives(episodes).reshape(shape), episodes.fell.reshape(shape)


class Evaluation:
    """Every one of k gaits runs n episodes under every one of d conditions.

    The episodes' seeds are the same for all gaits and conditions ("common random numbers"), so that no gait
    has an advantage by lucky starts. Several models of a condition take turns from episode to episode. The
    result is a function of the repertoire, the conditions, n and the seed.

    Args:
        evaluator: of the repertoire and the conditions.
        episodes: n, from 1 to `MOST_EPISODES`.
        seed: from 0 to `MOST_SEED`.
        family: what the episodes are for.
        block: episodes between two chances to stop or save; 64 for each worker by default.
        about: what else the results depend on, by name, for the identity.

    Attributes:
        done: how many episodes are finished.
        total: d k n, how many there are.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        episodes: int,
        seed: int,
        family: SeedFamily,
        block: int | None = None,
        about: Identity | None = None,
    ) -> None:
        check_episodes(episodes)
        seed = whole_number("seed", seed, 0, MOST_SEED)
        self.evaluator = evaluator
        self.repertoire = evaluator.repertoire
        self.episodes = episodes
        self.seed = seed
        self.done = 0
        self._family, self._about = family, about or {}
        self._controllers = len(self.repertoire)
        self.total = len(evaluator.conditions) * self._controllers * episodes
        solution_bytes = self.repertoire.gaits.solutions[0].nbytes
        self._block = block or min(_BLOCK * evaluator.backend.threads, max(1, _BLOCK_BYTES // solution_bytes))
        self._seeds = derive_seeds(seed, family, 0, episodes)
        self._columns = Episodes.unknown(self.total, self.repertoire.robot).columns

    @property
    def finished(self) -> bool:
        """Whether every episode is."""
        return self.done == self.total

    @cached_property
    def identity(self) -> Identity:
        """What the results are a function of, by name."""
        conditions = "\n".join(self.evaluator.conditions).encode()
        digest = hashlib.blake2b(conditions, digest_size=4).hexdigest()
        return {
            "repertoire": fingerprint(self.repertoire),
            "robot": robot_label(self.evaluator.robots[0]),
            "library": f"{len(self.evaluator.conditions)} conditions {digest}",
            "episodes": self.episodes,
            "seed": self.seed,
            **software_versions(),
            **self._about,
        }

    def seconds_left(self) -> float:
        """How long the rest will take [s], by a few episodes under a few of the conditions."""
        d = len(self.evaluator.conditions)
        each = self.total // d  # episodes under one condition
        few = np.unique(np.linspace(0, d - 1, _TIMED_CONDITIONS).astype(int))
        spread = np.linspace(0, each - 1, _TIMED_EPISODES * self.evaluator.backend.threads).astype(int)
        numbers = (few[:, None] * each + spread).ravel()
        self._evaluate(numbers)  # to compile, and to set up what every thread needs for each condition
        started = time.perf_counter()
        self._evaluate(numbers)
        return (time.perf_counter() - started) / len(numbers) * (self.total - self.done)

    def plan_words(self) -> str:
        """What there is to do, and how long it will take."""
        conditions, gaits = len(self.evaluator.conditions), self._controllers
        under = f"{conditions} conditions x " if conditions > 1 else ""
        work = f"{under}{gaits:,} gaits x {self.episodes} episodes = {self.total:,} episodes"
        left = "nothing left to do" if self.finished else f"about {duration(self.seconds_left())}"
        threads = self.evaluator.backend.threads
        return f"{work}: {left} on {threads} thread{'s' * (threads != 1)}"

    def step(self, on_finished: Callable[[int], None] | None = None) -> None:
        """Run a block of episodes; see `run` for what is called."""
        done = self.done
        numbers = np.arange(done, min(done + self._block, self.total))
        self._fill(self._evaluate(numbers, on_finished and (lambda n: on_finished(done + n))).columns)

    def run(
        self,
        path: Path | None = None,
        *,
        checkpoint_seconds: float = 30.0,
        on_progress: Callable[[int], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Run episodes until all are finished or `stop` says so, saving what is finished to a file.

        From other threads `on_progress` is called with the number of episodes finished.
        """
        save = None if path is None else partial(self.save, path)
        step = partial(self.step, on_progress)
        run_with_checkpoints(
            step, save, finished=lambda: self.finished, seconds=checkpoint_seconds, stop=stop
        )

    def save(self, path: Path) -> None:
        """Write what is finished to a file in one step."""
        columns = {name: column[: self.done] for name, column in self._columns.items()}
        self._format.write(path, Contents(columns, {"identity": json.dumps(dict(self._resumable))}))

    def restore(self, path: Path) -> None:
        """Go on from what was saved."""
        with self._format.read(path) as contents:
            sizes = {axis: self._columns[name].shape[1] for name, axis in _WIDE.items()}
            self._format.check(contents, **sizes)
            self._check(contents)
        self.done = 0
        self._fill(contents.arrays)

    def results(self) -> Episodes:
        """All d k n episodes: those under the first condition first, of them the first elite's."""
        if not self.finished:
            raise RuntimeError(f"{self.done} of {self.total} episodes are finished: ask when all are")
        return Episodes(**self._columns)

    @property
    def _format(self) -> Format:
        arrays = {
            name: Array(column.dtype.str, ("episodes", _WIDE.get(name, ""))[: column.ndim], finite=False)
            for name, column in self._columns.items()
        }
        return Format("surefoot episodes", version=4, arrays=arrays, texts=("identity",))

    @property
    def _resumable(self) -> Identity:
        """What episodes in a file must be a function of to be taken up."""
        return {**self.identity, "family of seeds": self._family.name.lower()}

    def _evaluate(self, numbers: np.ndarray, on_finished: Callable[[int], None] | None = None) -> Episodes:
        """Run some of the episodes, which are numbered by condition, then by elite."""
        entries, episodes = np.divmod(numbers, self.episodes)
        conditions, rows = np.divmod(entries, self._controllers)
        robots = conditions * self.evaluator.models + episodes % self.evaluator.models
        return self.evaluator.run(rows, self._seeds[episodes], robots=robots, on_finished=on_finished)

    def _check(self, contents: Contents) -> None:
        """Refuse episodes that are a function of something else, impossible, or more than there will be."""
        identity, columns = contents.json("identity", dict), contents.arrays
        wanted = self._resumable
        wrong = [
            f"{name} {identity.get(name, 'unknown')}, not {wanted.get(name, 'unknown')}"
            for name in {**wanted, **identity}
            if identity.get(name) != wanted.get(name)
        ]
        if wrong:
            raise InvalidValueError(f"it belongs to another evaluation ({'; '.join(wrong)})")
        if len(columns["objectives"]) > self.total:
            raise InvalidValueError(
                f"it must hold at most {self.total} episodes, not {len(columns['objectives'])}"
            )
        for name, column in columns.items():
            if not np.isfinite(column[~columns["diverged"]]).all():
                raise InvalidValueError(f"{name!r} must be finite where the simulation did not diverge")

    def _fill(self, columns: Mapping[str, np.ndarray]) -> None:
        after = self.done + len(columns["objectives"])
        for name, values in self._columns.items():
            values[self.done : after] = columns[name]
        self.done = after


def robot_label(robot: Robot) -> str:
    """What the identity of an evaluation calls the robot: how it differs from that of the training."""
    return ", ".join(change.label for change in robot.modifications) or "as trained"


def check_episodes(episodes: int) -> None:
    """Refuse a number of episodes that is out of range."""
    whole_number("episodes", episodes, 1, MOST_EPISODES)

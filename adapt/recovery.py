"""Recovery: tries controllers of a repertoire on a damaged robot until one works."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from numbers import Integral

import numpy as np

from adapt.damage import Damage
from adapt.evidence import evidence_of
from adapt.outcome import Outcome
from adapt.selectors import MapBO, Prior, Selector, SelectorFactory
from repertoire.repertoire import Repertoire
from robots.controllers import robot_controller
from robots.errors import InvalidValueError
from robots.seeds import derive_seeds
from robots.simulation import Episodes, Simulation

FORMAT = "surefoot-recovery"
VERSION = 1
LEVEL_EPISODES = 10
CANDIDATES = 20
REPEATS = 3
ORACLE_EPISODES = 4
# Keys of the seed: what each family of episodes derives its seeds from. Training has 0 and 1.
_TRIALS, _LEVELS, _ORACLE, _IN_USE = 2, 3, 4, 5


@dataclass(frozen=True)
class Trial:
    """One controller tried on the damaged robot, in a single episode.

    Attributes:
        number: of the trial, from 1.
        row: of the controller in the repertoire.
        cell: of the controller in the archive.
        seed: of the episode.
        predicted: objective expected before the trial.
        measured: objective; the repertoire's minimum objective where the simulation diverged.
        steps: control steps survived.
        distance: progress towards the target [m].
    """

    number: int
    row: int
    cell: tuple[int, ...]
    seed: int
    predicted: float
    measured: float
    steps: int
    distance: float


@dataclass(frozen=True)
class Level:
    """How well a controller does on a robot: means over `LEVEL_EPISODES` episodes.

    Attributes:
        objective: mean.
        standard_error: of that mean.
        distance: mean progress towards the target [m].
    """

    objective: float
    standard_error: float
    distance: float


@dataclass(frozen=True)
class Recovery:
    """How a recovery went.

    What the search saw are single episodes, as on a real robot, and the controller chosen is the best by the
    mean of its trials: a maximum of noisy numbers, which flatters it. The levels are therefore measured
    afresh, all on the same seeds, none of which was used in a trial. They can be compared with each other,
    and `recovered` may be lower than the trials that it was chosen for.

    Attributes:
        robot: name of the robot.
        damage: text of the damage.
        seed: from which every episode's seed derives.
        in_use: row of the controller that the robot walked with before: of the `CANDIDATES` with the highest
            objectives, the one that does best on average on the intact robot. The highest objective of all
            is a maximum over single episodes, and often luck.
        healthy: the controller in use, on the intact robot.
        broken: the same controller on the damaged robot.
        recovered: the chosen controller on the damaged robot.
        oracle: the best controller of the repertoire on the damaged robot, or None if it was not asked for.
            It is picked by the mean of `ORACLE_EPISODES` episodes of every controller, and then of
            `LEVEL_EPISODES` others of the `CANDIDATES` best and the chosen one, on seeds of their own.
        oracle_row: of that controller.
        trials: in order; the first is of the controller in use.
        row: of the chosen controller in the repertoire.
        cell: of the chosen controller in the archive.
        stop: why the search stopped.
    """

    robot: str
    damage: str
    seed: int
    in_use: int
    healthy: Level
    broken: Level
    recovered: Level
    oracle: Level | None
    oracle_row: int | None
    trials: tuple[Trial, ...]
    row: int
    cell: tuple[int, ...]
    stop: str

    def levels(self) -> dict[str, Level]:
        """The levels that were measured, by name."""
        known = {"healthy": self.healthy, "broken": self.broken, "recovered": self.recovered}
        return known | ({"oracle": self.oracle} if self.oracle else {})

    def to_json(self) -> dict[str, object]:
        """A dictionary that `json.dump` takes, with the name and version of this format first."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}


def recover(
    repertoire: Repertoire,
    damage: Damage,
    *,
    seed: int,
    trials: int = 20,
    selector: SelectorFactory = MapBO,
    repeats: int = REPEATS,
    threads: int | None = None,
    oracle: bool = False,
    on_trial: Callable[[Trial], None] | None = None,
) -> Recovery:
    """Find a controller that works on the damaged robot.

    Args:
        repertoire: of the intact robot.
        damage: what broke.
        seed: at least 0; the result depends on nothing else that is not in the other arguments.
        trials: how many controllers to try at most, at least 1.
        selector: chooses what to try.
        repeats: how often the best must have been tried before the search ends with it, at least 1. Single
            trials are noisy, and the best of many single trials is likely to have been lucky. The last
            trials are kept for this.
        threads: of the simulation; all cores by default. The result does not depend on it.
        oracle: whether to find the repertoire's best by trying all of it, many times.
        on_trial: called after each trial.

    Raises:
        UnknownNameError: the robot has no such part.
        InvalidValueError: the repertoire is empty or does not fit its robot, or an argument is outside what
            is said here.
    """
    _check(repertoire, trials, repeats, seed)
    intact = repertoire.robot.with_episode_steps(repertoire.configuration.episode_steps)
    damaged = damage.apply(intact)
    search = selector(_prior(repertoire), trials=trials)
    with Simulation(intact, threads=threads) as before, Simulation(damaged, threads=threads) as after:
        intact_bench, bench = _Bench(repertoire, before, int(seed)), _Bench(repertoire, after, int(seed))
        in_use = intact_bench.proven()
        tried = bench.search(search, in_use, repeats, on_trial)
        chosen = search.leader()
        winner = bench.winner(chosen) if oracle else None
        return Recovery(
            robot=intact.name,
            damage=str(damage),
            seed=int(seed),
            in_use=in_use,
            healthy=intact_bench.level(in_use),
            broken=bench.level(in_use),
            recovered=bench.level(chosen),
            oracle=None if winner is None else bench.level(winner),
            oracle_row=winner,
            trials=tuple(tried),
            row=chosen,
            cell=repertoire.cell(chosen),
            stop=search.done()
            or f"the best gait was tried {repeats} times, and too few trials are left to prove another",
        )


def _prior(repertoire: Repertoire) -> Prior:
    """What the repertoire says of its controllers."""
    elites = repertoire.elites
    return Prior(elites.objectives, elites.measures, repertoire.configuration.min_objective)


class _Bench:
    """Runs a repertoire's controllers on one robot, with seeds that derive from the recovery's."""

    def __init__(self, repertoire: Repertoire, simulation: Simulation, seed: int) -> None:
        self._repertoire = repertoire
        self._simulation = simulation
        self._seed = seed

    def search(
        self, search: Selector, in_use: int, repeats: int, on_trial: Callable[[Trial], None] | None
    ) -> list[Trial]:
        """Try the controller in use, which is how damage is noticed, and then what a selector proposes.

        Before the search ends, whichever is the best so far is tried again, until one has had its `repeats`.
        """
        tried: list[Trial] = []
        kept = min(2 * (repeats - 1), search.trials // 4)  # enough to find out that a first leader was lucky
        while len(tried) < search.trials:
            ending = search.done() is not None or len(tried) >= search.trials - kept
            row = self._next(search, in_use, repeats, ending)
            if row is None:
                break
            trial, outcome = self._trial(len(tried) + 1, row, float(search.predicted[row]))
            search.tell(row, outcome)
            tried.append(trial)
            if on_trial:
                on_trial(trial)
        return tried

    @staticmethod
    def _next(search: Selector, in_use: int, repeats: int, ending: bool) -> int | None:
        """Row to try next, or None to stop."""
        if not search.rows:
            return in_use
        if not ending:
            return search.next()
        leader = search.leader()
        return leader if search.rows.count(leader) < repeats else None

    def level(self, row: int) -> Level:
        """How well a controller does."""
        seeds = derive_seeds(self._seed, _LEVELS, 0, LEVEL_EPISODES)
        episodes = self._run(np.full(LEVEL_EPISODES, row), seeds)
        objectives = self._objectives(episodes)
        error = objectives.std(ddof=1) / np.sqrt(LEVEL_EPISODES)
        return Level(float(objectives.mean()), float(error), float(episodes.distances.mean()))

    def winner(self, chosen: int) -> int:
        """Row of the controller that does best of all, the chosen one included."""
        seeds = derive_seeds(self._seed, _ORACLE, 0, ORACLE_EPISODES + LEVEL_EPISODES)
        means = self._means(np.arange(len(self._repertoire)), seeds[:ORACLE_EPISODES])
        finalists = np.union1d(np.argsort(-means, kind="stable")[:CANDIDATES], [chosen])
        return self._best_of(finalists, seeds[ORACLE_EPISODES:])

    def proven(self) -> int:
        """Row of the controller that does best among those with the highest objectives."""
        candidates = np.argsort(-self._repertoire.elites.objectives, kind="stable")[:CANDIDATES]
        return self._best_of(candidates, derive_seeds(self._seed, _IN_USE, 0, LEVEL_EPISODES))

    def _best_of(self, rows: np.ndarray, seeds: np.ndarray) -> int:
        """The row with the highest mean objective over seeds, the same for all."""
        return int(rows[np.argmax(self._means(rows, seeds))])

    def _means(self, rows: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Mean objective of each row over seeds, the same for all."""
        episodes = self._run(np.repeat(rows, len(seeds)), np.tile(seeds, len(rows)))
        return self._objectives(episodes).reshape(len(rows), len(seeds)).mean(axis=1)

    def _trial(self, number: int, row: int, predicted: float) -> tuple[Trial, Outcome]:
        """Try a controller once; the record of it, and what a selector is told."""
        seeds = derive_seeds(self._seed, _TRIALS, number, 1)
        episodes = self._run(np.array([row]), seeds)
        trial = Trial(
            number=number,
            row=row,
            cell=self._repertoire.cell(row),
            seed=int(seeds[0]),
            predicted=predicted,
            measured=float(self._objectives(episodes)[0]),
            steps=int(episodes.steps[0]),
            distance=float(episodes.distances[0]),
        )
        fell = bool(episodes.fell[0] | episodes.diverged[0])
        return trial, Outcome(trial.measured, fell, evidence_of(episodes, self._simulation.robot)[0])

    def _run(self, rows: np.ndarray, seeds: np.ndarray) -> Episodes:
        """Run an episode of each controller."""
        return self._simulation.evaluate(self._repertoire.elites.solutions[rows], seeds)

    def _objectives(self, episodes: Episodes) -> np.ndarray:
        """Objectives, the minimum where the simulation diverged."""
        floor = self._repertoire.configuration.min_objective
        return np.where(episodes.diverged, floor, episodes.objectives)


def _check(repertoire: Repertoire, trials: int, repeats: int, seed: int) -> None:
    """Refuse what no recovery can start from."""
    for name, value, least in (("trials", trials, 1), ("repeats", repeats, 1), ("seed", seed, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise InvalidValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
    if not len(repertoire):
        raise InvalidValueError("the repertoire is empty: there is no controller to try")
    controller = robot_controller(repertoire.robot)
    if (
        repertoire.controller != controller.shape
        or repertoire.elites.solutions.shape[1] != controller.parameter_count
    ):
        raise InvalidValueError(
            f"the repertoire's {repertoire.controller} controllers do not fit the {repertoire.robot.name}, "
            f"which has {controller.shape}"
        )

"""`Benchmark`: a recovery benchmark in a folder, from its settings to its results."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapt.damage.damage import Damage
from adapt.rehearsal.table import Table, join
from adapt.selectors.selector import Prior
from adapt.suite.case import Case, make_cases
from adapt.suite.replay import Noise
from adapt.suite.replays import Arena
from adapt.suite.results import World
from adapt.suite.truth import TablePlan, TablePlans, plan_tables
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from repertoire.suites.files import keep_identity
from robots.errors import InvalidValueError
from robots.files import file_exists


@dataclass(frozen=True)
class BenchmarkSettings:
    """What decides the true outcomes of a benchmark.

    Attributes:
        damages: to recover from, all different and none of them healthy, see `check_damages`.
        episodes: of every controller under each damage, in each of the two sets by which truth is known.
        gaps: robots that differ from the rehearsed one, at least 1.
        seed: from which every other derives.
    """

    damages: tuple[Damage, ...]
    episodes: int = 2
    gaps: int = 4
    seed: int = 1

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of the damages."""
        return tuple(str(damage) for damage in self.damages)


class Benchmark:
    """The true outcomes of a benchmark, in a folder.

    Args:
        repertoire: of the intact robot.
        library: what was rehearsed of it.
        settings: of the benchmark.
        folder: made if it is missing.
        threads: of the simulation; all cores by default. No result depends on it.
        dry: whether only to look at the folder, and to make and write nothing.

    Raises:
        InvalidValueError: the folder holds a benchmark of other settings.
        InvalidFileError: the folder cannot be made or read.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        library: Table,
        settings: BenchmarkSettings,
        folder: Path,
        *,
        threads: int | None = None,
        dry: bool = False,
    ) -> None:
        self.repertoire = repertoire
        self.library = library
        self.settings = settings
        self.folder = folder
        self.threads = threads
        keep_identity(folder, self._identity(), dry=dry)
        self.plans: TablePlans = plan_tables(
            settings.damages,
            rehearsed_episodes=library.episodes,
            episodes=settings.episodes,
            gaps=settings.gaps,
            seed=settings.seed,
        )

    def _identity(self) -> dict[str, object]:
        """What all tables in a folder have in common."""
        return {
            "study": "recovery",
            "repertoire": fingerprint(self.repertoire)[:16],
            "seed": self.settings.seed,
            "episodes": self.settings.episodes,
            "rehearsed episodes": self.library.episodes,
            "gaps": self.settings.gaps,
            "damages": _digest(self.settings.texts),
        }

    def waiting(self, *, gap: bool) -> list[TablePlan]:
        """The tables that are not made yet; those of the reality gap only if they are asked for."""
        plans = self.plans.all() if gap else self.plans.without_gap()
        return [plan for plan in plans if not file_exists(plan.path(self.folder))]

    def seconds_left(self, waiting: Sequence[TablePlan]) -> dict[str, float]:
        """How long tables will take that are not made yet [s], by name.

        One that was begun counts in full. The pace is that of a few episodes of the first.
        """
        if not waiting:
            return {}
        with waiting[0].evaluation(self.repertoire, threads=self.threads) as evaluation:
            pace = evaluation.seconds_left() / evaluation.total
        return {plan.name: pace * plan.total(len(self.repertoire)) for plan in waiting}

    def make(
        self,
        plan: TablePlan,
        *,
        on_progress: Callable[[int], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Table | None:
        """Make or read a table, see `TablePlan.make`."""
        return plan.make(
            self.repertoire, self.folder, threads=self.threads, on_progress=on_progress, stop=stop
        )

    def rehearsed(self) -> Table:
        """All that is rehearsed: the library, and what it lacks of the damages that are put to the test.

        Raises:
            InvalidFileError: a table cannot be read.
        """
        more = self._read(self.plans.anticipated)
        missing = [text for text in more.conditions if text not in self.library.conditions]
        return join([self.library, more.take(missing)])

    def worlds(self, *, gap: bool) -> dict[bool, World]:
        """The robots that selectors face, by whether they differ from the rehearsed one.

        Args:
            gap: whether to read those that do.

        Raises:
            InvalidValueError: there is no damage under which any gait gets anywhere.
            InvalidFileError: a table cannot be read.
        """
        worlds = {False: self._world([(self.plans.shown, self.plans.scores)])}
        return worlds | ({True: self._world(list(self.plans.gaps))} if gap else {})

    def arena(self, *, gap: bool, trials: int, seeds: int, noise: Noise) -> Arena:
        """All that recoveries need.

        Args:
            gap: whether to read the tables of the robots that differ from the rehearsed one.
            trials: of each recovery.
            seeds: recoveries from each damage.
            noise: of a trial's objective, beside that of its episode.

        Raises:
            InvalidFileError: a table cannot be read.
        """
        return Arena(
            prior=self.prior,
            rehearsed=self.rehearsed(),
            library=self.library.conditions,
            worlds=self.worlds(gap=gap),
            trials=trials,
            seeds=seeds,
            noise=noise,
            seed=self.settings.seed,
        )

    @property
    def prior(self) -> Prior:
        """What the repertoire says of its controllers."""
        elites = self.repertoire.elites
        return Prior(elites.objectives, elites.measures, self.repertoire.settings.min_objective)

    def _world(self, pairs: list[tuple[TablePlan, TablePlan]]) -> World:
        """The cases of pairs of tables, in the order of the damages."""
        least = self.repertoire.settings.min_objective
        found: dict[str, Case] = {}
        for shown, scores in pairs:
            table = self._read(shown)
            oracles = shown.oracles(self.repertoire, self.folder, table, threads=self.threads)
            cases = make_cases(table, self._read(scores), oracles, min_objective=least)
            found |= {case.damage: case for case in cases}
        cases = [found[text] for text in self.settings.texts]
        if all(case.hopeless for case in cases):
            raise InvalidValueError(
                f"no gait gets above the minimum objective {least:g} under any damage: nothing can be told"
            )
        return World(
            cases=tuple(case for case in cases if not case.hopeless),
            hopeless=tuple(case.damage for case in cases if case.hopeless),
            in_use=self.repertoire.best(),
        )

    def _read(self, plan: TablePlan) -> Table:
        """A table that was made."""
        table = self.make(plan)
        assert table is not None  # only a run that is stopped leaves it unmade
        return table


def _digest(texts: tuple[str, ...]) -> str:
    """A list of damages in a few characters, to compare and to show."""
    digest = hashlib.blake2b("\n".join(texts).encode(), digest_size=4)
    return f"{len(texts)} of checksum {digest.hexdigest()}"

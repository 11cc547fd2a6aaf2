"""`RecoveryStudy`: a recovery benchmark in a folder, from its settings to its results."""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from adapt.damage import HEALTHY
from adapt.damage.damage import Damage
from adapt.rehearsal.table import Table, join
from adapt.selectors.selector import Prior
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidValueError
from robots.files.atomic import file_exists, make_folder
from robots.files.locks import locked
from suites.identity import keep_identity
from suites.recovery.cases import TRACKS, Track, check_damages, find_tracks
from suites.recovery.recoveries import (
    ReplaySetting,
    ReplayTask,
    Results,
    find_selectors,
    plan_runs,
    replay_all,
    replay_task,
)
from suites.recovery.replay import Case, Noise, Truth, make_cases
from suites.recovery.truth_tables import TruthTable, plan_tables

_TABLES = "tables"


@dataclass(frozen=True)
class RecoverySettings:
    """What a recovery benchmark runs.

    The damages, episodes, gaps and seed decide the true outcomes, which take long and are kept. Everything
    else may differ from one call to the next.

    Attributes:
        damages: to recover from, all different and none of them healthy.
        tracks: see `find_tracks`.
        selectors: names, see `find_selectors`.
        trials: of each recovery.
        seeds: recoveries of each selector from each damage.
        noise: of a trial's objective, in addition to the variation between episodes.
        episodes: of every controller under each damage, in each of the two sets of true outcomes.
        gaps: number of robots that differ from the rehearsed one, at least 1.
        seed: from which every other derives.

    Raises:
        InvalidValueError: there is no damage, or one is healthy or appears twice.
    """

    damages: tuple[Damage, ...]
    tracks: tuple[Track, ...] = TRACKS
    selectors: tuple[str, ...] = field(default_factory=find_selectors)
    trials: int = 20
    seeds: int = 10
    noise: Noise = field(default_factory=Noise)
    episodes: int = 2
    gaps: int = 4
    seed: int = 1

    def __post_init__(self) -> None:
        check_damages(self.damages)

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of the damages."""
        return tuple(str(damage) for damage in self.damages)

    @property
    def gap(self) -> bool:
        """Whether a track has a reality gap."""
        return any(track.gap for track in self.tracks)


class RecoveryStudy:
    """A recovery benchmark in a folder. Within `open`, make its tables, then replay recoveries from them.

    Args:
        repertoire: of the intact robot.
        library: its rehearsal.
        settings: of the benchmark.
        folder: of the study; only `open` makes it or writes to it.
        threads: of the simulation, and number of parallel processes of the replays. No result depends on it.

    Raises:
        InvalidValueError: the folder holds a study with other settings, or there are more trials than
            controllers.
        InvalidFileError: the folder cannot be read.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        library: Table,
        settings: RecoverySettings,
        folder: Path,
        *,
        threads: int,
    ) -> None:
        if not 1 <= settings.trials <= len(repertoire):
            raise InvalidValueError(
                f"the number of trials must be at most the {len(repertoire)} gaits of the repertoire, not "
                f"{settings.trials}"
            )
        self.repertoire = repertoire
        self.library = library
        self.settings = settings
        self.folder = folder
        self.threads = threads
        keep_identity(folder, self._identity(), dry=True)
        self.tables = plan_tables(
            repertoire,
            settings.damages,
            folder / _TABLES,
            rehearsed_episodes=library.episodes,
            episodes=settings.episodes,
            gaps=settings.gaps,
            seed=settings.seed,
        )

    @contextmanager
    def open(self) -> Iterator[None]:
        """Make the folder if it is missing, and keep other processes from working in it meanwhile.

        Raises:
            InUseError: another process is working in the folder.
            InvalidValueError: the folder holds a study with other settings.
            InvalidFileError: the folder cannot be made or read.
        """
        make_folder(self.folder)
        with locked(self.folder):
            keep_identity(self.folder, self._identity())
            yield

    def waiting(self) -> list[TruthTable]:
        """The tables that are not made yet."""
        wanted = [table for table in self.tables if table.gap is None or self.settings.gap]
        return [table for table in wanted if not file_exists(table.path)]

    def table_seconds(self, waiting: Sequence[TruthTable]) -> dict[str, float]:
        """Estimate how long tables take [s], by name, from a few episodes of the first one.

        A table that was begun counts in full.
        """
        if not waiting:
            return {}
        with waiting[0].evaluation(self.threads) as evaluation:
            pace = evaluation.seconds_left() / evaluation.total
        return {table.name: pace * table.total for table in waiting}

    def replay_seconds(self) -> float:
        """Estimate how long the replays take [s] from one recovery of each selector on the intact robot."""
        settings, healthy = self.settings, Truth.of(self.library, HEALTHY)
        case = Case(HEALTHY, healthy, healthy.objectives, oracle=1.0, intact=1.0, incumbent=0)
        setting = replace(self._setting({False: [case]}, self.library), seeds=1)
        (largest,) = find_tracks(["T2"])  # the track with the most conditions
        seconds = {}
        for name in settings.selectors:
            task = ReplayTask((largest,), name, 0)
            replay_task(setting, task)  # compiles and loads what is needed
            started = time.perf_counter()
            replay_task(setting, task)
            seconds[name] = time.perf_counter() - started
        total = sum(seconds[name] for name, _ in plan_runs(settings.tracks, settings.selectors))
        return len(settings.damages) * settings.seeds * total / self.threads

    def rehearsed(self) -> Table:
        """The library, and what it lacks of the damages to recover from."""
        more = self.tables[0].read()
        missing = [text for text in more.conditions if text not in self.library.conditions]
        return join([self.library, more.take(missing)])

    def cases(self, gap: bool) -> list[Case]:
        """The cases of the rehearsed robot or across the reality gap, in the order of the damages.

        Raises:
            InvalidFileError: a table is not made, or cannot be read.
        """
        found: dict[str, Case] = {}
        for shown, scored in zip(self.tables[1::2], self.tables[2::2], strict=True):
            if gap != (shown.gap is not None):
                continue
            table = shown.read()
            made = make_cases(
                table,
                scored.read(),
                shown.oracles(table, self.threads),
                min_objective=self.repertoire.settings.min_objective,
                incumbent=self.repertoire.best(),
            )
            found |= {case.damage: case for case in made}
        return [found[text] for text in self.settings.texts]

    def replay(self, *, on_progress: Callable[[float], None] | None = None) -> Results:
        """Run all recoveries, see `replay_all`, by the tables, which must all be made.

        Raises:
            InvalidValueError: under no damage the oracle scores above the minimum objective.
            InvalidFileError: a table cannot be read.
        """
        settings = self.settings
        known = {gap: self.cases(gap) for gap in ((False, True) if settings.gap else (False,))}
        solvable = {gap: [case for case in cases if case.oracle > 0] for gap, cases in known.items()}
        if not all(solvable.values()):
            raise InvalidValueError(
                "under no damage the oracle scores above the minimum objective "
                f"{self.repertoire.settings.min_objective:g}: there is nothing to compare"
            )
        recoveries = replay_all(
            self._setting(solvable, self.rehearsed()),
            tracks=settings.tracks,
            selectors=settings.selectors,
            processes=self.threads,
            on_progress=on_progress,
        )
        excluded = {
            gap: tuple(case.damage for case in cases if case.oracle <= 0) for gap, cases in known.items()
        }
        return Results(self.repertoire.robot.name, settings.tracks, excluded, recoveries)

    def _identity(self) -> dict[str, object]:
        """What all tables in a folder have in common."""
        damages = "\n".join(self.settings.texts).encode()
        digest = hashlib.blake2b(damages, digest_size=4).hexdigest()
        return {
            "study": "recovery",
            "repertoire": fingerprint(self.repertoire)[:16],
            "seed": self.settings.seed,
            "episodes": self.settings.episodes,
            "rehearsed episodes": self.library.episodes,
            "gaps": self.settings.gaps,
            "damages": f"{len(self.settings.damages)} of checksum {digest}",
        }

    def _setting(self, cases: Mapping[bool, Sequence[Case]], rehearsed: Table) -> ReplaySetting:
        """What replays of some cases read."""
        elites, settings = self.repertoire.elites, self.settings
        return ReplaySetting(
            prior=Prior(elites.objectives, elites.measures, self.repertoire.settings.min_objective),
            rehearsed=rehearsed,
            library=self.library.conditions,
            cases=cases,
            trials=settings.trials,
            seeds=settings.seeds,
            noise=settings.noise,
            seed=settings.seed,
        )

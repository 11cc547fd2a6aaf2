"""`Strengthening`: refines a specialist for each damage that leaves a repertoire no good gait."""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from adapt.objective import Progress, find_objective
from adapt.records import RefinedGait
from adapt.recovery import find_incumbent, fresh_episodes
from adapt.rehearsal.table import Table
from adapt.relearning.keeping import keep_gaits
from adapt.relearning.refinement import RefinementSettings
from adapt.relearning.refiner import RefinerSettings
from adapt.requests import StrengtheningRequest
from repertoire.evaluation.evaluator import Evaluator
from repertoire.execution.checkpoints import run_with_checkpoints
from repertoire.execution.provenance import software_versions
from repertoire.repertoire import Repertoire
from repertoire.storage.formats import Array, Contents, Format
from repertoire.storage.repertoires import fingerprint
from robots.description import Randomization
from robots.errors import InvalidValueError
from robots.randomization import draw_models
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.threads import ALL_CORES
from robots.symmetry import mirror_images
from robots.words import duration


@dataclass(frozen=True)
class StrengtheningSettings:
    """How searches are made, and what is worth keeping."""

    rounds: int = 4  # in which a search spends its episodes, unless it stops paying
    pays: float = 0.01  # gain of a round, and of a specialist, as a share of the healthy distance
    finalists: int = 20  # gaits that are best by the rehearsal, of which fresh episodes tell the best
    mirrored: int = 3  # gaits that are best under each condition, whose mirror images are tried
    glances: int = 2  # episodes of each of these images, which tell the finalists
    starts: int = 8  # of these, from which a search may start
    final_episodes: int = 10


STRENGTHENING = StrengtheningSettings()
_FIELD = ("searches",)
_FORMAT = Format(
    "surefoot strengthening",
    version=1,
    arrays={
        "condition": Array("<i8", _FIELD),
        "parent": Array("<i8", _FIELD, low=0),
        "solution": Array("<f4", (*_FIELD, "parameters")),
        "before": Array("<f8", _FIELD),
        "after": Array("<f8", _FIELD),
        "rounds": Array("<i8", _FIELD, low=0, high=STRENGTHENING.rounds),
        "episodes": Array("<i8", _FIELD, low=0),
        "finished": Array("|b1", _FIELD),
    },
    texts=("identity",),
)


@dataclass(frozen=True, eq=False)
class DamageSearch:
    """The search for a gait for one damage, as far as it has come.

    Attributes:
        condition: row of the damage in the rehearsal.
        parent: row of the gait that it started from, or whose mirror image was found; specialists that were
            found before come after the gaits of the repertoire.
        solution: parameters of the gait found so far, (n,) float32.
        before: progress while up of the best gait that there was, in fresh episodes [m].
        after: that of the gait found, in the same episodes; `before` until the search is finished.
        rounds: that are done; 0 where a gait that there was is good enough, or a mirror image was found.
        episodes: that they took.
        finished: whether there will be no more rounds.
    """

    condition: int
    parent: int
    solution: np.ndarray
    before: float
    after: float
    rounds: int = 0
    episodes: int = 0
    finished: bool = False


class Strengthening:
    """Searches for specialists, damage by damage, in rounds after which it can be saved and interrupted.

    A specialist that was found for one damage is also tried for the next, which may then need no search of
    its own. So are mirror images of gaits, of a robot that is its own mirror image: the best one is kept if
    it is better than all gaits that there are, and is then searched from if it is not good enough.

    The result is a function of the arguments other than `backend`, whatever the interruptions.

    Args:
        repertoire: of a robot, not empty.
        table: its rehearsal.
        request: what to do; its episodes are the budget of all rounds of a search together.
        damages: texts of the conditions that are to be strengthened; all by default.
        refinement: how to search, in place of the request's number of episodes.
        randomization: of the models that gaits are refined and compared on; None for the nominal model.
        backend: what runs the episodes.
        on_finished: told, in words, what came of each search.

    Attributes:
        healthy: distance that the intact robot walks [m].
        weak: rows of the conditions under which no gait reaches the share, by the rehearsal.
        searches: one for each of these, as far as it has come, or two where the first found a mirror image
            that is not good enough; only the last may be unfinished.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        table: Table,
        request: StrengtheningRequest,
        *,
        damages: Sequence[str] | None = None,
        refinement: RefinerSettings | None = None,
        randomization: Randomization | None = None,
        backend: Backend = ALL_CORES,
        on_finished: Callable[[str], object] | None = None,
    ) -> None:
        if table.randomization not in ("none", str(randomization)):
            raise InvalidValueError(
                f"the rehearsal is of other models ({table.randomization}) than those that gaits are to be "
                f"strengthened on ({randomization or 'none'}): choose the same, or rehearse the nominal robot"
            )
        self.repertoire, self.table = repertoire, table
        self.below, self.seed = request.below, request.seed  # above 1, all damages are searched
        self.refinement = refinement or RefinementSettings(request.episodes_per_damage)
        self.randomization, self._backend, self._on_finished = randomization, backend, on_finished
        self._wholes = draw_models(repertoire.robot, randomization) if randomization else [repertoire.robot]
        self.healthy = self._walk()
        aim = find_objective("progress", repertoire, self.healthy)
        if not isinstance(aim, Progress):
            raise InvalidValueError("the healthy robot does not walk: train its repertoire for longer first")
        self._aim, self._progress = aim, aim.of_table(table).objectives  # (d, k)
        self.weak = self._find_weak(table.conditions if damages is None else table.take(damages).conditions)
        self.searches: list[DamageSearch] = []

    def _walk(self) -> float:
        """How far the intact robot walks [m]; takes the time of it."""
        robot = {"intact": self.repertoire.robot}
        intact = Evaluator(self.repertoire, robot, backend=self._backend)
        incumbent = find_incumbent(intact, seed=self.seed)
        started = time.perf_counter()
        episodes = fresh_episodes(intact, incumbent, self.seed)
        self._seconds = (time.perf_counter() - started) / len(episodes.fell)  # of an episode
        return float(episodes.distances.mean())

    def _find_weak(self, wanted: Sequence[str]) -> list[int]:
        """Rows of the conditions that are to be strengthened."""
        rows = [row for row, text in enumerate(self.table.conditions) if row and text in wanted]
        if not rows:
            raise InvalidValueError("the library holds no damage: there is nothing to strengthen")
        self._asked = len(rows)
        bests = self._progress.max(axis=1) / self.healthy
        weak = [row for row in rows if bests[row] < self.below]
        if not weak:
            least = min(rows, key=lambda row: float(bests[row]))
            raise InvalidValueError(
                f"there is nothing to strengthen: under every damage some gait makes {self.below:.0%} of the "
                f"healthy distance, and {bests[least]:.0%} under {self.table.conditions[least]}"
            )
        return weak

    @property
    def total(self) -> int:
        """Episodes that all searches may take."""
        return len(self.weak) * self.refinement.episodes

    @property
    def done(self) -> int:
        """How many of these were taken, or will not be needed."""
        budget, last = self.refinement.episodes, {one.condition: one for one in self.searches}
        return sum(min(budget, one.episodes) if self._wants_more(one) else budget for one in last.values())

    @property
    def finished(self) -> bool:
        """Whether every search is."""
        last = self.searches[-1] if self.searches else None
        return last is not None and last.condition == self.weak[-1] and not self._wants_more(last)

    def _wants_more(self, search: DamageSearch) -> bool:
        """Whether there is more to do for its damage: rounds, or the first one from a mirror image."""
        return not search.finished or (not search.rounds and search.after < self.below * self.healthy)

    def plan_words(self) -> str:
        """What there is to do, and how long it takes at most."""
        left, threads = duration((self.total - self.done) * self._seconds), self._backend.threads
        return (
            f"damages that leave less than {self.below:.0%} of {self.healthy:.2f} m: {len(self.weak)} of "
            f"{self._asked}, with up to {self.refinement.episodes:,} episodes for each: at most about "
            f"{left} on {threads} thread{'s' * (threads != 1)}"
        )

    def run(
        self,
        path: Path | None = None,
        *,
        on_progress: Callable[..., None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Search until all is done or `stop` says so, saving after each round."""
        step = partial(self.step, on_progress, stop)
        save = None if path is None else partial(self.save, path)
        run_with_checkpoints(step, save, finished=lambda: self.finished, seconds=0, stop=stop)

    def step(
        self, on_progress: Callable[..., None] | None = None, stop: Callable[[], bool] | None = None
    ) -> None:
        """Run a round of a search. If `stop` says so meanwhile, it is as if the round had not begun."""
        done = self.done

        def report(share: float) -> None:
            if stop and stop():
                raise _StoppedError
            if on_progress:
                on_progress(done + share * self._budget, note=self.table.conditions[condition])

        last = self.searches[-1] if self.searches else None
        opened = None if last is None or last.finished else last
        again = last is not None and self._wants_more(last)
        condition = self.weak[len({one.condition for one in self.searches}) - again]
        robots = [self.table.damages[condition].apply(whole) for whole in self._wholes]
        damaged = Evaluator(
            self.repertoire, {"damaged": robots}, backend=self._backend, objective=self._aim.of
        )
        damaged.add(self._solutions[len(self.repertoire) :])
        try:
            search, starts = (opened, None) if opened else self._begin(damaged, condition, report)
            if not (again or search.finished):
                search = self._mirrored(damaged, search, report) or search
            if not search.finished:
                search = self._round(damaged, robots, search, starts, report)
        except _StoppedError:
            return
        self.searches[len(self.searches) - bool(opened) :] = [search]
        if search.finished and self._on_finished:
            self._on_finished(self._words(search))

    def _begin(
        self, damaged: Evaluator, condition: int, report: Callable[[float], None]
    ) -> tuple[DamageSearch, np.ndarray]:
        """A search for a condition, and rows of the gaits that it may start from."""
        known, enough = len(self._solutions), self.below * self.healthy
        rows = np.argsort(-self._progress[condition], kind="stable")[: STRENGTHENING.finalists]
        rows = np.concatenate([rows, np.arange(len(self.repertoire), known)])
        means = self._means(damaged, rows, condition, report)
        order = np.argsort(-means, kind="stable")
        best, before = int(rows[order[0]]), float(means[order[0]])
        search = DamageSearch(
            condition, best, self._solutions[best], before, before, finished=before >= enough
        )
        return search, rows[order[: STRENGTHENING.starts]]

    def _mirrored(
        self, damaged: Evaluator, search: DamageSearch, report: Callable[[float], None]
    ) -> DamageSearch | None:
        """The best mirror image of a gait, if it is better than the best gait."""
        best = np.argsort(-self._progress, axis=1, kind="stable")[:, : STRENGTHENING.mirrored]
        rows = np.union1d(best, np.arange(len(self.repertoire.elites), len(self._solutions)))
        images = mirror_images(self.repertoire.robot, self._solutions[rows])
        if images is None:
            return None
        places = damaged.add(images)
        glances = self._means(
            damaged,
            places,
            search.condition,
            report,
            first=STRENGTHENING.final_episodes,
            episodes=STRENGTHENING.glances,
        )
        finalists = np.argsort(-glances, kind="stable")[: STRENGTHENING.finalists]
        means = self._means(
            damaged,
            places[finalists],
            search.condition,
            report,
            first=STRENGTHENING.final_episodes + STRENGTHENING.glances,
        )
        one = int(finalists[np.argmax(means)])
        after = float(self._means(damaged, places[[one]], search.condition, report)[0])
        if not self._gains(search.before, after):
            return None
        return replace(search, parent=int(rows[one]), solution=images[one], after=after, finished=True)

    def _round(
        self,
        damaged: Evaluator,
        robots: list[Robot],
        search: DamageSearch,
        starts: np.ndarray | None,
        report: Callable[[float], None],
    ) -> DamageSearch:
        """A search after one more round, from some gaits or else from what it has found."""
        refiner = replace(self.refinement, episodes=self._budget).make(
            robots,
            objective=self._aim,
            seed=self.seed,
            number=search.condition * STRENGTHENING.rounds + search.rounds,
            backend=self._backend,
            on_progress=report,
        )
        found = refiner.refine(search.solution[None] if starts is None else self._solutions[starts])
        search = replace(
            search,
            parent=search.parent if starts is None else int(starts[found.start]),
            solution=found.solution,
            rounds=search.rounds + 1,
            episodes=search.episodes + found.episodes,
        )
        pays = search.rounds == 1 or found.score - found.before >= STRENGTHENING.pays * self.healthy
        if pays and search.rounds < STRENGTHENING.rounds:
            return search
        rows = damaged.add(search.solution[None])
        after = self._means(damaged, rows, search.condition, lambda _: report(1.0))
        return replace(search, after=float(after[0]), finished=True)

    def _means(
        self,
        damaged: Evaluator,
        rows: np.ndarray,
        condition: int,
        report: Callable[[float], None],
        *,
        first: int = 0,
        episodes: int = STRENGTHENING.final_episodes,
    ) -> np.ndarray:
        """Mean progress while up of gaits, (k,), in the same fresh episodes on models of a condition."""
        seeds = derive_seeds(self.seed, SeedFamily.CONFIRMATION, first, episodes, condition)
        models = (first + np.arange(episodes)) % damaged.models
        means = []
        for some in np.array_split(rows, math.ceil(len(rows) / STRENGTHENING.finalists)):
            report(0.0)  # so that it can be stopped
            each, every = np.tile(seeds, len(some)), np.tile(models, len(some))
            ran = damaged.run(np.repeat(some, len(seeds)), each, robots=every)
            means.append(self._aim.of(ran).reshape(len(some), len(seeds)).mean(axis=1))
        return np.concatenate(means)

    def _words(self, search: DamageSearch) -> str:
        """What came of a search."""
        text, share = self.table.conditions[search.condition], search.after / self.healthy
        kept = any(one is search for one in self.found)
        gain = f"{text}: {search.before:.2f} -> {search.after:.2f} m ({share:.0%})"
        if not search.episodes and kept:
            return f"{gain}, the mirror image of a gait"
        if not search.episodes:
            gait = "a gait" if search.parent < len(self.repertoire) else "a specialist for another damage"
            return f"{text}: {gait} makes {search.after:.2f} m ({share:.0%}) already"
        if not kept:
            return f"{text}: no gait better than {search.before:.2f} m in {search.episodes:,} episodes"
        return f"{gain}, {search.episodes:,} episodes"

    @property
    def found(self) -> list[DamageSearch]:
        """The searches that found a better gait."""
        return [one for one in self.searches if one.finished and self._gains(one.before, one.after)]

    def _gains(self, before: float, after: float) -> bool:
        """Whether a gait is worth keeping next to what there was."""
        return after - before >= STRENGTHENING.pays * self.healthy

    @property
    def _solutions(self) -> np.ndarray:
        """Parameters of the gaits of the repertoire and of those that were found, by row."""
        return np.stack([*self.repertoire.gaits.solutions, *(one.solution for one in self.found)])

    @property
    def _budget(self) -> int:
        """Episodes of a round."""
        return math.ceil(self.refinement.episodes / STRENGTHENING.rounds)

    def strengthened(self) -> Repertoire:
        """The repertoire with the gaits that were found as specialists; the same if none was."""
        if not self.finished:
            raise RuntimeError("not all searches are finished: ask when all are")
        gaits = [
            RefinedGait(
                solution=one.solution,
                row=len(self.repertoire) + number,
                parent=one.parent,
                score=one.after,
                before=one.before,
                episodes=one.episodes,
                believed=(self.table.conditions[one.condition],),
            )
            for number, one in enumerate(self.found)
        ]
        if not gaits:
            return self.repertoire
        return keep_gaits(self.repertoire, gaits, seed=self.seed, backend=self._backend)

    @property
    def _identity(self) -> dict[str, object]:
        """What the searches are a function of, by name."""
        return {
            "repertoire": fingerprint(self.repertoire),
            "rehearsal": Contents({"progress": self._progress}).checksum(),
            "damages": [self.table.conditions[row] for row in self.weak],
            "refinement": str(self.refinement),
            "mirror images": f"{STRENGTHENING.mirrored} of each condition, {STRENGTHENING.glances} episodes",
            "below": self.below,
            "randomization": str(self.randomization or "none"),
            "seed": self.seed,
            **software_versions(),
        }

    def save(self, path: Path) -> None:
        """Write the searches to a file in one step."""
        columns = {
            name: np.array([getattr(one, name) for one in self.searches], array.dtype)
            for name, array in _FORMAT.arrays.items()
        }
        columns["solution"] = columns["solution"].reshape(len(self.searches), self._solutions.shape[1])
        _FORMAT.write(path, Contents(columns, {"identity": json.dumps(self._identity)}))

    def restore(self, path: Path) -> None:
        """Go on from what was saved."""
        with _FORMAT.read(path) as contents:
            if contents.json("identity", dict) != self._identity:
                raise InvalidValueError(
                    "it belongs to another repertoire, library, version or other settings"
                )
            columns = contents.arrays
            _FORMAT.check(contents, parameters=self.repertoire.gaits.solutions.shape[1])
            known = len(self.repertoire) + np.arange(
                len(columns["parent"])
            )  # each may start from those before
            conditions = [condition for condition, _ in groupby(columns["condition"].tolist())]
            if conditions != self.weak[: len(conditions)] or (columns["parent"] >= known).any():
                raise InvalidValueError("its searches do not fit the damages")
        rows = zip(*(columns[one.name] for one in fields(DamageSearch)), strict=True)
        self.searches = [
            DamageSearch(*(value if np.ndim(value) else value.item() for value in row)) for row in rows
        ]


class _StoppedError(Exception):
    """Ends a round that is not to be finished."""

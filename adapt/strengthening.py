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
from adapt.relearning.refinement import RefinementSettings, Refiner, keep_gaits
from adapt.requests import StrengtheningRequest
from repertoire.evaluation.evaluator import Evaluator
from repertoire.execution.running import run_with_checkpoints, software_versions
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
from robots.words import counted, duration

_ROUNDS = 4  # in which a search spends its episodes, unless it stops paying
_SETTLED = 2  # rounds after which it must: in those before, gaits may still fall
_PAYS = 0.01  # gain of a round, and of a specialist, as a share of the healthy distance
_FINALISTS = 20  # gaits that are best by the rehearsal, of which fresh episodes tell the best
_MIRRORED = 3  # gaits that are best under each condition, whose mirror images are tried
_GLANCES = 2  # episodes of each of these images, which tell the finalists
_STARTS = 8  # of these, from which a search may start
_FINAL_EPISODES = 10
_FIELD = ("searches",)
_FORMAT = Format(
    "surefoot strengthening",
    version=2,
    arrays={
        "condition": Array("<i8", _FIELD),
        "parent": Array("<i8", _FIELD, low=0),
        "solution": Array("<f4", (*_FIELD, "parameters")),
        "before": Array("<f8", _FIELD),
        "after": Array("<f8", _FIELD),
        "sigma": Array("<f8", _FIELD, low=0),
        "rounds": Array("<i8", _FIELD, low=0, high=_ROUNDS),
        "episodes": Array("<i8", _FIELD, low=0),
        "finished": Array("|b1", _FIELD),
    },
    texts=("identity",),
)
_Means = Callable[..., np.ndarray]  # rows of k gaits to their progress under a damage, (k,), see `_means`


@dataclass(frozen=True, eq=False)
class DamageSearch:
    """The search for a gait for one damage, as far as it has come."""

    condition: int  # row of the damage in the rehearsal
    # row of the gait that it started from, or whose mirror image was found; specialists that were found
    # before come after the gaits of the repertoire
    parent: int
    solution: np.ndarray  # parameters of the gait found, or where the search stands, (n,) float32
    before: float  # the search's last objective for the best gait that there was, in fresh episodes [m]
    after: float  # that of the gait found, in the same episodes; `before` until the search is finished
    sigma: float = 0.0  # step size with which the next round begins, 0 for that of a first one
    # that are done; 0 where a gait that there was is good enough, or a mirror image was found
    rounds: int = 0
    episodes: int = 0  # that they took
    finished: bool = False  # whether there will be no more rounds


class Strengthening:
    """Searches for specialists, damage by damage, in rounds after which it can be saved and interrupted.

    What was found for one damage is also tried for the next. So are mirror images of gaits, of a robot that
    is its own mirror image: the best one is kept if it is better than all gaits that there are. The result is
    a function of the arguments other than `backend`, whatever the interruptions.

    Args:
        table: the repertoire's rehearsal.
        request: its episodes are the budget of all rounds of a search together.
        damages: texts of the conditions that are to be strengthened; all by default.
        refinement: how to search, in place of the request's number of episodes.
        randomization: of the models that gaits are refined and compared on; None for the nominal model.
        on_finished: told, in words, what came of each search.

    Attributes:
        healthy: distance that the intact robot walks [m].
        weak: rows of the conditions under which no gait reaches the share, by the rehearsal.
        searches: one for each of these, or two where the first found a mirror image that is not good enough;
            only the last may be unfinished.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        table: Table,
        request: StrengtheningRequest,
        *,
        damages: Sequence[str] | None = None,
        refinement: Refiner | None = None,
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
        self._aim = aim.lasting(repertoire.robot)
        self._progress = self._aim.of_table(table).objectives  # (d, k)
        self.weak = self._find_weak(table.conditions if damages is None else table.take(damages).conditions)
        self.searches: list[DamageSearch] = []

    def _walk(self) -> float:
        """How far the intact robot walks [m]; takes the time of it."""
        intact = Evaluator(self.repertoire, {"intact": self.repertoire.robot}, backend=self._backend)
        incumbent = find_incumbent(intact, seed=self.seed)
        started = time.perf_counter()
        episodes = fresh_episodes(intact, incumbent, self.seed)
        self._seconds = (time.perf_counter() - started) / len(episodes.fell)  # of an episode
        return float(episodes.distances.mean())

    def _find_weak(self, wanted: Sequence[str]) -> list[int]:
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
        left = duration((self.total - self.done) * self._seconds)
        return (
            f"damages that leave less than {self.below:.0%} of {self.healthy:.2f} m: {len(self.weak)} of "
            f"{self._asked}, with up to {self.refinement.episodes:,} episodes for each: at most about "
            f"{left} on {counted(self._backend.threads, 'thread')}"
        )

    def run(
        self,
        path: Path | None = None,
        *,
        on_progress: Callable[..., None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Search until all is done or `stop` says so, saving after each round."""
        step = partial(self._step, on_progress, stop)
        save = None if path is None else partial(self.save, path)
        run_with_checkpoints(step, save, finished=lambda: self.finished, seconds=0, stop=stop)

    def _step(self, on_progress: Callable[..., None] | None, stop: Callable[[], bool] | None) -> None:
        """Run a round of a search. If `stop` says so meanwhile, it is as if the round had not begun."""
        done, last = self.done, self.searches[-1] if self.searches else None
        opened = last if last and not last.finished else None
        again = last is not None and self._wants_more(last)
        place = len({one.condition for one in self.searches}) - again
        condition = self.weak[place]

        def report(share: float) -> None:
            if stop and stop():
                raise _StoppedError
            if on_progress:
                most = (place + 1) * self.refinement.episodes  # a round may take somewhat more
                on_progress(min(done + share * self._budget, most), note=self.table.conditions[condition])

        robots = [self.table.damages[condition].apply(whole) for whole in self._wholes]
        damaged = Evaluator(
            self.repertoire, {"damaged": robots}, backend=self._backend, objective=self._aim.of
        )
        damaged.add(self._solutions[len(self.repertoire) :])
        means = partial(self._means, damaged, condition, report)
        try:
            search, starts = (opened, None) if opened else self._begin(means, condition)
            if not (again or search.finished):
                search = self._mirrored(damaged, means, search)
            if not search.finished:
                search = self._round(robots, search, starts, report)
                if search.finished:
                    row = damaged.add(search.solution[None])
                    after = self._means(damaged, condition, lambda _: report(1.0), row)
                    search = replace(search, after=float(after[0]))
        except _StoppedError:
            return
        self.searches[len(self.searches) - bool(opened) :] = [search]
        if search.finished and self._on_finished:
            self._on_finished(self._words(search))

    def _begin(self, means: _Means, condition: int) -> tuple[DamageSearch, np.ndarray]:
        """A search for a condition, and rows of the gaits that it may start from."""
        solutions = self._solutions
        rows = np.argsort(-self._progress[condition], kind="stable")[:_FINALISTS]
        rows = np.concatenate([rows, np.arange(len(self.repertoire), len(solutions))])
        found = means(rows)
        order = np.argsort(-found, kind="stable")
        best, before = int(rows[order[0]]), float(found[order[0]])
        enough = before >= self.below * self.healthy
        search = DamageSearch(condition, best, solutions[best], before, before, finished=enough)
        return search, rows[order[:_STARTS]]

    def _mirrored(self, damaged: Evaluator, means: _Means, search: DamageSearch) -> DamageSearch:
        """The search with the best mirror image of a gait, if that is better than the best gait."""
        best = np.argsort(-self._progress, axis=1, kind="stable")[:, :_MIRRORED]
        rows = np.union1d(best, np.arange(len(self.repertoire.elites), len(self._solutions)))
        images = mirror_images(self.repertoire.robot, self._solutions[rows])
        if images is None:
            return search
        places = damaged.add(images)
        glances = means(places, first=_FINAL_EPISODES, episodes=_GLANCES)
        finalists = np.argsort(-glances, kind="stable")[:_FINALISTS]
        one = int(finalists[np.argmax(means(places[finalists], first=_FINAL_EPISODES + _GLANCES))])
        after = float(means(places[[one]])[0])
        if not self._gains(search.before, after):
            return search
        return replace(search, parent=int(rows[one]), solution=images[one], after=after, finished=True)

    def _round(
        self,
        robots: list[Robot],
        search: DamageSearch,
        starts: np.ndarray | None,
        report: Callable[[float], None],
    ) -> DamageSearch:
        """A search after one more round, from some gaits or else from what it has found."""
        found = self.refinement.part(search.rounds, _ROUNDS, search.sigma).refine(
            robots,
            search.solution[None] if starts is None else self._solutions[starts],
            objective=self._aim,
            seed=self.seed,
            number=search.condition * _ROUNDS + search.rounds,
            backend=self._backend,
            on_progress=report,
        )
        rounds, (mean, sigma) = search.rounds + 1, found.reached or (found.solution, 0.0)
        pays = search.rounds < _SETTLED or found.score - found.before >= _PAYS * self.healthy
        finished = not pays or rounds == _ROUNDS
        return replace(
            search,
            parent=search.parent if starts is None else int(starts[found.start]),
            solution=found.solution if finished else mean,
            sigma=sigma,
            rounds=rounds,
            episodes=search.episodes + found.episodes,
            finished=finished,
        )

    def _means(
        self,
        damaged: Evaluator,
        condition: int,
        report: Callable[[float], None],
        rows: np.ndarray,
        *,
        first: int = 0,
        episodes: int = _FINAL_EPISODES,
    ) -> np.ndarray:
        """Mean objective of gaits, (k,), in the same fresh episodes on models of a condition."""
        seeds = derive_seeds(self.seed, SeedFamily.CONFIRMATION, first, episodes, condition)
        models = (first + np.arange(episodes)) % damaged.models
        means = []
        for some in np.array_split(rows, math.ceil(len(rows) / _FINALISTS)):
            report(0.0)  # so that it can be stopped
            each, every = np.tile(seeds, len(some)), np.tile(models, len(some))
            ran = damaged.run(np.repeat(some, len(seeds)), each, robots=every)
            means.append(self._aim.of(ran).reshape(len(some), len(seeds)).mean(axis=1))
        return np.concatenate(means)

    def _words(self, search: DamageSearch) -> str:
        text, share = self.table.conditions[search.condition], search.after / self.healthy
        kept = self._gains(search.before, search.after)
        gain = f"{text}: {search.before:.2f} -> {search.after:.2f} m ({share:.0%})"
        if kept:
            how = f"{search.episodes:,} episodes" if search.episodes else "the mirror image of a gait"
            return f"{gain}, {how}"
        if search.episodes:
            return f"{text}: no gait better than {search.before:.2f} m in {search.episodes:,} episodes"
        gait = "a gait" if search.parent < len(self.repertoire) else "a specialist for another damage"
        return f"{text}: {gait} makes {search.after:.2f} m ({share:.0%}) already"

    @property
    def found(self) -> list[DamageSearch]:
        """The searches that found a better gait."""
        return [one for one in self.searches if one.finished and self._gains(one.before, one.after)]

    def _gains(self, before: float, after: float) -> bool:
        """Whether a gait is worth keeping next to what there was."""
        return after - before >= _PAYS * self.healthy

    @property
    def _solutions(self) -> np.ndarray:
        """Parameters of the gaits of the repertoire and of those that were found, by row."""
        return np.stack([*self.repertoire.gaits.solutions, *(one.solution for one in self.found)])

    @property
    def _budget(self) -> int:
        """Episodes of a round."""
        return self.refinement.part(0, _ROUNDS).episodes

    def strengthened(self) -> Repertoire:
        """The repertoire with the gaits that were found as specialists; the same if none was."""
        if not self.finished:
            raise RuntimeError("not all searches are finished: ask when all are")
        gaits = [
            RefinedGait(
                solution=one.solution,
                row=row,
                parent=one.parent,
                score=one.after,
                before=one.before,
                episodes=one.episodes,
                believed=(self.table.conditions[one.condition],),
            )
            for row, one in enumerate(self.found, start=len(self.repertoire))
        ]
        return keep_gaits(self.repertoire, gaits, seed=self.seed, backend=self._backend)

    @property
    def _identity(self) -> dict[str, object]:
        """What the searches are a function of, by name."""
        return {
            "repertoire": fingerprint(self.repertoire),
            "rehearsal": Contents({"progress": self._progress}).checksum(),
            "damages": [self.table.conditions[row] for row in self.weak],
            "refinement": str(self.refinement),
            "mirror images": f"{_MIRRORED} of each condition, {_GLANCES} episodes",
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
            # each may start from those before
            known = len(self.repertoire) + np.arange(len(columns["parent"]))
            conditions = [condition for condition, _ in groupby(columns["condition"].tolist())]
            if conditions != self.weak[: len(conditions)] or (columns["parent"] >= known).any():
                raise InvalidValueError("its searches do not fit the damages")
        rows = zip(*(columns[one.name] for one in fields(DamageSearch)), strict=True)
        self.searches = [
            DamageSearch(*(value if np.ndim(value) else value.item() for value in row)) for row in rows
        ]


class _StoppedError(Exception):
    """Ends a round that is not to be finished."""

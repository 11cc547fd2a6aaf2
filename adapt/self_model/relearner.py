"""`Relearner`: refines gaits between two trials, on the models of a self-model."""

from collections.abc import Callable, Sequence

import numpy as np

from adapt.damage.damage import Damage
from adapt.evidence import evidence_of
from adapt.records import RefinedGait
from adapt.rehearsal.table import Table, tabulate
from adapt.relearning.refinement import Refinement
from adapt.self_model.twin import Run, Twin
from robots.randomization import randomised
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds

_MODELS = 8  # drawn from what is believed


class Relearner:
    """Searches for better gaits on what is believed to be wrong.

    A search goes on from where the one before ended, if that found nothing for the same damages.
    `on_progress` is called with the share of a search that is done.
    """

    def __init__(self, twin: Twin, *, seed: int, on_progress: Callable[[float], None] | None = None) -> None:
        self._twin, self._seed, self._on_progress, self.searches = twin, seed, on_progress, 0
        # of a search that found nothing better: the damages, where it stands, and where it started
        self._vain: tuple[list[str], Refinement, int] | None = None

    def refine(self, causes: Sequence[tuple[Damage, float]], rows: Sequence[int]) -> RefinedGait | None:
        """Refine the best of the gaits in some rows; None if that finds none that is better.

        The causes are what may be wrong, and how probable each is.
        """
        thinking, twin = self._twin.thinking, self._twin
        assert thinking.refinement is not None
        damages = _in_proportion(causes)
        refiner, starts, believed = thinking.refinement, twin.solutions(rows), [*map(str, damages)]
        if self._vain and self._vain[0] == believed and self._vain[1].reached:
            mean, sigma = self._vain[1].reached  # of which the next part follows, as of a longer search
            refiner, starts, rows = refiner.part(1, 1, sigma), mean[None], [self._vain[2]]
        found = refiner.refine(
            self._models(damages),
            starts,
            objective=thinking.aim,
            seed=self._seed,
            number=self.searches,
            backend=thinking.backend,
            on_progress=self._on_progress,
            hurried=thinking.hurried,
        )
        self.searches, self._vain = self.searches + 1, None
        twin.episodes += found.episodes
        if found.score <= found.before:
            self._vain = believed, found, rows[found.start]
            return None
        return RefinedGait(
            solution=found.solution,
            row=twin.add(found.solution),
            parent=rows[found.start],
            score=found.score,
            before=found.before,
            episodes=found.episodes,
            believed=tuple(dict.fromkeys(believed)),
            fall=found.fall,
        )

    def rehearse(self, row: int, table: Table) -> tuple[Table, np.ndarray]:
        """What a gait does under the conditions of a rehearsal, as a column; and its measures, (m,)."""
        seeds = derive_seeds(self._seed, SeedFamily.REHEARSAL, 0, table.episodes)
        runs = [Run(damage, row, int(seed)) for damage in table.damages for seed in seeds]
        found, robot = self._twin.run(runs), self._twin.parts.robot
        shape = (len(table), 1, table.episodes)
        evidence = evidence_of(found, robot)[:, : len(table.evidence_names)]  # of none nothing
        column = tabulate(
            self._twin.thinking.aim.of(found).reshape(shape),
            found.fell.reshape(shape),
            evidence.reshape(*shape, len(table.evidence_names)),
            conditions=table.conditions,
            evidence_names=table.evidence_names,
            distances=np.where(found.diverged, 0, found.distances).reshape(shape),
        )
        return column, np.nan_to_num(found.measures[: table.episodes]).mean(axis=0)

    def _models(self, damages: Sequence[Damage]) -> list[Robot]:
        """Models of the robot with these damages, each another where gaits were trained on random ones."""
        repertoire = self._twin.thinking.repertoire
        randomization = self._twin.thinking.randomization
        if randomization is None:
            distinct = len(set(map(str, damages)))
            return [self._twin.robot_with(damage) for damage in damages[: None if distinct > 1 else 1]]
        family = int(SeedFamily.REFINEMENT)
        seeds = [np.random.SeedSequence(self._seed, spawn_key=(family, 0, i)) for i in range(len(damages))]
        return [
            damage.apply(randomised(repertoire.robot, seed, randomization))
            for damage, seed in zip(damages, seeds, strict=True)
        ]


def _in_proportion(causes: Sequence[tuple[Damage, float]]) -> list[Damage]:
    """A few damages, each about as often as it is probable."""
    shares = np.cumsum([p for _, p in causes]) / sum(p for _, p in causes)
    places = (np.arange(_MODELS) + 0.5) / _MODELS
    return [causes[index][0] for index in np.searchsorted(shares, places)]

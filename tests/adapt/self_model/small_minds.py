"""What tests of the self-model share: a Hexapod whose episodes are short, and its trials."""

from dataclasses import replace
from functools import cache

import numpy as np

from adapt.damage.kinds import damage_kinds
from adapt.damage.text import parse_damage
from adapt.self_model.twin import Run, Thinking, Twin
from repertoire.problems.locomotion import walking_record
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import read_repertoire
from robots.simulation.threads import Threads
from surefoot.shipped import repertoire_path

STEPS = 60


@cache
def short_gaits(count: int = 40) -> Repertoire:
    """Some of the included gaits, in episodes of little more than a second."""
    whole = read_repertoire(repertoire_path("hexapod"))
    rows = np.argsort(-whole.elites.objectives, kind="stable")[:count]
    problem = walking_record(whole.robot.with_episode_steps(STEPS))
    return replace(whole, problem=problem, elites=whole.elites.take(np.sort(rows)), specialists=None)


def only(*families: str) -> tuple[str, ...]:
    """The families of damage that are left out where some are not."""
    return tuple({kind.family for kind in damage_kinds().values()} - set(families))


def trial(text: str, row: int, seed: int = 99) -> tuple[np.ndarray, bool, float]:
    """What a gait does on a damaged robot: its trace, whether it falls, and its objective."""
    repertoire = short_gaits()
    twin = Twin(Thinking(repertoire, 1000, backend=Threads(2)))
    episodes = twin.run([Run(parse_damage(text, repertoire.robot), row, seed)], traced=True)
    return episodes.traces[0], bool(episodes.fell[0]), float(episodes.objectives[0])

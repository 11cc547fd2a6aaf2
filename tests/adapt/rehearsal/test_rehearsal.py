"""A rehearsal is an evaluation under damages, and its table says what the simulation does."""

from dataclasses import replace

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from adapt.evidence import evidence_names, evidence_of
from adapt.rehearsal.rehearsal import rehearsed_table
from adapt.rehearsal.storage import read_table, write_table
from robots.description import Randomization
from robots.errors import InvalidValueError, UnknownNameError
from robots.randomization import draw_models
from robots.robot import load_robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import ModelBatch
from robots.simulation.episodes import Episodes
from robots.simulation.threads import Threads
from tests.adapt.rehearsal.small import CONDITIONS, STEPS, rehearsed, small_repertoire

EPISODES = 3


@pytest.fixture(scope="module")
def repertoire():
    return small_repertoire()


def test_the_table_sums_up_the_episodes_of_each_gait_and_damage(repertoire) -> None:
    evaluation = rehearsed(repertoire, *CONDITIONS, episodes=EPISODES)
    table, found, shape = rehearsed_table(evaluation), evaluation.results(), (3, len(repertoire), EPISODES)
    objectives, fell = (column.reshape(shape) for column in (found.objectives, found.fell))
    evidence = evidence_of(found, repertoire.robot).reshape(*shape, -1)
    assert (table.conditions, table.episodes) == (CONDITIONS, EPISODES)
    assert table.evidence.shape == (*shape[:2], len(table.evidence_names))
    for column, expected in (
        (table.objectives, objectives.mean(axis=2)),
        (table.noise, objectives.std(axis=2, ddof=1)),
        (table.falls, fell.mean(axis=2)),
        (table.evidence, evidence.mean(axis=2)),
        (table.evidence_std, evidence.std(axis=2, ddof=1)),
    ):
        np.testing.assert_allclose(column, expected, rtol=1e-3, atol=1e-5)
    assert not np.array_equal(table.objectives[0], table.objectives[1])


def test_a_rehearsal_on_randomised_models_is_one_of_the_same_repertoire(repertoire, tmp_path) -> None:
    drawn = Randomization(strength=(0.5, 0.6), models=2)
    evaluation = rehearsed(repertoire, CONDITIONS[1], randomization=drawn, seed=1)
    table = rehearsed_table(evaluation)
    seeds = derive_seeds(1, SeedFamily.REHEARSAL, 0, 2)  # both even: they do not choose the models
    assert not any(seeds % 2)
    models = [model.with_episode_steps(STEPS) for model in draw_models(repertoire.robot, drawn)]
    for number, text in enumerate(CONDITIONS[:2]):
        damage = parse_damage(text, repertoire.robot)
        solutions = np.repeat(repertoire.elites.solutions, 2, axis=0)
        k = len(repertoire)
        batch = ModelBatch(*[damage.apply(model) for model in models])
        found = Threads(1).run(batch, solutions, np.tile(seeds, k), models=np.tile([0, 1], k))
        means = found.objectives.reshape(k, 2).mean(axis=1)
        assert table.objectives[number] == pytest.approx(means, rel=1e-5)
    write_table(tmp_path / "table.h5", table, evaluation.identity)
    assert read_table(tmp_path / "table.h5", repertoire).conditions == CONDITIONS[:2]
    assert "strength 0.5 to 0.6" in evaluation.identity["randomization"]


def test_what_diverged_is_a_fall_with_the_minimum_objective(repertoire, monkeypatch) -> None:
    run = Threads.run

    def one_fails(self, *work, **options):
        found = run(self, *work, **options)
        found.diverged[1], found.fell[1], found.objectives[1], found.measures[1] = True, True, np.nan, np.nan
        return found

    monkeypatch.setattr(Threads, "run", one_fails)
    table = rehearsed_table(rehearsed(repertoire, episodes=1))
    assert table.objectives[0, 1] == -300
    assert table.falls[0, 1] == 1
    assert not table.evidence[0, 1].any()
    assert table.evidence[0, 0].any()
    assert not table.noise.any()


def test_the_healthy_robot_comes_first_and_every_damage_once(repertoire) -> None:
    def conditions(*texts: str) -> tuple[str, ...]:
        return rehearsed(repertoire, *texts, episodes=1).evaluator.conditions

    assert conditions() == ("healthy",)
    assert conditions(" front_left : lost", "healthy") == ("healthy", "front_left:lost")
    with pytest.raises(InvalidValueError, match="'front_left:lost' is named twice"):
        conditions("front_left:lost", "front_left: lost")
    with pytest.raises(UnknownNameError, match="'tail'"):
        conditions("back_left:dead", "tail:lost")


# Evidence: what it is made of.


def test_each_number_is_what_its_name_says() -> None:
    """Of four episodes of the ant, the third of which diverged; the last one ended at once."""
    ant = load_robot("ant").with_episode_steps(1000)
    episodes = replace(
        Episodes.unknown(4, ant),
        contacts=np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], [np.nan] * 4, [0] * 4]),
        steps=np.array([1000, 250, 7, 0]),
        energies=np.array([50.0, 20.0, np.inf, 0]),
        diverged=np.array([False, False, True, False]),
        midway=np.array([1.5, 0.4, np.nan, 0]),
        lateral=np.array([-0.2, 0.3, np.nan, 0]),
        heading=np.array([np.pi / 6, -np.pi, np.nan, 0]),
    )
    column = dict(zip(evidence_names(ant), evidence_of(episodes, ant).T, strict=True))
    for number, foot in enumerate(ant.description.measures):
        assert list(column[f"{foot} contact [share]"][:2]) == list(episodes.contacts[:2, number])
    assert list(column["midway [m]"]) == [1.5, 0.4, 0, 0]
    assert list(column["lateral [m]"]) == [-0.2, 0.3, 0, 0]
    assert column["sine of heading"] == pytest.approx([0.5, 0, 0, 0])
    assert column["cosine of heading"] == pytest.approx([np.sqrt(0.75), -1, 0, 1])
    assert column["power [W]"] == pytest.approx([50 / (1000 * 0.0165), 20 / (250 * 0.0165), 0, 0])
    assert list(column["survived [share]"]) == [1, 0.25, 0, 0]


def test_evidence_keeps_contacts_where_measures_are_others() -> None:
    robot = load_robot("hexapod").with_episode_steps(5).with_task(measures={"turn_rate": (-1.0, 1.0)})
    parameters = robot.controller.initial(np.random.default_rng(3))
    episodes = Threads(1).run(ModelBatch(robot), parameters[None], np.array([5]))
    assert [f"{foot} contact [share]" for foot in robot.description.feet] == list(evidence_names(robot)[:6])
    np.testing.assert_array_equal(evidence_of(episodes, robot)[:, :6], episodes.contacts)

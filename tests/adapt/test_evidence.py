"""Evidence: what it is made of, for every robot."""

from dataclasses import replace

import numpy as np
import pytest

from adapt.evidence import evidence_names, evidence_of
from robots.catalogue import robot_names
from robots.robot import load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.episodes import Episodes
from robots.simulation.threads import Threads


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


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_shows_something(name: str) -> None:
    robot = load_robot(name).with_episode_steps(20)
    backend, batch = Threads(1), ModelBatch(robot)
    rng = np.random.default_rng(0)
    solutions = np.stack([robot.controller.initial(rng) for _ in range(3)])
    found = evidence_of(backend.run(batch, solutions, np.arange(3)), robot)
    assert found.shape == (3, len(evidence_names(robot))) == (3, robot.measure_dim + 6)
    assert np.isfinite(found).all()
    shares = found[:, [*range(robot.measure_dim), -1]]
    assert ((shares >= 0) & (shares <= 1)).all()
    assert shares[:, -1].all()


def test_evidence_keeps_contacts_where_measures_are_others() -> None:
    robot = load_robot("hexapod").with_episode_steps(5).with_task(measures={"turn_rate": (-1.0, 1.0)})
    parameters = robot.controller.initial(np.random.default_rng(3))
    episodes = Threads(1).run(ModelBatch(robot), parameters[None], np.array([5]))
    assert [f"{foot} contact [share]" for foot in robot.description.feet] == list(evidence_names(robot)[:6])
    np.testing.assert_array_equal(evidence_of(episodes, robot)[:, :6], episodes.contacts)

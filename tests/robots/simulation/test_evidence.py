"""Evidence: what it is made of, for every robot."""

import numpy as np
import pytest

from robots.catalogue import robot_names
from robots.robot import load_robot
from robots.simulation.episodes import Episodes
from robots.simulation.evidence import evidence_names, evidence_of
from robots.simulation.simulation import Simulation


def episodes(**changes) -> Episodes:
    """Three episodes of the ant, the last of which diverged."""
    columns = {
        "objectives": np.array([1.0, 2.0, np.nan]),
        "measures": np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], [np.nan] * 4]),
        "steps": np.array([1000, 250, 7]),
        "distances": np.array([3.0, 0.5, np.nan]),
        "energies": np.array([50.0, 20.0, np.inf]),
        "diverged": np.array([False, False, True]),
        "fell": np.array([False, True, False]),
        "midway": np.array([1.5, 0.4, np.nan]),
        "lateral": np.array([-0.2, 0.3, np.nan]),
        "heading": np.array([np.pi / 6, -np.pi, np.nan]),
    }
    return Episodes(**columns | changes)


def test_each_number_is_what_its_name_says() -> None:
    ant = load_robot("ant").with_episode_steps(1000)
    found = evidence_of(episodes(), ant)
    column = dict(zip(evidence_names(ant), found.T, strict=True))
    for number, foot in enumerate(ant.description.measures):
        assert list(column[f"{foot} contact [share]"][:2]) == list(episodes().measures[:2, number])
    assert list(column["midway [m]"]) == [1.5, 0.4, 0]
    assert list(column["lateral [m]"]) == [-0.2, 0.3, 0]
    assert column["sine of heading"] == pytest.approx([0.5, 0, 0])
    assert column["cosine of heading"] == pytest.approx([np.sqrt(0.75), -1, 0])
    assert column["power [W]"] == pytest.approx([50 / (1000 * 0.0165), 20 / (250 * 0.0165), 0])
    assert list(column["survived [share]"]) == [1, 0.25, 0]


def test_an_episode_that_ends_at_once_has_a_power() -> None:
    ended = episodes(steps=np.zeros(3, int), energies=np.zeros(3))
    assert np.isfinite(evidence_of(ended, load_robot("ant"))).all()


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_shows_something(name: str) -> None:
    robot = load_robot(name).with_episode_steps(20)
    with Simulation(robot, threads=1) as simulation:
        rng = np.random.default_rng(0)
        solutions = np.stack([simulation.controller.initial(rng) for _ in range(3)])
        found = evidence_of(simulation.evaluate(solutions, np.arange(3)), robot)
    assert found.shape == (3, len(evidence_names(robot))) == (3, robot.measure_dim + 6)
    assert np.isfinite(found).all()
    shares = found[:, [*range(robot.measure_dim), -1]]
    assert ((shares >= 0) & (shares <= 1)).all()
    assert shares[:, -1].all()

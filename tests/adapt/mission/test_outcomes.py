"""Where gaits lead: by simulation, and by what stretches of the mission did instead."""

import numpy as np
import pytest

from adapt.damage.damage import Combination
from adapt.damage.kinds.limbs import Lost
from adapt.mission.beliefs import Beliefs, Cause, Way
from adapt.mission.outcomes import Outcomes
from adapt.self_model.twin import Run, Thinking, Twin
from robots.pose import Pose
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.trace import TraceColumns


def of(gaits, *rows: int) -> Outcomes:
    """Outcomes of some gaits that have run."""
    outcomes = Outcomes(Twin(Thinking(gaits, 10)), gaits.gaits.measures, Beliefs())
    outcomes.simulate(rows)
    return outcomes


def path(outcomes: Outcomes, row: int = 0) -> np.ndarray:
    return outcomes.predicted([Way(row)])[0][0]


def test_where_a_robot_leads_that_cannot_stand_is_a_mean_of_episodes(ant) -> None:
    gaits, _ = ant
    once, often = of(gaits, 0), of(gaits)
    often.simulate([0], 6)
    seeds = derive_seeds(0, SeedFamily.MISSION, 0, 6)
    runs = [Run(Combination(), 0, int(seed)) for seed in seeds]
    traces = Twin(Thinking(gaits, 10)).run(runs, traced=True).traces
    ends = [trace[-1, TraceColumns.of(gaits.robot).position] for trace in traces]
    assert len(set(map(len, traces))) == 1
    assert path(often)[-1, 0] == pytest.approx(np.mean(ends), abs=0.05)
    assert path(once)[-1, 0] == pytest.approx(ends[0], abs=0.05)
    assert abs(ends[0] - np.mean(ends)) > 0.1


def test_where_a_robot_that_sees_no_target_leads_depends_on_no_heading(hexapod) -> None:
    outcomes, ways = of(hexapod[0]), [Way(0), Way(0, 2.0), Way(0, np.pi)]
    outcomes.simulate([0], headings=(0.0, 2.0, np.pi))
    assert (list(outcomes.beliefs.known), outcomes.beliefs.rows) == (ways, [0])
    paths, _ = outcomes.predicted(ways)
    assert paths[1:] == pytest.approx(paths[[0, 0]], abs=0.02)
    assert abs(paths[0, -1]).max() > 0.5


def test_stretches_correct_what_gaits_like_theirs_are_expected_to_do(hexapod) -> None:
    repertoire, _ = hexapod
    outcomes, ways = of(repertoire, 0, 1, 2), [Way(0), Way(1), Way(2)]
    before, falls = outcomes.predicted(ways)
    assert np.isinf(falls).all()
    assert before[:, -1, 0] == pytest.approx(repertoire.elites.objectives[:3], abs=0.4)
    slow = Pose(float(before[0, 3, 0]) - 0.4, *map(float, before[0, 3, 1:]))
    for _ in range(3):
        outcomes.observe(Way(0), slow, 4 * outcomes.every, going=False)
    after, _ = outcomes.predicted(ways)
    assert after[0, 3, 0] == pytest.approx(slow.x, abs=0.06)
    assert (after[1:, 3, 0] < before[1:, 3, 0] - 0.1).all()
    assert after[:, :, 1:] == pytest.approx(before[:, :, 1:], abs=1e-6)
    continued, _ = outcomes.predicted([Way(0)], going=0)
    first, last = (Pose(*before[0, sample]) for sample in (1, 5))
    corrected = continued[0, 3] - (after[0, 3] - before[0, 3])
    assert corrected == pytest.approx(last.seen_from(first), abs=1e-6)
    outcomes.beliefs.believe(Cause.sure(Lost("left_front")))
    assert outcomes.beliefs.rows == []


@pytest.mark.parametrize("places", [1, 4, 10])
def test_the_shorter_a_stretch_the_less_it_tells(hexapod, places: int) -> None:
    outcomes = of(hexapod[0], 0)
    before = path(outcomes)
    slow = Pose(float(before[places - 1, 0]) - 0.05 * places, *map(float, before[places - 1, 1:]))
    outcomes.observe(Way(0), slow, places * outcomes.every, going=False)
    # one observation of variance s^2, where what the model is off by has 0.3^2: 1 / (1 + (s / 0.3)^2)
    expected = 1 / (1 + (0.1 * 4 / places / 0.3) ** 2)
    assert (path(outcomes)[0, 0] - before[0, 0]) / -0.05 == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("length", [74, 110])
def test_a_gait_that_does_what_is_expected_corrects_nothing(hexapod, length: int) -> None:
    outcomes = of(hexapod[0], 0)
    before = path(outcomes)
    places = np.vstack([np.zeros(3), before])
    x, y, yaw = (np.interp(length / outcomes.every, range(len(places)), column) for column in places.T)
    outcomes.observe(Way(0), Pose(x, y, yaw + 2 * np.pi), length, going=False)
    np.testing.assert_allclose(path(outcomes), before, atol=1e-6)


def test_corrections_hold_as_long_as_the_belief_does(hexapod) -> None:
    outcomes, lost = of(hexapod[0]), Cause.sure(Lost("left_front"))
    outcomes.beliefs.believe(lost)
    outcomes.simulate([0])
    before = path(outcomes)
    outcomes.observe(Way(0), Pose(3.0), 100, going=False)
    outcomes.beliefs.believe(lost)
    assert path(outcomes)[-1, 0] > before[-1, 0] + 0.5
    outcomes.beliefs.forget()
    outcomes.simulate([0])
    np.testing.assert_array_equal(path(outcomes), before)


def test_a_gait_on_its_way_falls_as_much_sooner_as_its_path_is_shorter(hexapod) -> None:
    outcomes, ways = of(hexapod[0], 0, 1), [Way(0), Way(1)]
    for way, fall in zip(ways, (150, 30), strict=True):
        outcomes.beliefs.healthy[way] = outcomes.beliefs.healthy[way][0], fall
    assert outcomes.predicted(ways)[1].tolist() == [150, 30]
    assert outcomes.predicted(ways, 0)[1].tolist() == [150 - 2 * outcomes.every, 30]
    assert outcomes.predicted(ways, 1)[1].tolist() == [150, 1]

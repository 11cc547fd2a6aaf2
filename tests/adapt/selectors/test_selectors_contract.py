"""What every selector of the catalogue promises."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import World, library

from adapt.records import Outcome
from adapt.selectors.baselines import RandomSearch
from adapt.selectors.catalogue import make_selector, register, selector_entries
from adapt.selectors.map_bo import OF_2015
from adapt.selectors.selector import Context, Prior
from robots.errors import InvalidValueError, UnknownNameError

TRIALS = 12
NAMES = [name for name, entry in selector_entries().items() if not entry.thinks]


WORLD = World(150, draws=5000)
TABLE = WORLD.table(library())
OUTCOMES = WORLD.outcome("0:lost")


def make(name, **more):
    return make_selector(name, Context(WORLD.prior(), **{"trials": TRIALS, "table": TABLE} | more))


def tell(selector, row):
    """Tells a selector what a row would do."""
    objectives, falls, evidence = OUTCOMES
    selector.tell(row, Outcome(float(objectives[row]), bool(falls[row] > 0.5), evidence[row]))


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_proposed_until_told_and_the_recommended_one_was_tried(name):
    selector = make(name)
    assert selector.done() is None
    for trial in range(TRIALS):
        row = selector.ask()
        assert 0 <= row < 150
        assert selector.ask() == row
        tell(selector, row)
        assert selector.rows[-1] == row
        assert selector.recommendation() in selector.rows
        assert selector.predicted.shape == (150,)
        assert np.isfinite(selector.predicted).all()
        assert len(selector.rows) == len(selector.objectives) == trial + 1
    assert selector.done()
    assert len(set(selector.rows)) == TRIALS


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_makes_the_same_choices(name):
    def rows(seed):
        selector = make(name, seed=seed)
        for _ in range(TRIALS):
            tell(selector, selector.ask())
        return selector.rows

    assert rows(1) == rows(1)
    if name == "random":
        assert rows(1) != rows(2)


@pytest.mark.parametrize("name", NAMES)
def test_falls_are_limited(name):
    selector = make(name, max_falls=2)
    for row, fell, falls in ((5, True, 1), (6, False, 1), (7, True, 2)):
        selector.tell(row, Outcome(0.0, fell, np.zeros(12)))
        assert selector.falls == falls
    assert selector.done() == "the robot fell 2 times, and more is not allowed"
    for limit in ("max_falls", "trials"):
        with pytest.raises(InvalidValueError, match=f"{limit} must be at least 1, not 0"):
            make(name, **{limit: 0})


@pytest.mark.parametrize("name", NAMES)
def test_every_controller_can_be_tried(name):
    selector = make(name, trials=400)
    with pytest.raises(InvalidValueError, match="row must be from 0 to 149"):
        selector.tell(150, Outcome(1.0))
    for row in range(150):
        tell(selector, row)
    assert selector.done()
    with pytest.raises(RuntimeError, match="every controller was tried"):
        selector.ask()


@pytest.mark.parametrize("scale", [0.01, 30.0])
@pytest.mark.parametrize("name", NAMES)
def test_units_and_zero_of_the_objective_do_not_matter(name, scale):
    prior, changed = WORLD.prior(), lambda objectives: scale * objectives - 500
    moved = Prior(changed(prior.objectives), prior.measures, changed(prior.min_objective))
    scaled = replace(TABLE, objectives=changed(TABLE.objectives), noise=scale * TABLE.noise)
    a, b = make(name), make_selector(name, Context(moved, trials=TRIALS, table=scaled))
    for _ in range(TRIALS):
        row = a.ask()
        assert b.ask() == row
        objective, shown = float(TABLE.objectives[5, row]), TABLE.evidence[5, row]
        a.tell(row, Outcome(objective, False, shown))
        b.tell(row, Outcome(changed(objective), False, shown))
    np.testing.assert_allclose(b.predicted, changed(a.predicted), atol=3e-3 * scale)


def test_map_bo_has_the_constants_of_2015():
    assert make("map-bo").settings == OF_2015
    assert (OF_2015.length_scale, OF_2015.noise_variance, OF_2015.exploration) == (0.4, 0.001, 0.05)
    assert make("map-bo-tuned").settings != OF_2015


def test_names_and_needs():
    with pytest.raises(UnknownNameError, match=r"unknown selector 'map-ob' .did you mean"):
        make("map-ob")
    for entry in selector_entries().values():
        assert entry.summary
    with pytest.raises(InvalidValueError, match="the selector 'random' is registered twice, in"):
        register("random", "again")(lambda context: RandomSearch(context))


@pytest.mark.parametrize("wrong", [np.array([np.nan]), np.zeros((2, 2)), np.array(1.0)])
def test_trials_measure_finite_numbers(wrong):
    with pytest.raises(InvalidValueError, match="the evidence of a trial must be finite numbers"):
        Outcome(1.0, evidence=wrong)
    with pytest.raises(InvalidValueError, match="objective of a trial must be finite, not nan"):
        Outcome(np.nan)

"""Strengthening: specialists for the damages that leave a repertoire no good gait."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from adapt import strengthening as module
from adapt.damage.text import parse_damage
from adapt.rehearsal.rehearsal import rehearsed_table
from adapt.rehearsal.table import Table
from adapt.relearning.refinement import Refinement, RefinementSettings
from adapt.requests import StrengtheningRequest
from adapt.strengthening import Strengthening
from repertoire.evaluation.correction import correct, reevaluation
from repertoire.plots import objective_grid
from repertoire.repertoire import Spread
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.randomization import GAP
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import ALL_CORES, Threads
from robots.symmetry import mirror_images
from tests.adapt.rehearsal.small import rehearsed
from tests.adapt.self_model.small_minds import short_gaits

LOST, DEAD = "right_rear:lost", "left_front:dead"
SPREAD = Spread(np.zeros(12), np.zeros((12, 6)), np.ones(12), 5, 0)
GAITS = replace(short_gaits(12), spread=SPREAD)


@cache
def table() -> Table:
    return rehearsed_table(rehearsed(GAITS, LOST, DEAD))


def strengthening(known, rehearsal, *, below=0.5, seed=1, **settings) -> Strengthening:
    return Strengthening(
        known, rehearsal, StrengtheningRequest(below=below, seed=seed), **{"backend": Threads(1), **settings}
    )


def start(**settings) -> Strengthening:
    short = RefinementSettings(episodes=240, batch_size=10)
    return strengthening(GAITS, table(), **{"refinement": short, **settings})


def state(work: Strengthening) -> list[object]:
    return [(*list(vars(one).values())[3:], one.solution.tobytes()) for one in work.searches]


def without_images(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(module, "mirror_images", lambda *_: None)


@pytest.fixture(autouse=True)
def _searches_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mirror images have tests of their own."""
    without_images(monkeypatch)


@pytest.fixture(scope="module")
def strong():
    """Finished work, and what it told."""
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        without_images(patch)
        work = start(on_finished=told.append)
        work.run()
    return work, told


def within_reach(strong) -> float:
    """A share of the healthy objective that the specialist has, however far this machine's search came."""
    work = strong[0]
    return 0.8 * work.searches[0].after / work.healthy


def test_a_specialist_walks_where_no_gait_of_the_repertoire_did(strong) -> None:
    work, told = strong
    assert [work.table.conditions[row] for row in work.weak] == [LOST], "the other damage leaves good gaits"
    (search,), stronger = work.searches, work.strengthened()
    assert len(told) == 1
    assert told[0].startswith(f"{LOST}: {search.before:.2f} -> {search.after:.2f} m (")
    damaged, seeds = parse_damage(LOST, GAITS.robot).apply(GAITS.robot), np.arange(1000, 1010)
    backend, batch = ALL_CORES, ModelBatch(damaged)
    walked = [backend.run(batch, [one] * 10, seeds).distances.mean() for one in stronger.gaits.solutions]
    assert walked[12] > max(walked[:12]) + 0.05
    assert walked[12] == pytest.approx(search.after, abs=0.05)


def test_a_specialist_is_a_gait_like_any_other_and_no_part_of_the_archive(strong) -> None:
    stronger = strong[0].strengthened()
    found = stronger.specialists
    assert (len(stronger), len(found), found.damages) == (13, 1, ((LOST,),))
    assert found.origins[0] in GAITS.elites.cells
    assert found.episodes[0] == strong[0].searches[0].episodes
    assert (stronger.metrics, stronger.best()) == (GAITS.metrics, GAITS.best())
    np.testing.assert_array_equal(objective_grid(stronger), objective_grid(GAITS))
    assert (stronger.find(12), stronger.label(12)) == (12, "row 12")
    assert stronger.to_pandas()["specialist for"].tolist() == [""] * 12 + [LOST]
    assert stronger.facts()["  row 12"].startswith(f"{LOST}, refined from cell ")
    for row in (13, -1):
        with pytest.raises(InvalidValueError, match="the repertoire has 13 gaits, counted from 0"):
            stronger.policy(row)


def test_specialists_do_not_enter_the_archive_when_it_is_corrected(strong) -> None:
    stronger = strong[0].strengthened()
    evaluation = reevaluation(stronger, episodes=1, seed=0, backend=Threads(1))
    evaluation.run()
    correction = correct(evaluation)
    assert correction.repertoire.specialists is stronger.specialists
    assert len(correction.diverged) == 12


def test_threads_and_interruptions_change_nothing(strong, tmp_path: Path) -> None:
    file = tmp_path / "unfinished.h5"
    first = start(backend=Threads(2))
    first.run(file, stop=lambda: bool(first.searches))
    assert [(one.rounds, one.finished) for one in first.searches] == [(1, False)]
    assert 0 < first.done < first.total == 240
    reports = []
    second = start()
    second.restore(file)
    second.run(file, on_progress=lambda done, note: reports.append(done), stop=lambda: bool(reports))
    assert state(second) == state(first), "the round is as if it had not begun"
    third, shown = start(), list[float]()
    third.restore(file)
    third.run(file, on_progress=lambda done, note: shown.append(done))
    assert shown == sorted(shown), "progress never goes back"
    assert third.finished
    assert state(third) == state(strong[0])
    for other in (start(seed=2), start(below=0.4), start(refinement=RefinementSettings(episodes=241))):
        with pytest.raises(InvalidFileError, match="it belongs to another repertoire"):
            other.restore(file)
    with pytest.raises(RuntimeError, match="not all searches are finished"):
        second.strengthened()


def made_up(monkeypatch: pytest.MonkeyPatch, gain: float) -> list[dict]:
    """Have each round of a search pretend a gain; returns what each was given."""
    rounds: list[dict] = []

    def refine(settings, robots, solutions, **arguments) -> Refinement:
        rounds.append({"settings": settings, "robots": robots, "solutions": solutions, **arguments})
        return Refinement(solutions[0], 0, 1.0 + gain, 1.0, 123)

    monkeypatch.setattr(RefinementSettings, "refine", refine)
    return rounds


@pytest.mark.parametrize(("gain", "rounds"), [(0.1, 4), (0.001, 3)])
def test_a_search_ends_when_it_does_not_pay(gain: float, rounds: int, monkeypatch) -> None:
    searched = made_up(monkeypatch, gain)
    work = start(below=0.9)
    work.run()
    assert len(work.weak) == 2
    assert len(searched) == 2 * rounds
    assert len({one["number"] for one in searched}) == 2 * rounds, "no round repeats another's numbers"
    assert [len(one["solutions"]) for one in searched[:2]] == [8, 1], "the next goes on from what was found"
    assert all(one["settings"].episodes == 60 for one in searched)
    assert not work.found
    assert work.strengthened() is GAITS
    assert work.done == work.total


def test_what_helps_with_one_damage_is_tried_for_the_next(strong, monkeypatch) -> None:
    specialist = strong[0].searches[0].solution
    twice = replace(table(), conditions=(*table().conditions[:2], f"{LOST}+floor:friction@0.99"))
    twice = replace(twice, **{name: column[[0, 1, 1]] for name, column in table().columns.items()})
    refined = Refinement(specialist, 0, 1.0, 1.0, 50)
    monkeypatch.setattr(RefinementSettings, "refine", lambda *_, **__: refined)
    told: list[str] = []
    work = strengthening(GAITS, twice, below=within_reach(strong), on_finished=told.append)
    work.run()
    first, second = work.searches
    assert (first.rounds, second.rounds, second.parent) == (3, 0, 12)
    assert len(work.found) == 1
    assert "a specialist for another damage makes" in told[1]


MIRRORED = "left_rear:lost"


@pytest.fixture(scope="module")
def one_sided(strong):
    """Gaits with a specialist for a leg on the right, and their rehearsal without that on the left."""
    known = strong[0].strengthened()
    return known, rehearsed_table(rehearsed(known, MIRRORED, LOST))


def test_what_helps_on_one_side_helps_on_the_other_without_a_search(strong, one_sided, monkeypatch) -> None:
    monkeypatch.setattr(module, "mirror_images", mirror_images)
    known, rehearsal = one_sided
    below = within_reach(strong)
    searched, told = made_up(monkeypatch, 0.0), []
    work = strengthening(known, rehearsal, below=below, damages=[MIRRORED], on_finished=told.append)
    work.run()
    (search,), (image,) = work.searches, work.strengthened().gaits.solutions[13:]
    assert not searched
    assert (search.parent, search.episodes, search.rounds) == (12, 0, 0)
    assert search.before < below * work.healthy <= search.after
    assert (work.done, work.finished) == (work.total, True)
    share = f"{search.after / work.healthy:.0%}"
    gain = f"{search.before:.2f} -> {search.after:.2f} m ({share})"
    assert told == [f"{MIRRORED}: {gain}, the mirror image of a gait"]
    batch = ModelBatch(parse_damage(MIRRORED, known.robot).apply(known.robot))
    walked = ALL_CORES.run(batch, np.tile(image, (20, 1)), np.arange(50, 70)).distances
    assert walked.mean() == pytest.approx(search.after, abs=0.1)
    kept = work.strengthened().specialists
    assert (kept.episodes[-1], kept.damages[-1]) == (0, (MIRRORED,))
    words = work.strengthened().facts()["  row 13"]
    assert words.startswith(f"{MIRRORED}, a mirror image, descends from cell ")
    assert kept.origins[-1] == kept.origins[0], "it descends from what its image descends from"


def test_a_mirror_image_that_is_not_good_enough_is_kept_and_searched_from(one_sided, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "mirror_images", mirror_images)
    known, rehearsal = one_sided
    searched, file = made_up(monkeypatch, 0.0), tmp_path / "unfinished.h5"
    chosen = {"below": 0.9, "damages": [MIRRORED, LOST]}
    first = strengthening(known, rehearsal, **chosen)
    first.run(file, stop=lambda: bool(first.searches))
    (image,) = first.searches
    assert (image.rounds, image.finished, image.after > image.before) == (0, True, True)
    assert not first.finished
    assert not searched
    work = strengthening(known, rehearsal, **chosen)
    work.restore(file)
    assert work.done == 0, "the search is still to come"
    work.run(file)
    _, search, *others = work.searches
    assert {one.condition for one in others} == {2}, "one search of it, and then the next damage"
    assert (search.condition, search.parent, search.before) == (image.condition, 13, image.after)
    np.testing.assert_array_equal(searched[0]["solutions"][0], image.solution)
    kept = [one for one in work.found if one.condition == image.condition]
    assert [one.rounds for one in kept] == [0], "what the search found is the image that it began with"
    assert work.done == work.total


def test_gaits_are_refined_on_models_where_they_are_randomised(monkeypatch) -> None:
    rounds, driven = made_up(monkeypatch, 0.0), []
    run = module.Evaluator.run

    def watched(evaluator, *arguments, robots: np.ndarray | None = None):
        if len(evaluator.robots) > 1:
            driven.append(np.bincount(robots) / len(robots))
        return run(evaluator, *arguments, robots=robots)

    monkeypatch.setattr(module.Evaluator, "run", watched)
    work = start(randomization=GAP.model_copy(update={"models": 3}))
    work.run()
    labels = [[change.label for change in robot.modifications] for robot in rounds[0]["robots"]]
    assert len({label for label, _ in labels}) == 3
    assert {label for _, label in labels} == {LOST}
    assert driven, "gaits are compared on the models"
    for shares in driven:
        assert shares.tolist() == [0.4, 0.3, 0.3], "they take turns in ten episodes"


def test_nothing_to_strengthen_is_told_at_once() -> None:
    message = f"nothing to strengthen: under every damage some gait makes 50% .*, and 81% under {DEAD}"
    with pytest.raises(InvalidValueError, match=message):
        strengthening(GAITS, table(), damages=[DEAD])
    with pytest.raises(UnknownNameError, match="condition of the rehearsal"):
        strengthening(GAITS, table(), damages=[MIRRORED])

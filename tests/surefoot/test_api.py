"""The public API: what README and users rely on."""

import math
import pickle
import rlcompleter
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import surefoot
from adapt.damage.text import parse_damage
from repertoire.emitters.evolution_strategy import EvolutionStrategySettings
from repertoire.emitters.variation import VariationSettings
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import write_repertoire
from repertoire.strategies.sep_cma_es import SepCMAESSettings
from robots.controllers.controller import Policy
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.simulation.environment import WalkingEnvironment
from tests.adapt.rehearsal.small import small_repertoire


def rastrigin(solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Objectives and two measures of solutions."""
    x = solutions.astype(float)
    return -(10 * x.shape[1] + (x**2 - 10 * np.cos(2 * np.pi * x)).sum(axis=1)), x[:, :2]


def make_search(**settings: object) -> surefoot.Search:
    return surefoot.Search(
        20, [(-5.12, 5.12)] * 2, min_objective=-1000.0, archive="cvt:200", seed=1, sigma0=0.5, **settings
    )


def test_threads_of_linear_algebra_change_nothing() -> None:
    asked = []
    for threads in (1, 2):
        search = surefoot.Search(400, [(-5.12, 5.12)] * 2, min_objective=-1000.0, seed=1, algorithm="cma-mae")
        with threadpool_limits(threads, user_api="blas"):
            for _ in range(12):
                search.tell(*rastrigin(search.ask()))
            asked.append(search.ask())
    np.testing.assert_array_equal(*asked)


@pytest.mark.parametrize("algorithm", ["cma-mae", "map-elites-line", "sep-cma-mae"])
def test_ask_and_tell_improve_and_can_be_saved_loaded_and_drawn(tmp_path: Path, algorithm: str) -> None:
    search = make_search(algorithm=algorithm)
    scores = []
    for _ in range(30):
        solutions = search.ask()
        search.tell(*rastrigin(solutions))
        scores.append(search.repertoire.metrics.qd_score)
    assert scores[-1] > 1.5 * scores[0] > 0
    assert scores == sorted(scores)
    search.save(tmp_path / "rastrigin.h5")
    search.draw(str(tmp_path / "rastrigin.png"))
    assert (tmp_path / "rastrigin.png").stat().st_size > 1000
    loaded = surefoot.load(tmp_path / "rastrigin.h5")
    table = loaded.to_pandas()
    assert len(table) == len(loaded) > 20
    assert list(table.columns) == ["cell", "objective", "measure 1", "measure 2"]
    objectives, measures = rastrigin(loaded.elites.solutions)
    np.testing.assert_allclose(table["objective"], objectives, rtol=1e-5)
    np.testing.assert_allclose(table[["measure 1", "measure 2"]], measures, rtol=1e-6)
    with pytest.raises(InvalidValueError, match="which is not a robot"):
        loaded.policy()


def test_asked_arrays_belong_to_the_caller_and_the_seed_decides() -> None:
    a, b = make_search(), make_search()
    first = a.ask()
    kept = first.copy()
    first[:] = np.nan
    a.tell(*rastrigin(kept))
    b.ask()
    b.tell(*rastrigin(kept))
    np.testing.assert_array_equal(a.ask(), b.ask())


def test_misuse_is_refused() -> None:
    search = make_search()
    with pytest.raises(RuntimeError, match="tell was called before ask"):
        search.tell(np.zeros(0), np.zeros((0, 2)))
    solutions = search.ask()
    objectives, measures = rastrigin(solutions)
    with pytest.raises(InvalidValueError, match="failed must be booleans"):
        search.tell(objectives, measures, failed=np.zeros(len(solutions), int))
    with pytest.raises(InvalidValueError, match="measures"):
        search.tell(objectives, measures[:, :1])
    failed = np.arange(len(solutions)) == 3
    objectives[3] = np.nan
    search.tell(objectives, measures, failed=failed)
    assert search.repertoire.history["diverged"][-1] == 1
    with pytest.raises(InvalidValueError, match="must be finite with low < high"):
        surefoot.Search(3, [(1.0, 1.0)], min_objective=0.0)
    with pytest.raises(InvalidValueError, match=r"initial must have shape \(3,\)"):
        surefoot.Search(3, [(0.0, 1.0)], min_objective=0.0, initial=np.zeros(4))
    climbing = surefoot.Search(3, [(0.0, 1.0)], min_objective=0.0, algorithm="cma-mega", archive=(5,))
    found = climbing.ask()
    with pytest.raises(InvalidValueError, match=r"need gradients, which must .* shape \(1, 2, 3\), not \(\)"):
        climbing.tell(found.sum(axis=1), found[:, :1])
    odd = (np.ones((1, 2, 3), complex), [[[1.0, 2.0], [3.0]]], "text", [[["a"] * 3] * 2])
    for gradients in odd:
        with pytest.raises(InvalidValueError, match="gradients must be an array of real numbers"):
            climbing.tell(found.sum(axis=1), found[:, :1], gradients=gradients)
    for failed, message in ((np.zeros(2, bool), r"shape \(1,\)"), ([[True], [True, False]], "booleans")):
        with pytest.raises(InvalidValueError, match=f"failed must .*{message}"):
            climbing.tell(found.sum(axis=1), found[:, :1], gradients=np.ones((1, 2, 3)), failed=failed)
    with pytest.raises(InvalidValueError, match="the field 'odd' must hold a value for each"):
        climbing.tell(found.sum(axis=1), found[:, :1], fields={"odd": [[1], [1, 2]]})


def test_train_load_walk_and_recover(tmp_path: Path) -> None:
    settings = {"evaluations": 1, "episode_steps": 40, "seed": np.int64(3), "threads": 1}
    trained = surefoot.train("ant", out=str(tmp_path / "run"), **settings)
    loaded = surefoot.load(tmp_path / "run")
    np.testing.assert_array_equal(trained.elites.solutions, loaded.elites.solutions)
    policy = loaded.policy("best")
    environment = WalkingEnvironment(loaded.robot)
    observation, _ = environment.reset(seed=0)
    assert environment.action_space.contains(policy(observation))
    np.testing.assert_array_equal(policy(observation), loaded.policy(loaded.cell(loaded.best()))(observation))
    with pytest.raises(InvalidValueError, match=r"observation must have shape \(28,\)"):
        policy(observation[:5])
    check_invalid_observations(loaded, observation)
    recovery = surefoot.recover(tmp_path / "run", "front_left:lost", selector="map-bo", trials=2, threads=1)
    assert recovery == surefoot.recover(loaded, "front_left:lost", selector="map-bo", trials=2, threads=1)
    with pytest.raises(InvalidFileError, match="included: ant, hexapod"):
        surefoot.load("octopod")


def check_invalid_observations(loaded: Repertoire, observation: np.ndarray) -> None:
    """They are refused, or damped with a warning; what is finite is then answered as before."""
    for value in (np.nan, np.inf, -np.inf, 1e300):
        broken = observation.astype(np.float64)
        broken[[3, 5]] = value
        with pytest.raises(InvalidValueError, match=r"an observation is not finite \(see \[3, 5\]\)"):
            loaded.policy()(broken)
        policy = loaded.policy("best", on_invalid="damp")
        with pytest.warns(UserWarning, match="answers with the neutral pose"):
            assert not policy(broken).any()
        assert not policy(broken).any()  # without another warning, which would be an error here
        np.testing.assert_array_equal(policy(observation), loaded.policy()(observation))
    unknown = Policy(loaded.robot.controller, np.full_like(loaded.elites.solutions[0], np.nan))
    with pytest.raises(InvalidValueError, match="no action is finite"):
        unknown(observation)
    with pytest.raises(InvalidValueError, match="on_invalid must be 'refuse' or 'damp', not 'x'"):
        loaded.policy(on_invalid="x")


def test_a_periodic_policy_repeats_after_its_period() -> None:
    policy = surefoot.load("hexapod").policy()
    observation = np.zeros(policy.controller.observation_dim)
    actions = np.array([policy(observation) for _ in range(200)])
    period = next(p for p in range(2, 100) if np.array_equal(actions[:100], actions[p : p + 100]))
    assert period > 10
    policy.reset()
    np.testing.assert_array_equal(policy(observation), actions[0])


def test_importing_surefoot_imports_nothing_heavy() -> None:
    code = "import surefoot, sys; assert not {'numpy', 'mujoco', 'numba', 'h5py'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="it has Mission, Observer, Search, calibrate, deploy"):
        surefoot.lode  # noqa: B018


@pytest.mark.parametrize("archive", ["3,3", "cvt:9"])
def test_a_search_can_be_pickled_between_ask_and_tell(archive: str) -> None:
    searches = [surefoot.Search(4, [(-5, 5)] * 2, min_objective=-1000, archive=archive, seed=3)]
    asked = searches[0].ask()
    searches.append(pickle.loads(pickle.dumps(searches[0])))
    for search in searches:
        search.tell(*rastrigin(asked))
    np.testing.assert_array_equal(*(search.ask() for search in searches))


@pytest.mark.parametrize("odd", [1j, 10**400, "a", None, 1e31, -1e308, np.datetime64("2020-01-01")], ids=repr)
def test_results_that_are_no_usable_numbers_are_refused_without_a_warning(odd: object) -> None:
    search = make_search()
    objectives, measures = rastrigin(search.ask())
    for place in range(2):
        told: list[object] = [objectives, measures]
        told[place] = (
            np.full_like(told[place], odd, object) if odd is None else np.full(told[place].shape, odd)
        )
        with pytest.raises(InvalidValueError, match=("objectives", "measures")[place]):
            search.tell(*told)
    search.tell(objectives, measures)


@pytest.mark.parametrize(
    "argument",
    [
        {"solution_dim": 10**12},
        {"solution_dim": 10**400},
        {"solution_dim": 1.5},
        {"measure_ranges": [(0, 10**400)]},
        {"measure_ranges": [(0, 1j)]},
        {"measure_ranges": [(0, 1e31)]},
        {"min_objective": 10**400},
        {"min_objective": -1e31},
        {"initial": [1e31] * 3},
        {"initial": [1j] * 3},
        {"name": "a\x1b"},
        {"name": "a" * 1001},
        {"measure_names": ["a\ud800"]},
        {"measure_names": ["a" * 1001]},
        {"measure_names": ["objective"]},
        {"measure_names": ["parameter 12"]},
        {"measure_names": ["a", "a"], "measure_ranges": [(0, 1), (0, 1)], "archive": "3,3"},
        {"measure_ranges": [(0, 1)] * 61, "archive": ",".join(61 * "1")},
        {"seed": 10**31},
        {"seed": 1.5},
        *({"algorithm": wrong} for wrong in (None, [], ["cma-mae"], VariationSettings)),
    ],
    ids=repr,
)
def test_arguments_that_are_no_usable_numbers_or_texts_are_refused(argument: dict) -> None:
    sound = {"solution_dim": 3, "measure_ranges": [(0, 1)], "min_objective": 0, "archive": "3"}
    with pytest.raises(InvalidValueError):
        surefoot.Search(**sound | argument)


def test_measures_cannot_have_names_of_other_columns_of_a_table() -> None:
    gaits = surefoot.load("hexapod")  # is corrected and has specialists
    gaits.problem.check_columns()
    first, *others = gaits.problem.measure_names
    columns = {*gaits.to_pandas(solutions=True)} - {first, *others}
    assert {"cell", "reproducibility", "specialist for"} < columns
    for column in columns:
        with pytest.raises(InvalidValueError, match=f"one is called '{column}'"):
            replace(gaits.problem, measure_names=(column, *others)).check_columns()


def test_a_file_with_measures_of_one_name_can_still_be_read(tmp_path: Path) -> None:
    found = surefoot.train("sphere-4", evaluations=100)
    unnamed = replace(found, problem=replace(found.problem, measure_names=("objective", "objective")))
    with pytest.raises(InvalidValueError, match="one is called 'objective'"):
        unnamed.problem.check_columns()
    write_repertoire(tmp_path / "old.h5", unnamed)
    assert surefoot.load(tmp_path / "old.h5").problem == unnamed.problem


def test_what_is_neither_a_problem_nor_a_damage_is_refused(tmp_path: Path) -> None:
    for problem in (None, 5):
        with pytest.raises(UnknownNameError, match=f"unknown robot or problem '{problem}'"):
            surefoot.train(problem, out=tmp_path / "run")
    for damage in (None, 3):
        with pytest.raises(InvalidValueError, match=f"'{damage}'"):
            surefoot.recover("hexapod", damage)
    with pytest.raises(InvalidFileError, match="no file can have this name"):
        surefoot.train("sphere-4", out=tmp_path / "a\0b", evaluations=100, archive="3,3")


@pytest.mark.parametrize(
    "algorithm",
    ["cma-mega", [EvolutionStrategySettings(strategy=SepCMAESSettings(sigma0=0.5)), VariationSettings()]],
)
def test_a_search_with_gradients_or_emitters_of_several_kinds(algorithm: Any) -> None:
    search, sizes = surefoot.Search(20, [(-5.0, 5.0)] * 2, min_objective=-1e4, algorithm=algorithm), set()
    for _ in range(20):
        search = pickle.loads(pickle.dumps(search))
        x = search.ask().astype(float)
        gradients = np.zeros((len(x), 3, 20))
        gradients[:, 0] = -2 * x
        gradients[:, 1, 0] = gradients[:, 2, 1] = 1
        sizes.add(len(x))
        search = pickle.loads(pickle.dumps(search))
        search.tell(-(x**2).sum(axis=1), x[:, :2], gradients=gradients if search.needs_gradients else None)
    assert sizes == ({1, 35} if algorithm == "cma-mega" else {140})
    assert search.metrics == search.repertoire.metrics
    assert search.metrics.elites > 50
    table = search.repertoire.to_pandas(solutions=True)
    np.testing.assert_array_equal(
        table[["parameter 1", "parameter 20"]], search.repertoire.elites.solutions[:, [0, -1]]
    )


def test_elites_keep_the_fields_that_were_told_of_them() -> None:
    search = make_search()
    for number in range(12):
        x = search.ask()
        objectives, measures = rastrigin(x)
        failed = np.arange(len(x)) % 5 == 0
        fields = {"total": x.sum(axis=1), "ends": x[:, [0, -1]], "batch": np.full(len(x), number)}
        search.tell(objectives, measures, failed=failed, fields=fields)
        search = pickle.loads(pickle.dumps(search))
    kept, elites = search.fields, search.repertoire.elites
    np.testing.assert_array_equal(kept["total"], elites.solutions.sum(axis=1))
    np.testing.assert_array_equal(kept["ends"], elites.solutions[:, [0, -1]])
    assert len(set(kept["batch"])) > 3
    assert "total" in search.repertoire.to_pandas().assign(total=kept["total"])
    objectives, measures = rastrigin(search.ask())
    for wrong in ({}, {"total": objectives}, {**fields, "ends": objectives[1:]}):
        with pytest.raises(
            InvalidValueError, match=r"the same as at first, total, ends, batch|'ends' must hold"
        ):
            search.tell(objectives, measures, fields=wrong)
    search.tell(objectives, measures, fields=fields)


def test_a_solution_that_is_asked_again_has_the_fields_of_the_evaluation_that_made_it_an_elite() -> None:
    search = surefoot.Search(2, [(-1.0, 1.0)], min_objective=-10.0, archive="1", algorithm="cma-mega")
    for number in range(4):
        x = search.ask()
        objectives = np.full(len(x), -0.5 * max(number, 1))  # equal at first, then worse
        gradients = np.zeros((len(x), 2, 2)) if search.needs_gradients else None
        search.tell(objectives, x[:, :1], gradients=gradients, fields={"number": np.full(len(x), number)})
    assert search.fields["number"] == [0]


def test_a_repertoire_is_outlined_in_five_lines() -> None:
    gaits = surefoot.load("hexapod")
    assert len(repr(gaits).splitlines()) == 5
    assert "2,000" in repr(gaits) or "2000" in repr(gaits)
    assert len(repr(gaits)) < 700 > len(repr(gaits.robot))
    assert gaits._repr_html_().count("<tr>") == 5


def test_arguments_are_checked_before_anything_runs(tmp_path: Path) -> None:
    gaits = small_repertoire()
    for keep in (0, 2.5):
        with pytest.raises(InvalidValueError, match=f"^keep: .*, not {keep}"):
            surefoot.evaluate(gaits, keep=keep, episodes=1, threads=1)
    with pytest.raises(InvalidValueError, match=r"telemetry is written as \.mcap, not late"):
        surefoot.deploy(gaits, csv=tmp_path / "walk.csv", mcap=tmp_path / "late.txt", seconds=0.1)
    assert not list(tmp_path.iterdir())


def test_gaits_are_found_by_whole_numbers_of_any_kind_and_nothing_else() -> None:
    gaits = small_repertoire()
    cell = gaits.cell(3)
    for which in (3, np.int64(3), cell, list(cell), np.array(cell), tuple(np.int32(cell))):
        assert gaits.find(which) == 3
    for wrong in ("lowest", "0,0,1,0", (1.0, 0, 0, 0), np.zeros(4), [[0], [1, 2]], None, 1.5, True, 99):
        with pytest.raises(InvalidValueError, match=r"a gait is named by its cell|there is no row"):
            surefoot.deploy(gaits, wrong)


def test_whole_numbers_may_be_of_numpy_and_others_are_refused(tmp_path: Path) -> None:
    gaits, whole = small_repertoire(), np.int64(2)
    settings = {"batch_size": whole, "emitters": whole, "seed": whole, "evaluations": whole}
    assert surefoot.train("sphere-4", archive="3,3", randomization=None, **settings).settings.emitters == 2
    surefoot.train("ant", episode_steps=whole, randomization=None, threads=1, **settings)
    for wrong in (1.9, math.nan, "a"):
        with pytest.raises(InvalidValueError, match=r"^seed.*integer"):
            surefoot.train("sphere-4", seed=wrong)
        for act in (surefoot.evaluate, surefoot.rehearse, surefoot.deploy):
            with pytest.raises(InvalidValueError, match=r"^seed"):
                act(gaits, seed=wrong)
        with pytest.raises(InvalidValueError, match=r"^episodes.*integer"):
            surefoot.evaluate(gaits, episodes=wrong)


def test_a_calibration_with_no_sensors_or_models_is_refused(tmp_path: Path) -> None:
    surefoot.deploy("hexapod", 0, seconds=5, csv=tmp_path / "walk.csv")
    with pytest.raises(InvalidValueError, match="a robot needs a sensor"):
        surefoot.calibrate("hexapod", tmp_path, sensors=[])
    for models in (0, 250.5):
        with pytest.raises(InvalidValueError, match=r"^models: "):
            surefoot.calibrate("hexapod", tmp_path, models=models)


def test_a_folder_without_a_run_hides_no_included_repertoire(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hexapod").mkdir()
    assert len(surefoot.load("hexapod")) > 1000
    write_repertoire(Path("hexapod", "repertoire.h5"), small_repertoire())
    assert len(surefoot.load("hexapod")) == 5


def test_a_single_thing_may_stand_for_a_list() -> None:
    gaits, lost = small_repertoire(), parse_damage("front_left:lost", small_repertoire().robot)
    for one in ("front_left:lost", lost):
        table = surefoot.rehearse(gaits, one, episodes=1, threads=1)
        assert table.conditions == ("healthy", "front_left:lost")
        with pytest.raises(InvalidValueError, match="there is nothing to strengthen"):
            surefoot.strengthen(gaits, one, rehearsal=table, threads=1)
    assert len(surefoot.merge(gaits)) == len(gaits)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, "3", None])
def test_times_that_are_none_are_refused(value: Any) -> None:
    gaits = surefoot.load("hexapod")
    for use in (
        lambda: surefoot.train("sphere-4", "cma-mae", archive="3,3", evaluations=4, checkpoint_seconds=value),
        lambda: surefoot.deploy(gaits, seconds=value),
        lambda: surefoot.drive(gaits, robot="tcp://127.0.0.1:1", seconds=value),
        lambda: surefoot.Mission(gaits, seconds=value),
        lambda: surefoot.Mission(gaits, within=value),
    ):
        with pytest.raises(InvalidValueError, match=r"must be a finite number (above|of at least) 0"):
            use()


def test_threads_are_checked_where_they_change_nothing() -> None:
    with pytest.raises(InvalidValueError, match="threads must be at least 1 and at most 1024, not 'x'"):
        surefoot.train("sphere-4", "cma-mae", archive="3,3", evaluations=4, threads="x")  # type: ignore[arg-type]


def test_objectives_below_the_least_are_subtracted_from_the_qd_score() -> None:
    search = surefoot.Search(2, [(-1, 1)] * 2, min_objective=0, archive="3,3", batch_size=4, emitters=1)
    search.ask()
    places = [(-0.9, -0.9), (0.9, 0.9), (0.9, -0.9), (-0.9, 0.9)]
    search.tell(np.array([-10.0, -40.0, 2.0, 0.0]), np.array(places))
    assert (search.metrics.elites, search.metrics.qd_score, search.metrics.best) == (4, -48.0, 2.0)


def test_masked_results_are_refused() -> None:
    search = surefoot.Search(2, [(-1, 1)] * 2, min_objective=-10, archive="10,10", batch_size=4, emitters=1)
    measures = search.ask()
    for mask, refused in ([0, 1, 0, 0], True), ([0] * 4, False):
        masked = np.ma.masked_array([0, 999.0, 0, 0], mask=mask)
        if refused:
            with pytest.raises(InvalidValueError, match="1 of 4 entries of an array are masked"):
                search.tell(masked, measures)
            with pytest.raises(InvalidValueError, match="1 of 4 entries of an array are masked"):
                search.tell(np.zeros(4), measures, failed=masked > 0)
        else:
            search.tell(masked, measures)
    assert search.metrics.best == 999


def test_masked_actions_are_refused() -> None:
    environment = WalkingEnvironment(surefoot.load("hexapod").robot)
    environment.reset(seed=1)
    with pytest.raises(InvalidValueError, match="1 of 12 entries of an array are masked"):
        environment.step(np.ma.masked_array(np.zeros(12), mask=[1] + [0] * 11))


def test_shells_complete_the_public_names() -> None:
    assert {*surefoot.__all__, "__version__"} == {*dir(surefoot)}
    assert surefoot.__version__ == version("surefoot")
    assert "train" in rlcompleter.Completer({"surefoot": surefoot}).attr_matches("surefoot.tr")[0]


def test_a_file_that_another_program_writes_is_not_called_damaged(tmp_path: Path) -> None:
    write_repertoire(tmp_path / "a.h5", small_repertoire())
    holder = "import h5py, sys; f = h5py.File(sys.argv[1], 'r+'); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, tmp_path / "a.h5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(InvalidFileError, match="is open for writing in another program"):
            surefoot.load(tmp_path / "a.h5")
        other.communicate(b"\n")

"""The public API: what README and users rely on."""

import math
import pickle
import rlcompleter
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version

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


def rastrigin(solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Objectives and two measures of solutions."""
    x = solutions.astype(float)
    return -(10 * x.shape[1] + (x**2 - 10 * np.cos(2 * np.pi * x)).sum(axis=1)), x[:, :2]


def make_search(**settings) -> surefoot.Search:
    default = {"min_objective": -1000.0, "archive": "cvt:200", "seed": 1, "sigma0": 0.5}
    return surefoot.Search(20, [(-5.12, 5.12)] * 2, **default | settings)


def test_threads_of_linear_algebra_change_nothing() -> None:
    asked = []
    for threads in (1, 2):
        search = surefoot.Search(400, [(-5.12, 5.12)] * 2, min_objective=-1000.0, seed=1, algorithm="cma-mae")
        with threadpool_limits(threads, user_api="blas"):
            for _ in range(12):
                search.tell(*rastrigin(search.ask()))
            asked.append(search.ask())
    np.testing.assert_array_equal(*asked)


@pytest.mark.parametrize("algorithm", ["map-elites-line", "sep-cma-mae"])
def test_ask_and_tell_improve_and_can_be_saved_loaded_and_drawn(tmp_path, algorithm: str) -> None:
    search, scores = make_search(algorithm=algorithm), []
    for _ in range(30):
        search.tell(*rastrigin(search.ask()))
        scores.append(search.metrics.qd_score)
    assert scores[-1] > 1.5 * scores[0] > 0
    assert scores == sorted(scores)
    search.save(tmp_path / "rastrigin.h5")
    search.draw(str(tmp_path / "rastrigin.png"))
    assert (tmp_path / "rastrigin.png").stat().st_size > 1000
    loaded = surefoot.load(tmp_path / "rastrigin.h5")
    table = loaded.to_pandas()
    assert len(table) == len(loaded) > 20
    objectives, measures = rastrigin(loaded.elites.solutions)
    np.testing.assert_allclose(table["objective"], objectives, rtol=1e-5)
    np.testing.assert_allclose(table[["measure 1", "measure 2"]], measures, rtol=1e-6)
    with pytest.raises(InvalidValueError):
        loaded.policy()  # of a problem that is not a robot


@pytest.mark.parametrize("archive", ["3,3", "cvt:9"])
def test_asked_arrays_belong_to_the_caller_the_seed_decides_and_pickles_go_on(archive: str) -> None:
    one, other = make_search(archive=archive), make_search(archive=archive)
    asked = one.ask()
    kept = asked.copy()
    asked[:] = np.nan
    other.ask()
    searches = [one, other, pickle.loads(pickle.dumps(one))]
    for search in searches:
        search.tell(*rastrigin(kept))
    first, *others = (search.ask() for search in searches)
    for again in others:
        np.testing.assert_array_equal(first, again)


def test_failures_are_counted() -> None:
    search = make_search()
    objectives, measures = rastrigin(search.ask())
    objectives[3] = np.nan
    search.tell(objectives, measures, failed=np.isnan(objectives))
    assert search.repertoire.history["diverged"][-1] == 1


TOLD = ("objectives", "measures")
NUMBERS = (1j, 10**400, "a", 1e31, -1e308, np.datetime64("2020-01-01"))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *((name, lambda told, odd=odd: np.full(told.shape, odd)) for name in TOLD for odd in NUMBERS),
        *((name, lambda told: np.full(told.shape, None, object)) for name in TOLD),
        ("objectives", lambda told: np.ma.masked_array(told, mask=np.arange(len(told)) == 1)),
        ("measures", lambda told: told[:, :1]),
        ("failed", lambda told: np.zeros(len(told), int)),
        ("failed", lambda told: np.zeros(2, bool)),
        ("failed", lambda told: [[True], [True, False]]),
        ("failed", lambda told: np.ma.masked_array(told > 0, mask=np.arange(len(told)) == 1)),
    ],
)
def test_what_cannot_be_told_is_refused_without_a_warning(name: str, wrong) -> None:
    search = make_search()
    told = dict(zip(TOLD, rastrigin(search.ask()), strict=True))
    with pytest.raises(InvalidValueError):
        search.tell(**told | {name: wrong(told.get(name, told["objectives"]))})
    search.tell(**told)


@pytest.mark.parametrize(
    "argument",
    [
        *({"solution_dim": wrong} for wrong in (10**12, 10**400, 1.5)),
        *({"measure_ranges": [wrong]} for wrong in ((0, 10**400), (0, 1j), (0, 1e31), (1.0, 1.0))),
        *({"min_objective": wrong} for wrong in (10**400, -1e31)),
        *({"initial": wrong} for wrong in ([1e31] * 3, [1j] * 3, np.zeros(4))),
        *({"name": wrong} for wrong in ("a\x1b", "a" * 1001)),
        *({"measure_names": [wrong]} for wrong in ("a\ud800", "a" * 1001, "objective", "parameter 12")),
        {"measure_names": ["a", "a"], "measure_ranges": [(0, 1), (0, 1)], "archive": "3,3"},
        {"measure_ranges": [(0, 1)] * 61, "archive": ",".join(61 * "1")},
        *({"seed": wrong} for wrong in (10**31, 1.5)),
        *({"algorithm": wrong} for wrong in (None, [], ["cma-mae"], VariationSettings)),
    ],
    ids=repr,
)
def test_arguments_that_are_no_usable_numbers_or_texts_are_refused(argument: dict) -> None:
    sound = {"solution_dim": 3, "measure_ranges": [(0, 1)], "min_objective": 0, "archive": "3"}
    with pytest.raises(InvalidValueError):
        surefoot.Search(**sound | argument)


def test_a_search_with_emitters_of_several_kinds() -> None:
    algorithm = [EvolutionStrategySettings(strategy=SepCMAESSettings(sigma0=0.5)), VariationSettings()]
    search = surefoot.Search(20, [(-5.0, 5.0)] * 2, min_objective=-1e4, algorithm=algorithm)
    for _ in range(20):
        search = pickle.loads(pickle.dumps(search))
        x = search.ask().astype(float)
        assert len(x) == 140
        search.tell(-(x**2).sum(axis=1), x[:, :2])
    assert search.metrics == search.repertoire.metrics
    assert search.metrics.elites > 50
    parameters = search.repertoire.to_pandas(solutions=True)[["parameter 1", "parameter 20"]]
    np.testing.assert_array_equal(parameters, search.repertoire.elites.solutions[:, [0, -1]])


def test_train_load_walk_and_recover(tmp_path) -> None:
    settings = {"evaluations": 1, "episode_steps": 40, "seed": np.int64(3), "threads": 1}
    trained = surefoot.train("ant", out=str(tmp_path / "run"), **settings)
    loaded = surefoot.load(tmp_path / "run")
    np.testing.assert_array_equal(trained.elites.solutions, loaded.elites.solutions)
    observation, _ = WalkingEnvironment(loaded.robot).reset(seed=0)
    best = loaded.policy("best")(observation)
    np.testing.assert_array_equal(best, loaded.policy(loaded.cell(loaded.best()))(observation))
    asked = {"selector": "map-bo", "trials": 2, "threads": 1}
    recovery = surefoot.recover(tmp_path / "run", "front_left:lost", **asked)
    assert recovery == surefoot.recover(loaded, "front_left:lost", **asked)


def test_observations_that_are_not_finite_are_refused(gaits: Repertoire) -> None:
    observation, _ = WalkingEnvironment(gaits.robot).reset(seed=0)
    with pytest.raises(InvalidValueError, match=r"\(28,\)"):
        gaits.policy()(observation[:5])
    for value in (np.nan, np.inf, -np.inf, 1e300):
        broken = observation.astype(np.float64)
        broken[[3, 5]] = value
        with pytest.raises(InvalidValueError, match=r"\[3, 5\]"):
            gaits.policy()(broken)
    unknown = Policy(gaits.robot.controller, np.full_like(gaits.elites.solutions[0], np.nan))
    with pytest.raises(InvalidValueError, match="no finite action"):
        unknown(observation)


def test_measures_cannot_have_names_of_other_columns_of_a_table(tmp_path) -> None:
    gaits = surefoot.load("hexapod")  # is corrected and has specialists
    gaits.problem.check_columns()
    first, *others = gaits.problem.measure_names
    columns = {*gaits.to_pandas(solutions=True)} - {first, *others}
    assert {"cell", "reproducibility", "specialist for"} < columns
    for column in columns:
        with pytest.raises(InvalidValueError, match=column):
            replace(gaits.problem, measure_names=(column, *others)).check_columns()
    found = surefoot.train("sphere-4", evaluations=100)
    unnamed = replace(found, problem=replace(found.problem, measure_names=("objective", "objective")))
    write_repertoire(tmp_path / "old.h5", unnamed)
    assert surefoot.load(tmp_path / "old.h5").problem == unnamed.problem, "old files can still be read"


def test_gaits_are_found_by_whole_numbers_of_any_kind_and_nothing_else(gaits: Repertoire) -> None:
    cell = gaits.cell(3)
    for which in (3, np.int64(3), cell, list(cell), np.array(cell), tuple(np.int32(cell))):
        assert gaits.find(which) == 3
    for wrong in ("lowest", "0,0,1,0", (1.0, 0, 0, 0), np.zeros(4), [[0], [1, 2]], None, 1.5, True, 99):
        with pytest.raises(InvalidValueError):
            surefoot.deploy(gaits, wrong)


WRONG = {  # calls, each with what it refuses
    "threads": lambda gaits, out: surefoot.train("sphere-4", archive="3,3", evaluations=4, threads="x"),
    "unknown robot or problem 'None'": lambda gaits, out: surefoot.train(None, out=out / "run"),
    "damage": lambda gaits, out: surefoot.recover(gaits, 3),
    "no file can have this name": lambda gaits, out: surefoot.train("sphere-4", out=out / "a\0b"),
    "sensor": lambda gaits, out: surefoot.calibrate(gaits, out, sensors=[]),
    "models": lambda gaits, out: surefoot.calibrate(gaits, out, models=250.5),
    "^keep": lambda gaits, out: surefoot.evaluate(gaits, keep=2.5, episodes=1, threads=1),
    "^episodes": lambda gaits, out: surefoot.evaluate(gaits, episodes="a"),
}


@pytest.mark.parametrize("reason", WRONG)
def test_what_is_wrong_is_refused_before_anything_runs(gaits, tmp_path, reason):
    with pytest.raises((InvalidValueError, UnknownNameError, InvalidFileError), match=reason):
        WRONG[reason](gaits, tmp_path)
    assert not list(tmp_path.iterdir())


def test_whole_numbers_may_be_of_numpy_and_others_are_refused(gaits: Repertoire) -> None:
    whole = np.int64(2)
    settings = {"batch_size": whole, "emitters": whole, "seed": whole, "evaluations": whole}
    assert surefoot.train("sphere-4", archive="3,3", randomization=None, **settings).settings.emitters == 2
    surefoot.train("ant", episode_steps=whole, randomization=None, threads=1, **settings)
    for wrong in (1.9, math.nan, "a"):
        for act in (surefoot.train, surefoot.evaluate, surefoot.rehearse, surefoot.deploy):
            with pytest.raises(InvalidValueError, match=r"^seed"):
                act("sphere-4" if act is surefoot.train else gaits, seed=wrong)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, "3", None])
def test_times_that_are_none_are_refused(gaits: Repertoire, value) -> None:
    for use in (
        lambda: surefoot.train("sphere-4", archive="3,3", evaluations=4, checkpoint_seconds=value),
        lambda: surefoot.deploy(gaits, seconds=value),
        lambda: surefoot.drive(gaits, robot="tcp://127.0.0.1:1", seconds=value),
    ):
        with pytest.raises(InvalidValueError, match="finite number"):
            use()


def test_a_single_thing_may_stand_for_a_list(gaits: Repertoire) -> None:
    for one in ("front_left:lost", parse_damage("front_left:lost", gaits.robot)):
        table = surefoot.rehearse(gaits, one, episodes=1, threads=1)
        assert table.conditions == ("healthy", "front_left:lost")
        with pytest.raises(InvalidValueError, match="nothing to strengthen"):
            surefoot.strengthen(gaits, one, rehearsal=table, threads=1)
    assert len(surefoot.merge(gaits)) == len(gaits)


def test_importing_surefoot_imports_nothing_heavy() -> None:
    code = "import surefoot, sys; assert not {'numpy', 'mujoco', 'numba', 'h5py'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_shells_complete_the_public_names() -> None:
    assert {*surefoot.__all__, "__version__"} == {*dir(surefoot)}
    assert surefoot.__version__ == version("surefoot")
    assert "train" in rlcompleter.Completer({"surefoot": surefoot}).attr_matches("surefoot.tr")[0]
    with pytest.raises(AttributeError, match="Mission, Observer, Search"):
        surefoot.lode  # noqa: B018


def test_a_file_that_another_program_writes_is_not_called_damaged(tmp_path, gaits) -> None:
    write_repertoire(tmp_path / "a.h5", gaits)
    holder = "import h5py, sys; f = h5py.File(sys.argv[1], 'r+'); print(flush=True); input()"
    program = [sys.executable, "-c", holder, tmp_path / "a.h5"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(InvalidFileError, match="another program"):
            surefoot.load(tmp_path / "a.h5")
        other.communicate(b"\n")

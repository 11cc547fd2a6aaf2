"""Studies that train robots: what they consist of, how they share the machine, and how they go on."""

import json
from dataclasses import replace

import numpy as np
import pytest
from gaits import TIMES, small_settings

from repertoire.suites.gait_study import Variant, check_plans, open_gait_study, share_machine
from repertoire.suites.locomotion import ABLATION_STUDY, LOCOMOTION_STUDY, algorithm_variants
from repertoire.suites.results import TrialResult
from repertoire.suites.study import Study
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError


def results_by_key(results: list[TrialResult]) -> dict:
    return {(one.domain, one.algorithm, one.trial): one for one in results}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Study:
    """A study of two algorithms, in two processes."""
    study = open_gait_study(small_settings(tmp_path_factory.mktemp("finished") / "study"))
    study.run(processes=2)
    return study


def test_by_default_it_is_the_papers(tmp_path):
    evaluations = dict.fromkeys(LOCOMOTION_STUDY.published.domains, LOCOMOTION_STUDY.published.evaluations)
    settings = LOCOMOTION_STUDY.settings(tmp_path, evaluations)
    assert len(settings.plans()) == 10 * 4 * 6
    assert set(evaluations) == {"ant", "half_cheetah", "hopper", "walker"}
    assert settings.plans()[0].evaluations == 1_000_000
    assert (settings.plans()[0].episodes, settings.plans()[0].episode_steps) == (10, 1000)
    rates = ABLATION_STUDY.settings(tmp_path, evaluations)
    names = ("alpha-0", "alpha-0.001", "alpha-0.01", "alpha-0.1", "alpha-1")
    assert tuple(variant.name for variant in rates.variants) == names
    assert {variant.method for variant in rates.variants} == {"sep-cma-mae"}
    assert len(rates.plans()) == 10 * 4 * 5


def test_a_folder_keeps_results_for_committing_and_nothing_else(finished):
    folder = finished.folder
    trials = folder / "trials"
    assert (trials / ".gitignore").read_text().splitlines()[-1] == "*/*/"
    names = {str(path.relative_to(trials)) for path in trials.glob("*/*")}
    names_of = ("map-elites-00", "sep-cma-mae-00")
    assert names == {f"hopper/{name}{suffix}" for name in names_of for suffix in ("", ".h5")}
    assert all(path.stat().st_size < 20_000 for path in trials.glob("*/*.h5"))
    assert json.loads((folder / "study.json").read_text())["evaluations"] == {"hopper": 400}


def test_one_trial_at_a_time_with_all_threads_gives_the_same(finished, tmp_path):
    settings = replace(small_settings(tmp_path / "study"), threads=2)
    other = open_gait_study(settings)
    other.run(processes=1)
    expected = results_by_key(finished.results())
    for key, result in results_by_key(other.results()).items():
        assert result.threads == 2
        for name, value in vars(expected[key]).items():
            if name not in {*TIMES, "threads"}:
                np.testing.assert_equal(vars(result)[name], value, err_msg=name)


def test_a_folder_holds_robots_of_several_commands(finished, monkeypatch):
    both = {"hopper": 400, "walker": 200}
    other = open_gait_study(small_settings(finished.folder, evaluations={"walker": 200}))
    assert other.results() == []
    assert results_by_key(other.found()).keys() == results_by_key(finished.results()).keys()
    assert json.loads((finished.folder / "study.json").read_text())["evaluations"] == both
    assert len(open_gait_study(small_settings(finished.folder, evaluations=both)).waiting()) == 2


@pytest.mark.parametrize(
    "changes", [{"evaluations": {"hopper": 600}}, {"seed": 2}, {"episodes": 3}, {"episode_steps": 40}]
)
def test_a_folder_of_another_configuration_is_refused(finished, changes):
    with pytest.raises(InvalidValueError, match=r"holds another study .* choose another folder with --out$"):
        open_gait_study(small_settings(finished.folder, **changes))


def test_a_file_under_another_name_is_refused(finished, tmp_path):
    study = open_gait_study(small_settings(tmp_path))
    (tmp_path / "trials" / "hopper").mkdir()
    source = finished.folder / "trials" / "hopper" / "map-elites-00.h5"
    (tmp_path / "trials" / "hopper" / "map-elites-01.h5").write_bytes(source.read_bytes())
    with pytest.raises(InvalidFileError, match=r"map-elites-01\.h5 holds another trial"):
        study.found()


def test_looking_at_a_folder_makes_nothing(tmp_path):
    study = open_gait_study(small_settings(tmp_path / "none"), dry=True)
    assert len(study.waiting()) == 2
    assert study.found() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["pga-me", "cma-mega-td3-es"])
def test_what_needs_deep_learning_is_named(name: str):
    with pytest.raises(
        InvalidValueError, match=rf"^{name} cannot be run: .*TD3.*: lm-ma-mae, .*, map-elites"
    ):
        algorithm_variants(["sep-cma-mae", name])


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"evaluations": {"hopper": 400, "hoper": 400}},
            UnknownNameError,
            "unknown robot or problem 'hoper'",
        ),
        ({"variants": (Variant("magic", "magic"),)}, UnknownNameError, "unknown algorithm 'magic'"),
        ({"variants": (Variant("a", "cma-mega"),)}, InvalidValueError, "cma-mega needs gradients"),
        (
            {"variants": (Variant("a", "cma-es", 0.5),)},
            InvalidValueError,
            "cma-es has no setting learn",
        ),
        ({"variants": (Variant("a", "sep-cma-mae", 1.5),)}, InvalidValueError, "learning_rate: "),
        ({"evaluations": {"hopper": 10**15}}, InvalidValueError, "evaluations: "),
        ({"episode_steps": 10**9}, InvalidValueError, "episode_steps must be at least 1"),
    ],
)
def test_what_cannot_be_run_is_found_before_anything_is(tmp_path, changes, error, message):
    with pytest.raises(error, match=message):
        check_plans(small_settings(tmp_path, **changes))
    assert list(tmp_path.iterdir()) == []


def test_remarks_are_made_once(tmp_path):
    assert check_plans(small_settings(tmp_path)) == []


@pytest.mark.parametrize(
    ("parallel", "trials", "cores", "expected"),
    [
        (None, 1, 2, (2, 1)),
        (None, 1, 3, (1, 3)),
        ("trials", 1, 3, (3, 1)),
        ("episodes", 9, 2, (1, 2)),
    ],
)
def test_trials_run_side_by_side_if_there_is_one_a_core(tmp_path, parallel, trials, cores, expected):
    settings, processes = share_machine(small_settings(tmp_path, trials=trials), parallel, cores)
    assert (processes, settings.threads) == expected
    assert {plan.threads for plan in settings.plans()} == {expected[1]}

"""The commands as a user types them."""

import csv
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import gymnasium
import numpy as np
import pytest
import yaml
from gymnasium.utils.env_checker import check_env
from PIL import Image

import surefoot
from adapt.damage.library import damage_library
from adapt.damage.text import parse_damage
from adapt.requests import (
    CalibrationRequest,
    CorrectionRequest,
    RecoveryRequest,
    RehearsalRequest,
    StrengtheningRequest,
)
from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.storage.repertoires import read_repertoire
from repertoire.strategies.table import STRATEGIES
from robots.catalogue import MODELS, robot_names
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.facts import robot_facts
from robots.rendering.camera import rendering_problem
from robots.robot import load_robot
from robots.simulation.environment import WalkingEnvironment
from surefoot.commands import demo, main
from surefoot.commands.main import COMMANDS, cli
from surefoot.environments import environment_id
from surefoot.keywords import asked

REQUESTS = {
    "recover": RecoveryRequest,
    "rehearse": RehearsalRequest,
    "strengthen": StrengtheningRequest,
    "calibrate": CalibrationRequest,
    "evaluate": CorrectionRequest,
}
PNG = b"\x89PNG"


def command(name: str) -> click.Command:
    return cli.get_command(click.Context(cli), name)


def test_the_summaries_of_all_commands_lead_to_commands(works) -> None:
    for name in COMMANDS:
        assert command(name).name == name
    assert set(COMMANDS) <= {path.stem for path in Path(main.__file__).parent.glob("*.py")}
    out = works("--help")
    assert all(name in out for name in COMMANDS)
    assert out.count("...") == 1, "more than the usage is cut short"


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_written_once(name: str) -> None:
    """Keywords of functions and options of commands are the fields of requests."""
    function, record = getattr(surefoot, name), REQUESTS[name]
    keywords = inspect.signature(function).parameters
    options = {one.name: one for one in command(name).params}
    assert "settings" not in keywords
    for field, one in record.model_fields.items():
        assert keywords[field].default == one.default
        assert f"\n        {field}: " in function.__doc__
        option = options[field]
        if field != "selector" and type(one.default) in (int, float, str):
            assert option.help
            assert option.default == one.default


def test_options_have_the_types_and_bounds_of_the_fields() -> None:
    assert asked(RecoveryRequest, {"trials": None, "max_falls": None}) == RecoveryRequest()
    for wrong in ({"trails": 3}, {"trials": 0}):
        with pytest.raises(InvalidValueError, match=next(iter(wrong))):
            asked(RecoveryRequest, wrong)
    options = {one.name: one.type for one in command("recover").params}
    assert isinstance(options["objective"], click.Choice)
    assert (options["trials"].min, options["refine"].min) == (1, 0)


def test_algorithms_and_strategies_are_listed(run) -> None:
    out = run("algorithms")[1]
    for name, entry in (ALGORITHMS | STRATEGIES).items():
        assert f"{name} {entry.summary}" in out


def test_show_prints_facts_and_draws(works, work: Path) -> None:
    out = works("show ant --picture archive.png")
    facts = ("QD score", "coverage", "21,256 parameters", "sep-cma-mae, seed 3", "96 of 96", "6 x 6 x 6 x 6")
    assert all(fact in out for fact in facts)
    assert Path("archive.png").read_bytes().startswith(PNG)


def test_deploy_tells_how_a_gait_walks_and_writes_telemetry(run, work: Path) -> None:
    repertoire = read_repertoire(work / "ant" / "repertoire.h5")
    worst = ",".join(map(str, repertoire.cell(int(np.argmin(repertoire.elites.objectives)))))
    choices = ("--best --csv walk.csv", f"--cell {worst}", "--best --damage front_left:lost")
    told = {run(f"deploy ant --seconds 0.5 {choice}")[1].replace("saved walk.csv", "") for choice in choices}
    assert len(told) == 3
    assert all("m ahead" in one for one in told)
    with Path("walk.csv").open() as file:
        assert float(next(csv.DictReader(file))["time [s]"]) == pytest.approx(0.0165)


def test_a_policy_without_a_command_is_told_nothing(works) -> None:
    policy = ROOT / "tests/robots/controllers/quadruped_ppo.onnx"
    out = works(f"policy check {policy} --robot quadruped --map sb3")
    assert re.search(r"nothing: it observes no command +2\.[34]\d m/s .* none", out)


def test_deploy_films(works, work: Path) -> None:
    out = works("deploy ant --best --seconds 0.1 --video walk.mp4")
    assert ("note: drawn by ray casting" in out) == (rendering_problem() is not None)
    assert Path("walk.mp4").stat().st_size > 1000


@pytest.mark.slow
def test_the_demo_runs_from_start_to_end_and_draws_without_opengl(works, tmp_path: Path, monkeypatch) -> None:
    small = {
        "RECOVERY": "--trials 3 --think-episodes 20 --refine 80",
        "SECONDS": 0.3,
    }
    for name, value in small.items():
        monkeypatch.setattr(demo, name, value)
    monkeypatch.setattr("robots.rendering.camera.rendering_problem", lambda: "install libegl1")
    out = works(f"demo --out {tmp_path}/demo --evaluations 40")
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert made > {"repertoire.h5", "repertoire.png", "recovery.json", "recovery.png"}
    assert len([name for name in made if name.endswith(".mp4")]) == 3
    assert out.count("install libegl1") == 3


@pytest.mark.parametrize("name", robot_names())
def test_the_facts_of_a_robot_are_told(run, tmp_path: Path, monkeypatch, name: str) -> None:
    (tmp_path / name).mkdir()  # a folder of that name changes nothing
    monkeypatch.chdir(tmp_path)
    out, description = run(f"robots {name}")[1], load_robot(name).description
    assert all(len(line) <= 100 for lines in robot_facts(load_robot(name)).values() for line in lines)
    assert all(word in out for word in (*description.joints, *description.feet, *description.measures))
    for fact in (description.min_objective.value, description.min_objective.published):
        assert fact is None or f"{fact:g}" in out


def test_robots_and_damages_draw_and_say_once_who_drew(run, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("robots.rendering.camera.rendering_problem", lambda: "OpenGL is on holiday")
    red = []
    for line in (
        "robots ant",
        "damages ant --damage back_right:dead",
        "damages ant --damage back_right:lost",
    ):
        code, out, _ = run(f"{line} --picture {tmp_path}/robot.png")
        assert (code, out.count("OpenGL is on holiday")) == (0, 1)
        with Image.open(tmp_path / "robot.png") as picture:
            r, g, b = np.moveaxis(np.asarray(picture.convert("RGB"), float), -1, 0)
        red.append(float(((r > 60) & (g + b < 0.6 * r)).mean()))
    assert red[1] > red[0] + 0.005, "what is damaged is red"
    assert red[2] < red[0] + 0.001, "what is lost is gone"


def test_damages_lists_parts_kinds_and_the_library(run, works) -> None:
    out = works("damages ant")
    for text in ("front_left_hip: -0.698 to 0.698 rad", "PART: LEG, joint=JOINT", "all:weak@0.7"):
        assert text in out
    library = yaml.safe_load(run("damages walker --library")[1].replace(" - ", "\n- "))
    assert library == list(map(str, damage_library(load_robot("walker"))))


def test_the_script_for_slurm_submits_scheduler_workers_and_run(tmp_path: Path) -> None:
    sbatch = tmp_path / "bin/sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text(
        '#!/bin/bash\nprintf \'%s\\n\' "$@" "$DASK_DISTRIBUTED__COMM__TLS__WORKER__KEY" >> jobs\necho 17\n'
    )
    sbatch.chmod(0o700)
    words = {"PATH": f"{sbatch.parent}:{os.environ['PATH']}", "PYTHON": sys.executable}
    asked = {"TIME": "08:00:00", "WORKERS": "50", "CPUS": "8"}
    line = ["bash", str(ROOT / "examples/slurm.sh"), "train", "ant", "--out", "runs/my ant"]
    subprocess.run(line, cwd=tmp_path, env=os.environ | words | asked, check=True, capture_output=True)
    jobs = (tmp_path / "jobs").read_text()
    assert jobs.count("--time=08:00:00\n") == jobs.count(f"{tmp_path}/cluster/key.pem\n") == 3
    assert (tmp_path / "cluster/key.pem").stat().st_mode & 0o077 == 0, "others cannot read the key"
    for text in (
        "--array=1-50\n",
        "--nthreads 8 --memory-limit 4GiB",
        "scancel 17 17",
        r"-m surefoot train ant --out runs/my\ ant",
    ):
        assert text in jobs


ROOT = Path(__file__).parents[2]


@pytest.mark.filterwarnings("default")
def test_the_gait_that_is_asked_for_is_exported(run, tmp_path: Path) -> None:
    gait, folder = tmp_path / "gait.onnx", tmp_path / "v0"
    code, out, _ = run(f"export hexapod --best --onnx {gait} --unitree {folder}")
    assert (code, "saved" in out) == (0, True)
    assert len(yaml.safe_load((folder / "params/deploy.yaml").read_text())["stiffness"]) == 18
    assert (folder / "exported/policy.onnx").is_file()
    best = gait.read_bytes()
    assert run(f"export hexapod --row 5 --onnx {gait} --overwrite")[0] == 0
    assert gait.read_bytes() != best


ANT = "surefoot/QDAnt-v0"
LOST = "front_left:lost"


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_is_registered_and_passes_gymnasiums_check(name: str) -> None:
    check_env(gymnasium.make(environment_id(name)).unwrapped, skip_render_check=True)
    assert environment_id("half_cheetah") == "surefoot/QDHalfCheetah-v0"


def observations(environment: gymnasium.Env) -> list[np.ndarray]:
    """What random actions lead to."""
    rng = np.random.default_rng(0)
    first, _ = environment.reset(seed=1)
    return [first, *(environment.step(rng.uniform(-1, 1, 8))[0] for _ in range(30))]


@pytest.mark.parametrize(
    ("name", "options"), [(ANT, {}), ("surefoot/Robot-v0", {"robot": MODELS / "ant" / "ant.yaml"})]
)
def test_a_damage_breaks_the_robot_of_an_environment(name: str, options: dict) -> None:
    ant = load_robot("ant")
    damaged = gymnasium.make(f"surefoot.environments:{name}", damage=LOST, render_mode="rgb_array", **options)
    expected = WalkingEnvironment(parse_damage(LOST, ant).apply(ant))
    np.testing.assert_array_equal(observations(damaged), observations(expected))
    assert not np.array_equal(observations(damaged), observations(gymnasium.make(ANT)))
    (together,) = gymnasium.make_vec(name, num_envs=1, damage=LOST, **options).reset(seed=1)[0]
    np.testing.assert_array_equal(together, expected.reset(seed=1)[0])
    with pytest.raises(InvalidValueError, match="masked"):
        expected.step(np.ma.masked_array(np.zeros(8), mask=[1] + [0] * 7))


def test_robots_and_damages_that_there_are_not_are_refused() -> None:
    for error, wrong in {
        UnknownNameError: {"damage": "tail:lost"},
        InvalidValueError: {"damage": 3},
        InvalidFileError: {"robot": "snail.yaml"},
    }.items():
        with pytest.raises(error):
            gymnasium.make(ANT, **wrong)

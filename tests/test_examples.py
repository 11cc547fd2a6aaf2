"""The examples run as they stand."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import surefoot
from repertoire.training.runs import start_training
from robots.importing.draft import draft_robot
from robots.link.export import onnx_model, write_onnx
from robots.robot import load_robot
from robots.symmetry import find_symmetry

EXAMPLES = Path(__file__).parent.parent / "examples"
RUNS = {  # its arguments, and what it says
    "explicit_pd.py": ("hexapod 1", "in plain MuJoCo 2"),
    "train_and_recover.py": ("{folder} 160 map-bo", "walk on with the gait of cell"),
    "evaluate_controllers.py": ("20", "best objective"),
    "explore_maze.py": ("{folder} 20", "places reached"),
    "gymnasium_loop.py": ("", "return"),
    "include_ant.py": ("{folder} 0.0002 4 20", "corrected gaits, of "),
    "include_quadruped.py": ("{folder} 0.002 1 2", "rehearsed under 3 conditions"),
    "include_hexapod.py": ("{folder} 0.00005 1 1", "1 gaits, each rehearsed under 96 conditions"),
}
# with tests of their own, or run as a page tells
OTHERS = {"learn_with_sb3.py", "onnx_walk.py", "recover_over_link.py", "unitree_bridge.py"}
QUICK = {"explicit_pd.py", "gymnasium_loop.py"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.name, marks=[] if path.name in QUICK else pytest.mark.slow)
        for path in sorted(EXAMPLES.glob("*.py"))
        if path.name not in OTHERS
    ],
)
def test_an_example(name: str, tmp_path: Path) -> None:
    arguments, expected = RUNS[name]
    words = arguments.format(folder=tmp_path).split()
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *words]
    finished = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert expected in finished.stdout


@pytest.mark.slow
def test_ppo_of_stable_baselines3_learns_on_many_robots(tmp_path: Path) -> None:
    """It is no dependency: `pip install stable-baselines3` to run this."""
    pytest.importorskip("stable_baselines3")
    given = [str(EXAMPLES / "learn_with_sb3.py"), "hopper", "40000"]
    command = [sys.executable, "-W", "error", *given]
    finished = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    words = finished.stdout.split()
    assert float(words[4]) > 1.5 * float(words[2]) > 0, words


@pytest.mark.slow
def test_a_policy_of_ppo_is_its_own_mirror_image_and_learns_on_from_its_file(tmp_path: Path) -> None:
    for module in ("stable_baselines3", "onnxscript"):
        pytest.importorskip(module)
    script = str(EXAMPLES / "learn_with_sb3.py")
    for name, steps, *start in (("first", "8000"), ("second", "0", "", "first.onnx")):
        given = ["quadruped", steps, "16", f"{name}.onnx", "default", "1.0", *start]
        subprocess.run([sys.executable, script, *given], check=True, cwd=tmp_path)
    first, second = (onnxruntime.InferenceSession(tmp_path / f"{name}.onnx") for name in ("first", "second"))
    robot = load_robot("quadruped")
    mirror, seen = find_symmetry(robot), np.random.default_rng(1).normal(size=(5, len(robot.entries), 1))
    for one in seen:
        does, other, again = (
            policy.run(None, {"obs": x.astype(np.float32).T})[0].T
            for policy, x in ((first, one), (first, mirror.observations.of(one)), (second, one))
        )
        assert abs(does).max() > 0.01
        np.testing.assert_allclose(mirror.actions.of(does), other, atol=1e-5)
        np.testing.assert_allclose(again, does, atol=0.005, err_msg="it learns on from there")


@pytest.mark.parametrize(
    "source",
    [
        "hexapod",
        pytest.param("quadruped", marks=pytest.mark.slow),
        pytest.param("network", marks=pytest.mark.slow),
    ],
)
def test_the_example_of_onnx_walks_as_far_as_the_simulation(source: str, tmp_path: Path) -> None:
    """The Hexapod's gait sees nothing, the Quadruped's its heading, and the network all that a draft sees."""
    if source == "network":
        few = {"evaluations": 20, "batch_size": 10, "emitters": 1, "episode_steps": 50}
        gaits = surefoot.train("quadruped", hidden=(8,), **few)
    else:
        gaits = surefoot.load(source)
    name = gaits.robot.description.name
    gait = onnx_model(gaits.robot, gaits.elites.solutions[gaits.best()], gait="best")
    write_onnx(tmp_path / "gait.onnx", gait)
    mjcf = EXAMPLES.parent / f"robots/models/{name}/{name}.xml"
    command = [sys.executable, "-W", "error", EXAMPLES / "onnx_walk.py", tmp_path / "gait.onnx", mjcf, "2"]
    finished = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert finished.stderr == ""
    far = surefoot.deploy(gaits, seconds=2).walk.ahead
    assert float(finished.stdout.split()[0]) == pytest.approx(far, abs=0.1)


def test_the_example_of_onnx_says_in_a_sentence_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "garbage.onnx").write_text("no gait")
    for arguments, message in ((["garbage.onnx", "robot.xml"], "cannot walk"), ([], "it takes a gait")):
        command = [sys.executable, str(EXAMPLES / "onnx_walk.py"), *arguments]
        finished = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert (finished.returncode, finished.stderr.count("\n")) == (2, 1), finished.stderr
        assert message in finished.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "length"), [("lizard", 0.40), ("mule", 0.97), ("octopod", 0.40), ("terrier", 0.60)]
)
def test_a_robot_walks_as_it_is_drafted(model: str, length: float, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "robots" / f"{model}.xml", tmp_path)
    robot = str(draft_robot(tmp_path / f"{model}.xml").path)
    with start_training(robot, "sep-cma-mae", out=tmp_path, evaluations=400, seed=1) as training:
        training.run(None)
        distance = training.progress().metrics.best  # in 5 s, less what drift and turning cost
    assert distance / 5 > length / 12, "a twelfth of its length per second"

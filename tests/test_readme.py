"""The Python and the commands of README and of the pages that it links are what they say."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import surefoot
from adapt.damage.text import parse_damage
from repertoire.evaluation.evaluator import Evaluator
from surefoot.commands.main import COMMANDS

ROOT = Path(__file__).parent.parent
README, PLUGINS = ((ROOT / name).read_text() for name in ("README.md", "docs/tutorials/plugin.md"))
RESULTS = ROOT / "docs" / "results"
CHEAT_SHEET = (ROOT / "docs" / "reference" / "cheat-sheet.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def output(folder: Path, *arguments: str) -> str:
    finished = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=folder)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_python_of_the_readme(tmp_path: Path) -> None:
    assert len(README.splitlines()) <= 120
    readme, sheet = blocks(README, "python"), blocks(CHEAT_SHEET, "python")
    for text in (*readme, *sheet):
        text = text.replace("trials=8", "trials=4, selector='rehearsed'")  # which needs no minute to think
        assert "still on its feet" in output(tmp_path, "-c", text)


def test_the_example_of_a_selector_and_that_of_a_plugin(tmp_path: Path) -> None:
    selector, plugin = blocks(PLUGINS, "python")
    assert output(tmp_path, "-c", selector)
    (tmp_path / plugin.splitlines()[0].removeprefix("# ")).write_text(plugin)
    (command,) = (text for text in blocks(PLUGINS, "sh") if "--plugin" in text)
    assert ":halved" in command
    short = ("--trials", "4", "--refine", "0", "--think-episodes", "9")
    assert "stopped after" in output(tmp_path, "-m", *command.split(), *short)


def test_the_runs_of_the_cheat_sheet_are_made_before_they_are_used() -> None:
    made = {"runs/ant-3"}
    for line in blocks(CHEAT_SHEET, "sh")[0].splitlines():
        used = {run.rstrip(",") for run in re.findall(r"runs/\S+", line)}
        new = set(re.findall(r"--out (runs/\S+)", line))
        assert used - new <= made, line
        made |= new


def test_the_commands_of_the_readme_and_the_cheat_sheet_exist() -> None:
    commands = re.findall(r"^surefoot (\w+)", README + CHEAT_SHEET, re.MULTILINE)
    assert set(commands) == set(COMMANDS)
    targets = set(re.findall(r"^make (\w+)", README, re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text()
    assert targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_the_old_gait_of_the_ant_tips_over_wherever_one_looks(tmp_path: Path) -> None:
    """In deploy, in a film's telemetry and in a recovery's fresh episodes; README says ten of ten."""
    told = json.loads((RESULTS / "demo-ant" / "recovery.json").read_text())
    gaits, row, damage = surefoot.load("ant"), told["incumbent"], told["damage"]
    for seed in (1, 2):
        assert surefoot.deploy(gaits, row, damage=damage, seconds=8, seed=seed).summary().endswith("it falls")
    deployed = ("deploy", "ant", "--best", "--damage", damage, "--seconds", "8")
    assert output(tmp_path, "-m", "surefoot", *deployed).strip().endswith("it falls")
    broken = parse_damage(damage, gaits.robot).apply(gaits.robot)
    with Evaluator(gaits, {"whole": gaits.robot, "broken": broken}, threads=1) as evaluator:
        whole = evaluator.run(np.full(3, row), np.arange(3))
        lame = evaluator.run(np.full(10, row), np.arange(10), robots=np.ones(10, np.int64))
    assert not whole.fell.any()
    np.testing.assert_allclose(whole.distances, told["healthy"]["distance"], atol=2.5)
    assert lame.fell.all()
    assert lame.distances.max() < 1.0


def test_the_story_of_the_ant() -> None:
    told = json.loads((RESULTS / "demo-ant" / "recovery.json").read_text())
    healthy, new = (told[what]["distance"] for what in ("healthy", "recovered"))
    second, fourth = told["trials"][1], told["trials"][3]
    words = " ".join(README.split())
    assert f"An Ant that walks {healthy:.0f} m in 16.5 seconds loses a hind leg" in words
    first = told["trials"][0]["diagnosis"]
    assert told["damage"] == max(first, key=first.__getitem__) == "back_right:lost"
    assert (told["broken"]["falls"], told["broken"]["episodes"]) == (10, 10)
    assert second["refined"]
    assert not second["fell"]
    assert fourth["specialist"] == told["damage"]
    assert fourth["row"] in {gait["parent"] for gait in told["refined"]}
    assert (
        f"made for exactly this damage beforehand and walks {fourth['distance']:.1f} m in the fourth" in words
    )
    assert f"{second['distance']:.1f} m on three legs in the second trial" in words
    assert f"ends with one that makes {new:.1f} m, {new / healthy:.0%} of what the whole robot does" in words

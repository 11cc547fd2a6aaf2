"""The Python, the commands and the figures of README and the pages that it links are what they say."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from suites.recovery.metrics import interquartile_mean, worst_tenth
from suites.recovery.results import BINDING
from surefoot.commands.main import COMMANDS

ROOT = Path(__file__).parent.parent
README, PLUGINS = ((ROOT / name).read_text() for name in ("README.md", "docs/tutorials/plugin.md"))
RESULTS = ROOT / "docs" / "results"
RECOVERY, EARLIER, SPEED = (
    (RESULTS / name).read_text() for name in ("recovery.md", "recovery-earlier.md", "speed.md")
)
CHEAT_SHEET = (ROOT / "docs" / "reference" / "cheat-sheet.md").read_text()
# the rows of the tables of recoveries: study, selector and track, or the folders of simulated studies
FIRST = (
    ("hexapod-relearning", "self-model", "T3"),
    ("hexapod-relearning-gap", "self-model", "T1"),
    ("hexapod-relearning-library", "self-model", "T2"),
    ("hexapod-relearning-library", "self-model", "T3-limb"),
    ("hexapod-relearning-T0", "self-model", "T0"),
    *(("hexapod-rivals", "rehearsed", track) for track in ("T2", "T1", "T3", "T3-limb", "T0")),
    *(
        ("hexapod-rivals", selector, "T3")
        for selector in ("map-bo", "map-bo-tuned", "thompson", "random", "best-first")
    ),
)
SIMULATED = (
    ["hexapod-T4-left-out"],
    ["hexapod-T4-left-out", "hexapod-T4-left-out-seed-5"],
    *([name] for name in ("hexapod-T4", "hexapod-T4-gap", "ant-T4")),
    *([f"hexapod-{track}"] for track in ("T2", "T1", "T3", "T0", "T3-pairs")),
)


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


def test_the_figures_of_the_readme_are_in_the_tables_that_it_links() -> None:
    rows = [row.strip("|").split("|")[1] for row in README.splitlines() if row.endswith("recovery.md) |")]
    known = rows_below(RECOVERY, "| | after 3 trials")
    for row, number in zip(rows, (1, 4, 9), strict=True):
        mean, worst = known[number][-2:]
        assert row.startswith(f" {mean} of the best gait, the worst tenth {worst}"), row
    for row, folder in zip(rows, ("hexapod-relearning-gap", "hexapod-relearning-T0"), strict=False):
        every = pd.read_csv(RESULTS / "recovery-simulated" / folder / "recoveries.csv")
        own = every[(every["rr_0"] < BINDING) & (every["selector"] == "self-model")]
        share, falls = (own["rr_5"] * own["headroom"]).mean(), own["falls_10"].mean()
        told = f"{share:.0%} of the healthy distance, {falls:.1f} falls in the five trials"
        assert told in row, folder
    (speed,) = (row.strip("|").split("|")[1] for row in README.splitlines() if row.endswith("speed.md) |"))
    assert speed.split()[0] == rows_below(SPEED, "| | Ant | Half-Cheetah")[2][0].split()[0]


def rows_below(text: str, header: str) -> list[list[str]]:
    """The cells of the table with this header, without the rows' names."""
    lines = text[text.index(header) :].splitlines()
    rows = lines[2 : next(number for number, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in row.strip("|").split("|")[1:]] for row in rows]


def figures(found: pd.DataFrame, trials: Sequence[int], worst: int) -> list[str]:
    """Interquartile means after numbers of trials, and the mean of the worst tenth after one."""
    last = found[f"rr_{worst}"].to_numpy()
    means = [interquartile_mean(found[f"rr_{count}"].to_numpy()) for count in trials]
    return [f"{value:.2f}" for value in (*means, float(worst_tenth(last)))]


def test_the_table_of_recoveries_is_that_of_its_files() -> None:
    rows = rows_below(RECOVERY, "| | after 3 trials")
    for (folder, selector, track), cells in zip(FIRST, rows, strict=True):
        every = pd.read_csv(RESULTS / "recovery-simulated" / folder / "recoveries.csv")
        of_track = every["track"].str.split().map(lambda tracks, track=track: track in tracks)
        found = every[(every["rr_0"] < BINDING) & (every["selector"] == selector) & of_track]
        trials = [count for count in (3, 5, 10, 20) if f"rr_{count}" in found]
        last = found[f"rr_{trials[-1]}"].to_numpy()
        means = [f"{interquartile_mean(found[f'rr_{count}'].to_numpy()):.2f}" for count in trials]
        expected = [*means, *[""] * (4 - len(trials)), f"{last.mean():.2f}", f"{worst_tenth(last):.2f}"]
        assert cells == expected, (folder, selector, track)


def test_the_table_of_simulated_recoveries_is_that_of_its_files() -> None:
    for folders, cells in zip(
        SIMULATED, rows_below(EARLIER, "| | `self-model`, after 2 trials"), strict=True
    ):
        every = pd.concat(
            pd.read_csv(RESULTS / "recovery-simulated" / name / "recoveries.csv") for name in folders
        )
        binding = every[every["rr_0"] < 0.9]
        of = (binding[binding["selector"] == selector] for selector in ("self-model", "rehearsed"))
        assert cells == [figure for found in of for figure in figures(found, (2, 5), 5)], folders


def test_the_table_next_to_pyribs_is_that_of_its_file() -> None:
    known = json.loads((ROOT / "docs" / "benchmarks" / "strategies.json").read_text())
    variants = ("cma-mae", "lm-ma-mae", "sep-cma-mae", "openai-mae")
    table = rows_below(SPEED, "| parameters | cma-mae")
    for dimension, cells in zip((100, 1000, 20000), table, strict=True):
        for variant, cell in zip(variants, cells, strict=True):
            ratio = known.get(f"{variant} {dimension}", {}).get("algorithm_ratio")
            assert cell == ("" if ratio is None else f"{ratio:.1f}"), (variant, dimension)


@pytest.mark.parametrize("robot", ["ant", "half_cheetah", "hopper", "walker"])
def test_the_table_of_speeds_is_that_of_its_file(robot: str) -> None:
    known = json.loads((ROOT / "docs" / "benchmarks" / "simulation.json").read_text())[robot]
    column = ["ant", "half_cheetah", "hopper", "walker"].index(robot)
    rows = rows_below(SPEED, "| | Ant | Half-Cheetah")
    steps, shares, peer, hours, threads, drag, training = (row[column] for row in rows)
    assert float(steps.replace(",", "")) == pytest.approx(known["closed_loop_steps_per_s"], rel=0.01)
    of_raw = known["closed_loop_to_raw"], known["closed_loop_to_raw_one_thread"]
    assert shares == ", ".join(f"{share:.2f}" for share in of_raw)
    assert float(peer.split()[0]) == pytest.approx(known["closed_loop_to_pybullet_per_core"], abs=0.06)
    assert drag == f"{known['time_with_drag_to_without']:.2f}"
    assert threads == f"{known['all_cores_to_one_thread']:.2f}"
    share, memory = known["training_share_in_simulation"], known["training_peak_memory_gb"]
    assert training == f"{share:.0%}, {memory:.2f} GB"
    low, high = re.search(r"compiles for (\d+) to (\d+) s", SPEED).groups()  # type: ignore[union-attr]
    assert int(low) - 0.5 <= known["first_use_seconds"] <= int(high) + 0.5
    tutorial = (ROOT / "docs" / "tutorials" / "train.md").read_text()
    told = next(line for line in tutorial.splitlines() if line.endswith(" h |")).strip("| ").split(" | ")
    assert told[column] == f"{known['million_full_episodes_hours']:.1f} h"
    assert float(hours.split()[0]) == pytest.approx(known["million_full_episodes_hours"], abs=0.06)


def test_the_story_of_the_ant() -> None:
    told = json.loads((RESULTS / "demo-ant" / "recovery.json").read_text())
    healthy, new = (told[what]["distance"] for what in ("healthy", "recovered"))
    second = told["trials"][1]
    words = " ".join(README.split())
    assert f"An Ant that walks {healthy:.0f} m in 16.5 seconds loses a hind leg" in words
    first = told["trials"][0]["diagnosis"]
    assert told["damage"] == max(first, key=first.__getitem__) == "back_right:lost"
    assert (told["broken"]["falls"], told["broken"]["episodes"]) == (10, 10)
    assert not second["fell"]
    assert f"{second['distance']:.1f} m on three legs in the second trial" in words
    assert f"ends with one that makes {new:.1f} m, {new / healthy:.0%} of what the whole robot does" in words

"""The examples run as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
ARGUMENTS = {
    "train_and_recover.py": ["{folder}", "160"],
    "evaluate_controllers.py": ["20"],
    "explore_maze.py": ["{folder}", "20"],
    "include_ant.py": ["{folder}", "0.0002", "60", "20"],
    "rehearse_hexapod.py": ["{folder}", "0.0001", "2"],
}
EXPECTED = {
    "train_and_recover.py": "walk on with the gait of cell",
    "evaluate_controllers.py": "best objective",
    "explore_maze.py": "places reached",
    "gymnasium_loop.py": "return",
    "include_ant.py": "corrected gaits, of ",
    "rehearse_hexapod.py": "2 gaits, each rehearsed under 96 conditions",
}


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example(name: str, tmp_path: Path) -> None:
    arguments = [argument.format(folder=tmp_path) for argument in ARGUMENTS.get(name, [])]
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert EXPECTED[name] in finished.stdout

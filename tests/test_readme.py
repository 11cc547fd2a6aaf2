"""The Python and the commands of README and CONTRIBUTING are what they say."""

import re
import subprocess
import sys
from pathlib import Path

from surefoot.commands.main import COMMANDS

README, CONTRIBUTING = (
    (Path(__file__).parent.parent / name).read_text() for name in ("README.md", "CONTRIBUTING.md")
)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def output(folder: Path, *arguments: str) -> str:
    finished = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=folder)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_python_of_the_readme(tmp_path: Path) -> None:
    walking, optimising = blocks(README, "python")
    assert "still on its feet" in output(tmp_path, "-c", walking)
    assert "range(500)" in optimising
    assert output(tmp_path, "-c", optimising.replace("range(500)", "range(5)"))
    assert len(optimising.splitlines()) <= 12
    assert (tmp_path / "rastrigin.png").exists()


def test_the_example_of_a_selector_and_that_of_a_plugin(tmp_path: Path) -> None:
    selector, plugin = blocks(CONTRIBUTING, "python")
    assert output(tmp_path, "-c", selector)
    (tmp_path / plugin.splitlines()[0].removeprefix("# ")).write_text(plugin)
    (command,) = (text for text in blocks(CONTRIBUTING, "sh") if "--plugin" in text)
    assert ":halved" in command
    assert "stopped after" in output(tmp_path, "-m", *command.split(), "--trials", "4")


def test_the_runs_of_the_readme_are_made_before_they_are_used() -> None:
    made = {"runs/ant-3"}
    for line in blocks(README, "sh")[1].splitlines():
        used = {run.rstrip(",") for run in re.findall(r"runs/\S+", line)}
        new = set(re.findall(r"--out (runs/\S+)", line))
        assert used - new <= made, line
        made |= new


def test_the_commands_of_the_readme_exist() -> None:
    commands = re.findall(r"^surefoot (\w+)", README, re.MULTILINE)
    assert set(commands) == set(COMMANDS) - {"demo"}
    targets = set(re.findall(r"^make (\w+)", README, re.MULTILINE))
    makefile = (Path(__file__).parent.parent / "Makefile").read_text()
    assert targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)

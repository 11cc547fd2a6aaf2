"""The README's Python runs as it stands, but for a smaller budget."""

import re
import subprocess
import sys
from pathlib import Path

from surefoot.commands.main import COMMANDS

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_python_of_the_readme(tmp_path: Path) -> None:
    walking, optimising = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    for code, old, new in (
        (walking, "evaluations=2000", "evaluations=1, episode_steps=40"),
        (optimising, "range(500)", "range(5)"),
    ):
        assert old in code
        finished = subprocess.run(
            [sys.executable, "-c", code.replace(old, new)], capture_output=True, text=True, cwd=tmp_path
        )
        assert finished.returncode == 0, finished.stderr
        assert finished.stdout
    assert len(optimising.splitlines()) <= 12
    assert (tmp_path / "rastrigin.png").exists()


def test_the_commands_of_the_readme_exist() -> None:
    commands = re.findall(r"^surefoot (\w+)", README, re.MULTILINE)
    assert set(commands) == set(COMMANDS) - {"demo"}
    targets = set(re.findall(r"^make (\w+)", README, re.MULTILINE))
    makefile = (Path(__file__).parent.parent / "Makefile").read_text()
    assert targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)

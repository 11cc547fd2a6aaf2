"""The shell and Python blocks of the quickstart and the tutorials run, in order, with small numbers.

A block that is not run says why in a comment above it: `<!-- not run: takes hours -->`.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from surefoot.commands.main import cli

DOCS = Path(__file__).parent.parent / "docs"
PAGES = (
    "quickstart.md",
    *(
        f"tutorials/{name}.md"
        for name in ("train", "recover", "own-problem", "cluster", "paper", "onto-a-robot")
    ),
)
BLOCK = re.compile(r"(?:<!-- not run: ([^>]+) -->\n)?^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SMALL = {  # of commands and of Python, so that a page takes seconds
    r"train ant --evaluations 20000": "train ant --evaluations 40 --emitters 2 --batch-size 20 --hidden 8 "
    "--episode-steps 40",
    r"--domains sphere-100 --evaluations 4000": "--domains sphere-20 --evaluations 400 "
    "--algorithms map-elites,sep-cma-mae",
    r"--think-episodes 300": "--think-episodes 40 --refine 0 --trials 4",
    r"recover hexapod --damage (\S+) --out": r"recover hexapod --damage \1 --trials 4 --out",
    r"seed=1, table=table": "seed=1, table=table, trials=4",
    r"--seconds 2 ": "--seconds 0.2 ",
    r"range\(500\)": "range(5)",
}


def small(text: str) -> str:
    for long, short in SMALL.items():
        text = re.sub(long, short, text)
    return text


def run_shell(text: str) -> None:
    """Run each command of a block; there are only those of surefoot."""
    for line in small(text).splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "surefoot", line
        cli.main(arguments, standalone_mode=False)


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    names: dict[str, Any] = {}
    found = BLOCK.findall((DOCS / page).read_text())
    assert any(not reason for reason, _, _ in found)
    for reason, language, text in found:
        if reason:
            continue
        if language == "sh":
            run_shell(text)
        else:
            exec(small(text), names)

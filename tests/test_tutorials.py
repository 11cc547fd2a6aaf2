"""The pages of the documentation: their shell and Python blocks run, in order, with small numbers.

A block that is not run says why in a comment above it: `<!-- not run: takes hours -->`.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from surefoot.commands.main import cli
from surefoot.shipped import repertoire_path

DOCS = Path(__file__).parent.parent / "docs"
PAGES = (
    "quickstart.md",
    *(
        f"tutorials/{name}.md"
        for name in ("train", "recover", "own-problem", "cluster", "paper", "onto-a-robot")
    ),
    *(f"reference/{name}.md" for name in ("format", "observations", "robots")),
)
# other tests run these: tests/robots/importing/test_own_robot_docs.py and tests/test_readme.py
ELSEWHERE = ("tutorials/own-robot.md", "tutorials/plugin.md", "reference/cheat-sheet.md")
INCLUDED = ("changes.md", "contributing.md")  # files of the repository's root
BLOCK = re.compile(r"(?:<!-- not run: ([^>]+) -->\n)?^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SMALL = {  # of commands and of Python, so that a page takes seconds
    r"train ant --evaluations 20000": "train ant --evaluations 40 --emitters 2 --batch-size 20 --hidden 8 "
    "--episode-steps 40",
    r"--domains sphere-100 --evaluations 4000": "--domains sphere-20 --evaluations 400 "
    "--algorithms map-elites,sep-cma-mae",
    r"--think-episodes 300": "--refine 0 --trials 4 --think-episodes 40",
    r"recover hexapod --damage (\S+) --out": r"recover hexapod --damage \1 --think-episodes 40 --refine 40 "
    "--trials 2 --out",
    r"seed=1, table=table": "seed=1, trials=4, table=table",
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
    Path("repertoire.h5").symlink_to(repertoire_path("hexapod"))
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


def all_pages() -> list[str]:
    """Pages that people wrote; reports of studies, in folders of `results`, are written by commands."""
    pages = (path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
    return sorted(str(page) for page in pages if len(page.parts) < 3 and "_build" not in page.parts)


@pytest.mark.parametrize("page", all_pages())
def test_a_page_says_who_needs_it_and_why_its_blocks_are_not_run(page: str) -> None:
    text = (DOCS / page).read_text()
    if page in INCLUDED:
        return
    title, *lines = (line for line in text.splitlines() if line)
    assert title.startswith("# ")
    assert re.search(r"\b(Read (this|these)|Look here)\b", " ".join(lines[:3])), lines[:3]
    assert not re.search(r"^```(bash|shell|console|py)$", text, re.MULTILINE)
    assert not re.search(r"^```\n(surefoot|python|pip|make|nohup|import|from|#SBATCH) ?", text, re.MULTILINE)
    assert not re.search(
        r"^    (surefoot|python|pip|import|from) ",
        re.sub(r"^```.*?^```", "", text, flags=re.M | re.S),
        re.MULTILINE,
    )
    if page not in PAGES + ELSEWHERE:
        assert all(reason for reason, _, _ in BLOCK.findall(text))

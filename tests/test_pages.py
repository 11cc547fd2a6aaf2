"""Commands and options of README and the documentation exist, Python compiles, and most blocks run.

A block of the documentation that is not run says why in a comment above it: `<!-- not run: takes hours -->`.
"""

import re
import shlex
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import matplotlib
import pytest

import surefoot
from surefoot.commands.main import COMMANDS, cli
from surefoot.shipped import repertoire_path
from tests.robots.controllers.test_policy import policy
from tests.robots.link.test_link import free_port

ROOT, ONTO, PORT = Path(__file__).parent.parent, "docs/tutorials/onto-a-robot.md", free_port()
RUN = [
    "README.md",
    "docs/quickstart.md",
    *(
        f"docs/tutorials/{name}.md"
        for name in ("train", "recover", "own-problem", "plugin", "cluster", "paper", "own-policy")
    ),
    ONTO,
    *(f"docs/reference/{name}.md" for name in ("cheat-sheet", "format", "observations", "robots")),
]
OWN_ROBOT = "docs/tutorials/own-robot.md"  # which tests/robots/importing runs
# what people wrote; reports of studies, in folders of `results`, are written by commands
PAGES = [
    "README.md",
    *sorted(
        str(path.relative_to(ROOT))
        for folder in (".", "explanations", "reference", "results", "tutorials")
        for path in (ROOT / "docs" / folder).glob("*.md")
    ),
]
BLOCK = re.compile(r"(?:<!-- not run: ([^>]+) -->\n)?^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SMALL = {  # of commands and of Python, so that a page takes seconds
    r"train ant --evaluations 20000": "train ant --evaluations 40 --emitters 2 --batch-size 20 --hidden 8 "
    "--episode-steps 40",
    r"--domains sphere-100 --evaluations 4000": "--domains sphere-20 --evaluations 400 "
    "--algorithms map-elites,sep-cma-mae",
    r"--think-episodes 300": "--refine 0 --trials 4 --think-episodes 40",
    r"recover hexapod --damage (\S+one-sided)": r"recover hexapod --damage \1 --trials 4 --refine 0 "
    "--think-episodes 9",
    r"recover hexapod --damage (\S+) --out": r"recover hexapod --damage \1 --think-episodes 40 --refine 40 "
    "--trials 2 --out",
    r"(\s+)trials=8": r"\1trials=4, selector='rehearsed'",  # which needs no minute to think
    r"seed=1, table=table": "seed=1, trials=4, table=table",
    r"--seconds 2 ": "--seconds 1 ",
    r"range\(500\)": "range(5)",
    r"evaluations=5000": "evaluations=16, emitters=1, batch_size=8",
    r'"FR:lost"': '"front_right:lost", trials=2',
    r"--goal 4,0 (--robot)": r"--goal 0.4,0 \1",
    r"(over_link.py tcp://127.0.0.1:6000)": r"\1 2 60",
    r"tcp://127.0.0.1:6000": f"tcp://127.0.0.1:{PORT}",
    r"--serve": f"--serve tcp://127.0.0.1:{PORT}",
}


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Why it is not run, language and text of each block."""
    return BLOCK.findall((ROOT / page).read_text())


def commands(page: str) -> list[list[str]]:
    """The words of each line that calls surefoot."""
    lines = (line for _, language, text in blocks(page) if language == "sh" for line in text.splitlines())
    split = (shlex.split(line.removesuffix("&"), comments=True) for line in lines)
    return [words[1:] for words in split if words[:1] == ["surefoot"]]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_have_the_options_that_it_gives_them(page: str) -> None:
    for words in commands(page):
        command: click.Command = cli
        while isinstance(command, click.Group):
            context = click.Context(command)
            _, rest, _ = command.make_parser(context).parse_args(list(words))
            assert rest, words
            if (found := command.get_command(context, rest[0])) is None:
                break  # options without a command
            command, words = found, rest[1:]
        command.make_parser(click.Context(command, **command.context_settings)).parse_args(list(words))


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_compiles_and_names_what_surefoot_has(page: str) -> None:
    for reason, language, text in blocks(page):
        if language == "python":
            compile(text, page, "exec")
            assert set(re.findall(r"\bsurefoot\.(\w+)\(", text)) <= set(dir(surefoot))
        assert reason or page in (*RUN, OWN_ROBOT), "say why it is not run"


def test_the_cheat_sheet_has_every_command() -> None:
    assert {words[0] for words in commands("docs/reference/cheat-sheet.md")} == set(COMMANDS)


def run_block(language: str, text: str, names, robots: ExitStack) -> None:
    """Run Python, or each command of a block; a robot that is served goes on until the next one is."""
    for long, short in SMALL.items():
        text = re.sub(long, short, text)
    if language == "python":
        exec(text, names)
        return
    for line in text.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        if "--serve" in arguments:
            robots.close()
            robots.enter_context(served(arguments))
        elif program == "python" or arguments[0] == "--plugin":  # which would stay registered
            start = sys.executable if program == "python" else f"{sys.executable} -m surefoot"
            line = line.replace(program, start, 1)
            subprocess.run(line, shell=True, check=True)
        else:
            assert program == "surefoot", line
            assert not cli.main(arguments, standalone_mode=False), line


@contextmanager
def served(arguments: list[str]):
    """A robot in another terminal."""
    with subprocess.Popen([sys.executable, "-m", "surefoot", *arguments], stdout=subprocess.PIPE) as robot:
        assert b"listens" in robot.stdout.readline()
        yield
        robot.send_signal(signal.SIGINT)
        assert b" control steps, begun late by " in robot.communicate()[0]


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.real_time if page == ONTO else pytest.mark.slow]) for page in RUN],
)
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("repertoire.h5").symlink_to(repertoire_path("hexapod"))
    for folder in ("examples", "robots"):
        Path(folder).symlink_to(ROOT / folder)
    if page.endswith("own-policy.md"):  # the files that it asks for
        for file in (ROOT / "robots/models/quadruped").iterdir():
            Path(file.name.replace("quadruped.yaml", "robot.yaml")).write_bytes(file.read_bytes())
        Path("policy.onnx").write_bytes(policy(48))
    matplotlib.use("agg")
    names = {}
    with ExitStack() as robots:
        for reason, language, text in blocks(page):
            if reason or (page == "README.md" and language == "sh"):
                continue
            if file := re.match(r"# (\w+\.py)\n", text):
                Path(file[1]).write_text(text)
            else:
                run_block(language, text, names, robots)

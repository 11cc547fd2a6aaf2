"""A soak test: train, rehearse, evaluate and recover while being killed, for hours.

A case is a small run and what follows from it. Each of its commands runs in this process without disturbance,
and again in processes that are killed at random moments and started anew until they finish. Both must leave
the same files, byte for byte, and nothing else. Memory and open files of this process show leaks.
"""

import io
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from robots.errors import SurefootError
from robots.files.atomic import make_folder
from surefoot.commands.main import cli

_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_ASSUMED_SECONDS = 3.0  # of a process, until one has finished
_MOST_KILLS = 5  # of a command, which then may finish
_HUNG_SECONDS = 900.0
_SETTLED = 20  # cases, after which everything is compiled and memory should grow no more
_INTRUSIONS = 0.15  # share of training processes into whose folder another one is sent
_TRAINING = ("--threads", 1, "--checkpoint-seconds", 0)
_ROBOTS = ("hopper", "walker", "half_cheetah", "ant")
_LEARNING = ("--critic-updates", 5, "--buffer-size", 3000)
_SEARCHES: dict[str, tuple[object, ...]] = {  # algorithms for robots, with what keeps them short
    "cma-mae": (),
    "lm-ma-mae": (),
    "sep-cma-mae": (),
    "openai-mae": (),
    "cma-me": (),
    "cma-es": (),
    "map-elites": (),
    "map-elites-line": (),
    "me-es": (),
    "cma-mega-es": ("--gradient-samples", 20),
    "cma-mega-td3-es": ("--gradient-samples", 20, "--critic-samples", 500, *_LEARNING),
    "pga-me": ("--gradient-steps", 3, *_LEARNING),
}
_DAMAGES = "- all:weak@0.5\n- floor:friction@0.4\n"

Say = Callable[[str], None]


@dataclass
class Figures:
    """What a soak has found so far.

    Attributes:
        seed: from which all cases derive.
        minutes: for which it has run.
        cases: compared.
        different: numbers of the cases whose files differ from those of the undisturbed run.
        complaints: what processes said that they should not have, each with its case.
        kills: of processes, by signal.
        continued: processes that went on after a kill.
        seconds: that the last process of each command took that was not killed, for the moments of kills.
        refused: processes that were sent into the folder of a run that was under way, and were refused.
        memory: resident memory of this process after each case [MB].
        open_files: of this process after each case.
    """

    seed: int
    minutes: float = 0.0
    cases: int = 0
    different: list[int] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    continued: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    refused: int = 0
    memory: list[float] = field(default_factory=list)
    open_files: list[int] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """All figures, the last two by what they were once all was compiled, are now, and were at most."""
        settled = min(_SETTLED, len(self.memory)) - 1
        series = {
            name: {"settled": values[settled], "now": values[-1], "most": max(values)}
            for name, values in (("memory", self.memory), ("open_files", self.open_files))
        }
        return vars(self) | {"kills": dict(self.kills), "kills_in_all": self.kills.total()} | series

    @property
    def clean(self) -> bool:
        """Whether nothing went wrong."""
        return not self.different and not self.complaints


def soak(*, minutes: float, seed: int, folder: Path, say: Say, save: Callable[[Figures], None]) -> Figures:
    """Run cases for so many minutes, at least one.

    Args:
        minutes: after which no further case begins.
        seed: from which all cases derive.
        folder: to work in; cases whose files differ are left there.
        say: called with a line for every case.
        save: called with the figures after every case.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # or processes would inherit that it is ignored
    figures, started, here = Figures(seed), time.monotonic(), psutil.Process()
    for number in range(1_000_000):
        Case(number, random.Random(f"{seed}/{number}"), folder / f"case-{number}", figures).run()
        figures.minutes = round((time.monotonic() - started) / 60, 2)
        figures.memory.append(round(here.memory_info().rss / 1e6, 1))
        figures.open_files.append(here.num_fds())
        save(figures)
        say(
            f"{figures.minutes:.0f} min, {figures.cases} cases, {figures.kills.total()} kills, "
            f"{len(figures.different)} different, {len(figures.complaints)} complaints, "
            f"{figures.memory[-1]:.0f} MB, {figures.open_files[-1]} open files"
        )
        if figures.minutes >= minutes:
            break
    return figures


class Case:
    """One run with all that follows from it, without and with disturbance.

    Args:
        number: of the case.
        rng: from which everything about it derives but what the machine's speed decides.
        folder: to work in.
        figures: to which it adds.
    """

    def __init__(self, number: int, rng: random.Random, folder: Path, figures: Figures) -> None:
        self.number, self.rng, self.folder, self.figures = number, rng, folder, figures
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder)
        (folder / "damages.yaml").write_text(_DAMAGES)

    def run(self) -> None:
        """Run the commands both ways, and compare; the folder is kept if files differ."""
        for command in self._plan():
            with redirect_stdout(io.StringIO()):
                cli.main(_in_folder(command, self.folder / "whole"), "surefoot", standalone_mode=False)
            self._disturbed(command)
        self.figures.cases += 1
        whole, part = (_contents(self.folder / name) for name in ("whole", "part"))
        if whole == part and "repertoire.h5" in whole:
            shutil.rmtree(self.folder)
        else:
            self.figures.different.append(self.number)

    def _plan(self) -> Iterator[list[object]]:
        """The commands, with RUN for the folder of the run."""
        rng, seed = self.rng, ("--seed", self.rng.randrange(1000))
        algorithm = rng.choice(list(_SEARCHES))
        size = ("--evaluations", rng.randrange(300, 1200), "--emitters", 2, "--batch-size", 16)
        how = ("--algorithm", algorithm, *_SEARCHES[algorithm], *size, *seed, *_TRAINING, "--out", "RUN")
        robot, steps, share = rng.choice(_ROBOTS), rng.randrange(30, 120), rng.choice((0, 0.3))
        damage = () if robot == "hopper" else ("--damage-share", share)  # it has no leg to spare
        models = ("--randomization", rng.choice(("none", "mass=0.8:1.2,delay=0:1,noise=0:0.02,models=3")))
        yield ["train", robot, "--hidden", 8, "--episode-steps", steps, *damage, *models, *how]
        out = ("--threads", 1, *seed)
        again = ("--overwrite", *out)  # if a process is killed between its last file and its end
        damages = self.folder / "damages.yaml"
        yield ["rehearse", "RUN", "--damages", damages, "--episodes", 2, *again]
        where = rng.choice((("--threads", 1), ("--threads", 1), ("--cluster", "local:1")))
        yield ["evaluate", "RUN", "--episodes", rng.randrange(2, 6), "--overwrite", *where, *seed]
        yield [
            "recover",
            "RUN",
            "--damage",
            "all:weak@0.6",
            "--trials",
            8,
            "--selector",
            "map-bo-tuned",
            *again,
        ]

    def _disturbed(self, command: Sequence[object]) -> None:
        """Run a command in processes that are killed, until one finishes."""
        run, name, kills = self.folder / "part", str(command[0]), 0
        for _ in range(4 * _MOST_KILLS):
            if command[0] == "train" and (run / "repertoire.h5").exists():
                command = ["train", "--resume", "RUN", *_TRAINING]
            process, started = _start(_in_folder(command, run)), time.monotonic()
            self.figures.continued += kills > 0
            delay = self.rng.uniform(0, 1.2) * self.figures.seconds.get(name, _ASSUMED_SECONDS)
            number = self.rng.choice(_SIGNALS)
            if command[0] == "train" and self.rng.random() < _INTRUSIONS:
                self._intrude(process, command, run)
            try:
                said = process.communicate(timeout=delay if kills < _MOST_KILLS else _HUNG_SECONDS)[0]
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                said = self._last_words(process)
                kills += 1
                self.figures.kills[number.name] += 1
            else:
                if "is in use by" in said:  # the intruder came first, and may not have said yet who it is
                    continue
                self.figures.seconds[name] = round(time.monotonic() - started, 1)
                self._judge(command, process.returncode, said, expected=[0])
                return
            # 1 comes from a Python that was only starting, 0 from a command that saved or was about to end
            self._judge(
                command,
                process.returncode,
                said,
                expected=(-number, -signal.SIGINT, -signal.SIGALRM, 130, 1, 0),
            )
        self.figures.complaints.append(f"case {self.number}: {command[0]} never finished")

    def _last_words(self, process: "subprocess.Popen[str]") -> str:
        """What a process said until it ended, which it must."""
        try:
            return process.communicate(timeout=_HUNG_SECONDS)[0]
        except subprocess.TimeoutExpired:
            self.figures.complaints.append(f"case {self.number}: {process.args!r} went on for ever")
            process.kill()
            return process.communicate()[0]

    def _judge(self, command: Sequence[object], code: int, said: str, *, expected: Sequence[int]) -> None:
        """Note what a process should not have said or returned."""
        # neither of a Python that only starts, nor of an interrupt that fell into a callback of a library
        traceback = "Traceback" in said and "surefoot/commands" in said and "Exception ignored" not in said
        if traceback or code not in expected:
            words = " ".join(map(str, command))
            self.figures.complaints.append(f"case {self.number}: {words} ended with {code}: {said[-2000:]}")

    def _intrude(self, process: "subprocess.Popen[str]", command: Sequence[object], run: Path) -> None:
        """Send another process into the folder of a run that is under way."""
        while process.poll() is None and not (run / ".repertoire.h5.lock").exists():
            time.sleep(0.01)
        more = [] if "--resume" in command else ["--overwrite"]
        intruder = _start([*_in_folder(command, run), *more])
        said = intruder.communicate(timeout=_HUNG_SECONDS)[0]
        refused = f"is in use by process {process.pid} on" in said
        self.figures.refused += refused
        self._judge(command, intruder.returncode, said, expected=[2 if refused else 0])


def _in_folder(command: Sequence[object], run: Path) -> list[str]:
    """The words of a command in the folder of a run."""
    return [str(run) if word == "RUN" else str(word) for word in command]


def _start(words: Sequence[str]) -> "subprocess.Popen[str]":
    """Start a command in a process of its own; what it prints and complains of comes out of one pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "surefoot", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )


def _contents(folder: Path) -> dict[str, bytes]:
    """What a folder holds, hidden files included."""
    if not folder.is_dir():
        raise SurefootError(f"{folder} is gone, in which a soak works")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

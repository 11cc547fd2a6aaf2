"""A soak test: train, rehearse, evaluate and recover while being killed, for as long as asked.

Each command runs once without disturbance, and again in processes that are killed at random moments and
started anew until one finishes. Both must leave the same files, byte for byte, and nothing else.
"""

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from robots.errors import SurefootError
from robots.files.atomic import make_folder, write_text

_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_HUNG_SECONDS = 900.0
_TRAINING = ("--threads", 1, "--checkpoint-seconds", 0)
_LEARNING = ("--critic-updates", 5, "--buffer-size", 3000)
_SEARCHES: dict[str, tuple[object, ...]] = {  # algorithms for robots, with what keeps them short
    **dict.fromkeys(
        ("cma-mae", "lm-ma-mae", "sep-cma-mae", "openai-mae", "cma-me", "map-elites", "me-es"), ()
    ),
    "cma-mega-es": ("--gradient-samples", 20),
    "pga-me": ("--gradient-steps", 3, *_LEARNING),
}
_DAMAGES = "- all:weak@0.5\n- floor:friction@0.4\n"


def soak(*, minutes: float, seed: int, folder: Path, kills: int, say: Callable[[str], None]) -> None:
    """Run cases for so many minutes, at least one.

    Args:
        minutes: after which no further case begins.
        seed: from which all cases derive, but for the moments of kills, which depend on the machine's speed.
        folder: to work in; the last case is left there if its files differ.
        kills: of the processes of a command at most.
        say: called with a line for every case.

    Raises:
        SurefootError: files differ, or a process ended as it should not.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # or processes would inherit that it is ignored
    started = time.monotonic()
    for number in count():
        rng, done = random.Random(f"{seed}/{number}"), 0
        make_folder(folder)
        write_text(folder / "damages.yaml", _DAMAGES)
        for command in _plan(rng, folder):
            seconds = _finish(command, folder / "whole", rng, {0})
            done += _disturb(command, folder / "part", rng, kills, seconds)
        whole, part = (
            {path.name: path.read_bytes() for path in (folder / name).iterdir()} for name in ("whole", "part")
        )
        if whole != part or "repertoire.h5" not in whole:
            raise SurefootError(
                f"case {number} of seed {seed} left other files than undisturbed: see {folder}"
            )
        shutil.rmtree(folder)
        spent = (time.monotonic() - started) / 60
        say(f"{spent:.0f} min: case {number} was killed {done} times and left the same {len(whole)} files")
        if spent >= minutes:
            return


def _plan(rng: random.Random, folder: Path) -> Iterator[list[object]]:
    """The commands of a case, with RUN for the folder of the run."""
    seed, algorithm = ("--seed", rng.randrange(1000)), rng.choice(list(_SEARCHES))
    size = ("--evaluations", rng.randrange(300, 900), "--emitters", 2, "--batch-size", 16, "--hidden", 8)
    steps = ("--episode-steps", rng.randrange(30, 120), "--randomization")
    models = rng.choice(("none", "mass=0.8:1.2,delay=0:1,noise=0:0.02,models=3"))
    how = ("--algorithm", algorithm, *_SEARCHES[algorithm], *size, *steps, models, *seed, *_TRAINING)
    yield ["train", rng.choice(("hopper", "walker", "half_cheetah", "ant")), *how, "--out", "RUN"]
    again = ("--overwrite", *seed)  # if a process is killed between its last file and its end
    yield ["rehearse", "RUN", "--damages", folder / "damages.yaml", "--episodes", 2, "--threads", 1, *again]
    where = rng.choice((("--threads", 1), ("--threads", 1), ("--cluster", "local:1")))
    yield ["evaluate", "RUN", "--episodes", rng.randrange(2, 6), *where, *again]
    tried = ("--trials", 8, "--selector", "map-bo-tuned", "--threads", 1)
    yield ["recover", "RUN", "--damage", "all:weak@0.6", *tried, *again]


def _disturb(command: list[object], run: Path, rng: random.Random, kills: int, seconds: float) -> int:
    """Run a command in processes that are killed, until one finishes; returns how many were."""
    for killed in range(kills + 1):
        if command[0] == "train" and (run / "repertoire.h5").exists():
            command = ["train", "--resume", "RUN", *_TRAINING]
        number = rng.choice(_SIGNALS) if killed < kills else None
        # 1 comes from a Python that was only starting, 0 from a command that saved or was about to end
        fine = {0} if number is None else {0, 1, 130, -number, -signal.SIGINT}
        if _finish(command, run, rng, fine, number, seconds) > 0:
            return killed
    raise AssertionError("the last process is not killed")


def _finish(
    command: list[object],
    run: Path,
    rng: random.Random,
    fine: set[int],
    number: signal.Signals | None = None,
    seconds: float = _HUNG_SECONDS,
) -> float:
    """Run a command, which a signal may end at some moment; returns how long it took [s], 0 if killed."""
    words = [str(run) if word == "RUN" else str(word) for word in command]
    started, delay = time.monotonic(), rng.uniform(0, 1.2) * seconds if number else _HUNG_SECONDS
    process = subprocess.Popen(
        [sys.executable, "-m", "surefoot", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    killed = False
    try:
        said = process.communicate(timeout=delay)[0]
    except subprocess.TimeoutExpired:
        killed = True
        process.send_signal(number or signal.SIGKILL)
        said = process.communicate(timeout=_HUNG_SECONDS)[0]
    # a Python that only starts may show a traceback, and so may an interrupt in a callback of a library
    shown = "Traceback" in said and "surefoot/commands" in said and "Exception ignored" not in said
    if shown or process.returncode not in (fine if killed else {0}):
        raise SurefootError(f"{' '.join(words)} ended with {process.returncode}: {said[-2000:]}")
    return 0.0 if killed else time.monotonic() - started

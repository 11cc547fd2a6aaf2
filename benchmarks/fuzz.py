"""Fuzzing: a changed file of any kind must be read as what it holds, or be refused in one sentence.

Case n of a seed is always the same change of the same file, so that it can be repeated alone. Cases run in
processes with limited memory. A case that takes too long or whose process dies is a failure, like one that
raises anything but `SurefootError`. The files of failures are kept.
"""

import multiprocessing
import resource
import shutil
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.subjects import SUBJECTS, make_corpus
from robots.errors import SurefootError
from robots.files.atomic import make_folder

_SECONDS = 300.0  # for a case, on a machine that may be busy
_MEMORY = 4 * 2**30  # [bytes] of address space for a process
_REPORTED = 1000  # cases between two reports
_LONGEST = 2100  # characters of a refusal


class Outcome(NamedTuple):
    """How a case ended.

    Attributes:
        subject: the kind of file.
        failure: what went wrong, "" if nothing did.
        accepted: whether the file was read.
        seconds: it took [s].
        memory: the largest resident memory of the process so far [MB].
    """

    subject: str
    failure: str = ""
    accepted: bool = False
    seconds: float = 0.0
    memory: float = 0.0


@dataclass
class Figures:
    """What a fuzzing found.

    Attributes:
        seed: from which all cases derive.
        cases: that ran.
        minutes: they took.
        accepted: cases whose file was read, by kind of file.
        refused: cases whose file was refused in a sentence, by kind of file.
        failures: what went wrong, by number of the case.
        slowest: the longest that a case took [s].
        memory: the largest resident memory of a process [MB].
    """

    seed: int
    cases: int = 0
    minutes: float = 0.0
    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)
    slowest: float = 0.0
    memory: float = 0.0

    def count(self, number: int, outcome: Outcome) -> None:
        """Count a case."""
        self.cases += 1
        self.slowest, self.memory = max(self.slowest, outcome.seconds), max(self.memory, outcome.memory)
        if outcome.failure:
            self.failures[number] = f"{outcome.subject}: {outcome.failure}"
        else:
            (self.accepted if outcome.accepted else self.refused)[outcome.subject] += 1


def fuzz(
    numbers: Sequence[int],
    *,
    seed: int,
    processes: int = 1,
    kept: Path | None = None,
    say: Callable[[str], None] = print,
) -> Figures:
    """Run cases.

    Args:
        numbers: of the cases.
        seed: from which they derive.
        processes: among which they are divided.
        kept: folder for the files of cases that fail.
        say: is told of failures.
    """
    figures, started = Figures(seed), time.monotonic()

    def run(share: list[int]) -> None:
        while share:
            for outcome in _outcomes(Path(folder), seed, share):
                number = share.pop(0)
                figures.count(number, outcome)
                if figures.cases % _REPORTED == 0:
                    say(f"{figures.cases:,} cases, {len(figures.failures)} failures")
                if outcome.failure:
                    say(f"case {number} of seed {seed}: {figures.failures[number]}")
                    if kept is not None:
                        _keep(Path(folder), seed, number, kept)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(processes) as pool:
        make_corpus(Path(folder))
        list(pool.map(run, (list(numbers[first::processes]) for first in range(processes))))
    figures.minutes = (time.monotonic() - started) / 60
    return figures


def attempt(corpus: Path, seed: int, number: int) -> Outcome:
    """Run a case in this process."""
    name, folder = _subject_of(number), Path(tempfile.mkdtemp())
    started, failure, accepted = time.monotonic(), "", False
    try:
        prepare(corpus, folder, seed, number)
        SUBJECTS[name].read(folder)
        accepted = True
    except SurefootError as error:
        if "\n" in str(error) or len(str(error)) > _LONGEST:
            failure = f"a refusal of {len(str(error))} characters: {str(error)[:200]!r}"
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        failure = f"{type(error).__name__}: {str(error)[:300]} ({last.filename}:{last.lineno})"
    finally:
        shutil.rmtree(folder)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Outcome(name, failure, accepted, time.monotonic() - started, memory)


def _subject_of(number: int) -> str:
    return list(SUBJECTS)[number % len(SUBJECTS)]


def prepare(corpus: Path, folder: Path, seed: int, number: int) -> None:
    """Put the files of a case into a folder, one of them changed."""
    subject = SUBJECTS[_subject_of(number)]
    for name in (subject.file, *subject.others):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(corpus / name, folder / name)
    subject.change(folder, np.random.default_rng([seed, number]))


def _keep(corpus: Path, seed: int, number: int, kept: Path) -> None:
    """Keep the files of a case."""
    folder = kept / f"{seed}-{number}"
    make_folder(folder)
    prepare(corpus, folder, seed, number)


def _outcomes(corpus: Path, seed: int, numbers: Sequence[int]) -> Iterator[Outcome]:
    """Run cases in a process, until all are finished or the process died or was ended."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, corpus, seed, list(numbers)), daemon=True)
    process.start()
    theirs.close()
    for number in list(numbers):
        try:
            if not ours.poll(_SECONDS):
                yield Outcome(_subject_of(number), f"it took more than {_SECONDS:g} s")
                break
            yield ours.recv()
        except EOFError:
            process.join()
            yield Outcome(_subject_of(number), f"the process ended with code {process.exitcode}")
            break
    process.kill()
    process.join()


def _work(connection: Connection, corpus: Path, seed: int, numbers: Sequence[int]) -> None:
    """Run cases in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    warnings.simplefilter("error")  # a user would see them
    for number in numbers:
        connection.send(attempt(corpus, seed, number))

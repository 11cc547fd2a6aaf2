"""`Meter`: what a trial costs, added up over interruptions."""

import json
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from repertoire.training.training import Timing
from robots.errors import InvalidFileError
from robots.files import file_exists, write_text


@dataclass(frozen=True)
class Costs:
    """What a trial took so far.

    Attributes:
        seconds: wall clock [s].
        cpu_seconds: processor time of all threads [s].
        search_seconds: wall clock of ask, add and tell [s].
        evaluation_seconds: wall clock of evaluating solutions [s].
        saving_seconds: wall clock of checkpoints, the one under way left out [s].
        search_bytes: memory of emitters and archives [bytes].
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    search_seconds: float = 0.0
    evaluation_seconds: float = 0.0
    saving_seconds: float = 0.0
    search_bytes: float = 0.0


class Meter:
    """Runs while a part of a trial does, and goes on from the checkpoint that the part starts from.

    What was done after a checkpoint and lost is not counted: it does not belong to the result. The file holds
    the costs at the last two checkpoints, by evaluations, and is written before each is: whenever the process
    ends, those of the checkpoint that is there are among them.

    Args:
        path: of the file.
        evaluations: at the checkpoint; 0 for a trial that begins.

    Raises:
        InvalidFileError: the file cannot be read, or lacks the checkpoint.
    """

    def __init__(self, path: Path, evaluations: int) -> None:
        self._path = path
        self._before = read_costs(path, evaluations) if evaluations else Costs()
        self._last = {evaluations: self._before}
        self._started, self._cpu_started = time.perf_counter(), time.process_time()

    def note(self, evaluations: int, timing: Timing, search_bytes: int) -> None:
        """Write down what the trial took so far, before a checkpoint is saved.

        Args:
            evaluations: at the checkpoint.
            timing: of this part of the trial.
            search_bytes: memory of emitters and archives.

        Raises:
            InvalidFileError: the file cannot be written.
        """
        before = self._before
        now = Costs(
            seconds=before.seconds + time.perf_counter() - self._started,
            cpu_seconds=before.cpu_seconds + time.process_time() - self._cpu_started,
            search_seconds=before.search_seconds + timing.search,
            evaluation_seconds=before.evaluation_seconds + timing.evaluation,
            saving_seconds=before.saving_seconds + timing.saving,
            search_bytes=search_bytes,
        )
        *_, latest = self._last.items()
        self._last = dict([latest, (evaluations, now)])
        table = {count: asdict(costs) for count, costs in self._last.items()}
        write_text(self._path, json.dumps(table, indent=2) + "\n")


def read_costs(path: Path, evaluations: int) -> Costs:
    """What a trial took until a checkpoint.

    Raises:
        InvalidFileError: the file cannot be read, or lacks the checkpoint.
    """
    try:
        found = json.loads(path.read_text())[str(evaluations)] if file_exists(path) else None
        if found is not None:
            return Costs(**{field.name: float(found[field.name]) for field in fields(Costs)})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass  # whatever is wrong with it, the same helps
    raise InvalidFileError(
        f"{path} does not tell what the trial took: remove {path.parent}, and the trial is run again"
    )

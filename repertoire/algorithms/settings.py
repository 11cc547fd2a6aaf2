"""`Settings` of a search: with the problem and the versions of the software, they decide its result.

Here are the tables of the archives and emitters that settings can name.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, InstanceOf, PlainSerializer, SerializeAsAny

from repertoire.archives.archive import MAX_CELLS, ArchiveSpec, Rule
from repertoire.archives.cvt import CVTSpec
from repertoire.archives.grid import GridSpec
from repertoire.emitters.arborescence import EstimatedArborescenceSettings, LearnedArborescenceSettings
from repertoire.emitters.emitter import Emitter, EmitterSettings
from repertoire.emitters.evolution_strategy import EvolutionStrategySettings, ImprovementSettings
from repertoire.emitters.me_es import MEESSettings
from repertoire.emitters.pga_me import PGAMESettings
from repertoire.emitters.variation import VariationSettings
from repertoire.problems.problem import Problem
from robots.errors import InvalidValueError
from robots.files.records import Record, Unregistered, by_kind, reader
from robots.files.texts import LARGEST
from robots.registry import Registry

ARCHIVES: Registry[type[ArchiveSpec]] = Registry(
    "archive", [(spec.kind, spec) for spec in (GridSpec, CVTSpec)]
)
EMITTERS: Registry[type[EmitterSettings]] = by_kind(
    "emitter",
    EvolutionStrategySettings,
    ImprovementSettings,
    VariationSettings,
    MEESSettings,
    EstimatedArborescenceSettings,
    LearnedArborescenceSettings,
    PGAMESettings,
)


def parse_archive(spec: ArchiveSpec | str | Sequence[int]) -> ArchiveSpec:
    """Return the specification of a text such as `6,6` or `cvt:1000`, or of the cells along each measure."""
    if isinstance(spec, ArchiveSpec):
        return spec
    text = ",".join(map(str, spec)) if isinstance(spec, Iterable) and not isinstance(spec, str) else str(spec)
    kind, arguments = text.split(":", 1) if ":" in text else (GridSpec.kind, text)
    made = ARCHIVES.find(kind)
    try:
        parsed = made.parse(arguments)
    except InvalidValueError as error:
        forms = " or ".join(known.form for known in ARCHIVES.values())
        raise InvalidValueError(f"the archive {text!r} cannot be read: {error}; write {forms}") from error
    if parsed.cells > MAX_CELLS:
        raise InvalidValueError(
            f"the archive must have at most {MAX_CELLS:,} cells in all, not {parsed.cells:,}"
        )
    return parsed


AnyArchive = Annotated[InstanceOf[ArchiveSpec], BeforeValidator(parse_archive), PlainSerializer(str)]


class UnregisteredEmitter(Unregistered, EmitterSettings):
    """Settings of an emitter that is not in the table."""


AnyEmitter = Annotated[
    EmitterSettings, BeforeValidator(reader(EMITTERS, UnregisteredEmitter)), SerializeAsAny()
]


class MixedSettings(EmitterSettings):
    """Settings of emitters of several kinds, which take turns: emitter i has those of number i mod k.

    Attributes:
        members: k settings.
    """

    kind = "mixed"
    summary = "emitters of several kinds"
    members: Annotated[tuple[AnyEmitter, ...], Field(min_length=1)]

    def member(self, number: int) -> EmitterSettings:
        return self.members[number % len(self.members)]

    def make(self, problem: Problem, initial: np.ndarray, rng: np.random.Generator) -> Emitter:
        return self.members[0].make(problem, initial, rng)


EMITTERS[MixedSettings.kind] = MixedSettings


class ThresholdSettings(Record):
    """Settings of the thresholds that guide a search; the defaults are those of Tjanaka et al. 2023.

    Attributes:
        learning_rate: how far a threshold moves towards what was accepted, α in [0, 1].
        rule: whether thresholds move after each solution (sequential) or once after a batch (batch).
    """

    learning_rate: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.001
    rule: Rule = "sequential"


class Settings(Record):
    """Settings of a search.

    Attributes:
        algorithm: name of the algorithm.
        evaluations: solutions to evaluate; rounded up to whole batches of all emitters.
        seed: from which every random number derives.
        archive: how measure space is divided into cells.
        min_objective: where thresholds start, and from where the QD score counts objectives.
        emitters: number of emitters.
        emitter: settings of each emitter.
        thresholds: of the archive that guides the search; None if that is the result archive itself.
    """

    algorithm: str
    evaluations: Annotated[int, Field(gt=0, le=10**12, strict=True)]
    seed: Annotated[int, Field(ge=0, le=10**30, strict=True)]
    archive: AnyArchive
    min_objective: Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
    emitters: Annotated[int, Field(gt=0, le=1000, strict=True)] = 5
    emitter: AnyEmitter
    thresholds: ThresholdSettings | None

    @property
    def learning_rate(self) -> float:
        """The learning rate of the thresholds; 1 where each is its elite's objective."""
        return 1.0 if self.thresholds is None else self.thresholds.learning_rate

    @property
    def search(self) -> dict[str, object]:
        """The settings that the algorithm has, by the names under which a user gives them."""
        return {"emitters": self.emitters, **dict(_flat(self.emitter)), **dict(_flat(self.thresholds))}


def _flat(record: BaseModel | None) -> Iterator[tuple[str, object]]:
    """The entries of a record and of the records in it."""
    for name, value in record or ():
        if isinstance(value, BaseModel):
            yield from _flat(value)
        elif isinstance(record, MixedSettings):
            yield name, " + ".join(member.kind for member in value)
        else:
            yield name, value

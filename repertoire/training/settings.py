"""`Settings` of a search: with the problem and the versions of the software, they decide its result."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf, PlainSerializer

from repertoire.archives.archive import ArchiveSpec
from repertoire.archives.competition import Rule
from repertoire.archives.table import parse_archive
from repertoire.emitters.table import AnyEmitter
from robots.records import validate

AnyArchive = Annotated[InstanceOf[ArchiveSpec], BeforeValidator(parse_archive), PlainSerializer(str)]


class ThresholdSettings(BaseModel):
    """Settings of the thresholds that guide a search; the defaults are those of Tjanaka et al. 2023.

    Attributes:
        learning_rate: how far a threshold moves towards what was accepted, α in [0, 1].
        rule: how thresholds move within a batch, see `Archive`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    learning_rate: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.001
    rule: Rule = "sequential"


class Settings(BaseModel):
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

    model_config = ConfigDict(extra="forbid", frozen=True)

    algorithm: str
    evaluations: Annotated[int, Field(gt=0, le=10**12, strict=True)]
    seed: Annotated[int, Field(ge=0, strict=True)]
    archive: AnyArchive
    min_objective: Annotated[float, Field(allow_inf_nan=False)]
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


def make_settings(settings: Mapping[str, object]) -> Settings:
    """Make the settings of a search from their JSON; see `validate`."""
    return validate(Settings, settings)


def _flat(record: BaseModel | None) -> Iterator[tuple[str, object]]:
    """The entries of a record and of the records in it."""
    for name, value in record or ():
        if isinstance(value, BaseModel):
            yield from _flat(value)
        else:
            yield name, value

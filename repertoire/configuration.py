"""`Configuration`: everything that, with the code, decides what a run computes."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robots.description import Steps, describe_validation_error
from robots.errors import InvalidValueError

Count = Annotated[int, Field(gt=0, strict=True)]


class Configuration(BaseModel):
    """Settings of a training run; a run is a pure function of them, its robot and the software's versions.

    The defaults are those of Tjanaka et al. 2023, Section V.

    Attributes:
        robot: name of the robot.
        algorithm: name of the algorithm.
        evaluations: episodes to run; rounded up to whole batches.
        seed: from which every random number derives.
        emitters: number of emitters.
        batch_size: solutions an emitter asks for at a time.
        sigma0: initial step size of the strategies.
        learning_rate: of the archive's thresholds, α in [0, 1].
        rule: how thresholds move within a batch, see `Archive`.
        archive: cells along each measure.
        min_objective: floor of the thresholds and offset of the QD score.
        episode_steps: control steps an episode has at most.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    robot: str
    algorithm: str
    evaluations: Annotated[int, Field(gt=0, le=10**12, strict=True)]
    seed: Annotated[int, Field(ge=0, strict=True)]
    emitters: Annotated[int, Field(gt=0, le=1000, strict=True)] = 5
    batch_size: Annotated[int, Field(ge=2, le=10_000, strict=True)] = 40
    sigma0: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] = 0.02
    learning_rate: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.001
    rule: Literal["sequential", "batch"] = "sequential"
    archive: Annotated[tuple[Count, ...], Field(min_length=1)]
    min_objective: Annotated[float, Field(allow_inf_nan=False)]
    episode_steps: Steps


def make_configuration(settings: Mapping[str, object]) -> Configuration:
    """Validate settings.

    Raises:
        InvalidValueError: a setting is unknown, missing, of the wrong type or out of range.
    """
    try:
        return Configuration.model_validate(settings)
    except ValidationError as error:
        raise InvalidValueError(describe_validation_error(error, Configuration)) from error

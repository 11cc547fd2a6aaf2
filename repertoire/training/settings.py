"""`Settings` of a search: with the problem and the code they decide its result."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robots.errors import InvalidValueError
from robots.validation import describe_validation_error

Count = Annotated[int, Field(gt=0, strict=True)]
Size = Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)]
Model = TypeVar("Model", bound=BaseModel)


class Settings(BaseModel):
    """Settings of a search; the defaults are those of Tjanaka et al. 2023.

    Attributes:
        algorithm: name of the algorithm.
        evaluations: solutions to evaluate; rounded up to whole batches.
        seed: from which every random number derives.
        emitters: number of emitters.
        batch_size: solutions an emitter asks for at a time; of algorithms that follow gradients the branches.
        sigma0: initial step size of the strategies, of Gaussian variation its constant one, and of algorithms
            that follow gradients that of the branches' coefficients.
        line_sigma: step size along the line between two elites, as a fraction of their distance, for
            algorithms that vary elites.
        gradient_samples: solutions to estimate gradients from, for algorithms that do.
        gradient_sigma: step size of these samples.
        strategy: name of the evolution strategy; none for algorithms that vary elites.
        vectors: direction vectors of LM-MA-ES; as many as the batch size by default.
        learning_rate: of the archive's thresholds, α in [0, 1].
        rule: how thresholds move within a batch, see `Archive`.
        archive: cells along each measure.
        min_objective: floor of the thresholds and offset of the QD score.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    algorithm: str
    evaluations: Annotated[int, Field(gt=0, le=10**12, strict=True)]
    seed: Annotated[int, Field(ge=0, strict=True)]
    emitters: Annotated[int, Field(gt=0, le=1000, strict=True)] = 5
    batch_size: Annotated[int, Field(ge=2, le=10_000, strict=True)] = 40
    sigma0: Size = 0.02
    line_sigma: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)] = 0.0
    gradient_samples: Annotated[int, Field(ge=0, le=10_000, strict=True)] = 0
    gradient_sigma: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)] = 0.0
    strategy: str | None = None
    vectors: Annotated[int, Field(gt=0, le=10_000, strict=True)] | None = None
    learning_rate: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.001
    rule: Literal["sequential", "batch"] = "sequential"
    archive: Annotated[tuple[Count, ...], Field(min_length=1)]
    min_objective: Annotated[float, Field(allow_inf_nan=False)]


def make_settings(settings: Mapping[str, object]) -> Settings:
    """Validate settings of a search; see `validate`."""
    return validate(Settings, settings)


def validate(model: type[Model], settings: Mapping[str, object]) -> Model:
    """Make a record of settings.

    Raises:
        InvalidValueError: a setting is unknown, missing, of the wrong type or out of range.
    """
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        raise InvalidValueError(describe_validation_error(error, model)) from error

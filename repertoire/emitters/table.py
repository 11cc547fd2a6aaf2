"""The table of emitters by name."""

from typing import Annotated

from pydantic import BeforeValidator, SerializeAsAny

from repertoire.emitters.arborescence import ArborescenceSettings, EstimatedArborescenceSettings
from repertoire.emitters.emitter import EmitterSettings
from repertoire.emitters.evolution_strategy import EvolutionStrategySettings
from repertoire.emitters.me_es import MEESSettings
from repertoire.emitters.variation import VariationSettings
from robots.records import by_kind, reader

EMITTERS: dict[str, type[EmitterSettings]] = by_kind(
    EvolutionStrategySettings,
    VariationSettings,
    MEESSettings,
    ArborescenceSettings,
    EstimatedArborescenceSettings,
)

AnyEmitter = Annotated[EmitterSettings, BeforeValidator(reader(EMITTERS, "emitter")), SerializeAsAny()]

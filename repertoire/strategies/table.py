"""The table of evolution strategies by name."""

from typing import Annotated

from pydantic import BeforeValidator, SerializeAsAny

from repertoire.strategies.cma_es import CMAESSettings
from repertoire.strategies.lm_ma_es import LMMAESSettings
from repertoire.strategies.openai_es import OpenAIESSettings
from repertoire.strategies.sep_cma_es import SepCMAESSettings
from repertoire.strategies.strategy import StrategySettings
from robots.files.records import by_kind, reader

STRATEGIES: dict[str, type[StrategySettings]] = by_kind(
    CMAESSettings, LMMAESSettings, SepCMAESSettings, OpenAIESSettings
)

AnyStrategy = Annotated[StrategySettings, BeforeValidator(reader(STRATEGIES, "strategy")), SerializeAsAny()]

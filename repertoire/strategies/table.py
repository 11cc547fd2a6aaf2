"""The table of evolution strategies by name."""

from typing import Annotated

from pydantic import BeforeValidator, SerializeAsAny

from repertoire.strategies.cma_es import CMAESSettings
from repertoire.strategies.lm_ma_es import LMMAESSettings
from repertoire.strategies.openai_es import OpenAIESSettings
from repertoire.strategies.sep_cma_es import SepCMAESSettings
from repertoire.strategies.strategy import StrategySettings
from robots.files.records import Unregistered, by_kind, reader
from robots.registry import Registry

STRATEGIES: Registry[type[StrategySettings]] = by_kind(
    "strategy", CMAESSettings, LMMAESSettings, SepCMAESSettings, OpenAIESSettings
)


class UnregisteredStrategy(Unregistered, StrategySettings):
    """Settings of a strategy that is not in the table."""


AnyStrategy = Annotated[
    StrategySettings, BeforeValidator(reader(STRATEGIES, UnregisteredStrategy)), SerializeAsAny()
]

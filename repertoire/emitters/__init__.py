"""Emitters: where the solutions of the next generation come from.

* `emitter`: `Emitter`, the contract.
* `evolution_strategy`: `EvolutionStrategyEmitter`, improvement ranking with restarts from elites.
"""

from repertoire.emitters.emitter import Emitter
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter

__all__ = ["Emitter", "EvolutionStrategyEmitter"]

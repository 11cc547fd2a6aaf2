"""Emitters: where the solutions of the next generation come from.

* `emitter`: `Emitter`, the contract, and `Telemetry`, how one is doing.
* `evolution_strategy`: `EvolutionStrategyEmitter`, improvement ranking with restarts from elites.
* `variation`: `VariationEmitter`, elites with Gaussian noise, and steps along lines between them.
"""

from repertoire.emitters.emitter import Emitter, Telemetry
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter
from repertoire.emitters.variation import VariationEmitter

__all__ = ["Emitter", "EvolutionStrategyEmitter", "Telemetry", "VariationEmitter"]

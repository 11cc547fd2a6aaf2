"""Emitters: where the solutions of the next generation come from.

* `emitter`: `Emitter`, the contract, and `Telemetry`, how one is doing.
* `outcomes`: `Outcomes`, what became of the solutions that an emitter asked for.
* `ranking`: how a batch is ranked.
* `evolution_strategy`: `EvolutionStrategyEmitter`, improvement ranking with restarts from elites.
* `me_es`: `MEESEmitter`, steps of an evolution strategy from elites; `parents` chooses these, `novelty` is
  what exploring climbs towards, and `normalisation` folds statistics of observations into solutions.
* `variation`: `VariationEmitter`, elites with Gaussian noise, and steps along lines between them.
* `arborescence`: `ArborescenceEmitter`, branches along the gradients at a solution that moves.
"""

from repertoire.emitters.arborescence import ArborescenceEmitter
from repertoire.emitters.emitter import Emitter, Telemetry
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter
from repertoire.emitters.me_es import MEESEmitter
from repertoire.emitters.outcomes import Outcomes
from repertoire.emitters.variation import VariationEmitter

__all__ = [
    "ArborescenceEmitter",
    "Emitter",
    "EvolutionStrategyEmitter",
    "MEESEmitter",
    "Outcomes",
    "Telemetry",
    "VariationEmitter",
]

"""Evolution strategies: search distributions that learn from a ranking of what they sampled.

* `strategy`: `Strategy`, the contract.
* `cma_es`: `CMAES`, a Gaussian with a full covariance matrix.
* `lm_ma_es`: `LMMAES`, a Gaussian whose transformation is built from a few direction vectors.
* `sep_cma_es`: `SepCMAES`, a Gaussian with a diagonal covariance matrix.
* `openai_es`: `OpenAIES`, an isotropic Gaussian of constant width, with Adam.
* `table`: all of them by name.
* `mirrored`: `MirroredSamples`, on either side of a point, from which gradients are estimated.
* `noise`, `generator`, `constants`, `recombination`, `step_size`: what they share.
"""

from repertoire.strategies.cma_es import CMAES
from repertoire.strategies.lm_ma_es import LMMAES
from repertoire.strategies.openai_es import OpenAIES
from repertoire.strategies.sep_cma_es import SepCMAES
from repertoire.strategies.strategy import STOPS, Strategy

__all__ = ["CMAES", "LMMAES", "STOPS", "OpenAIES", "SepCMAES", "Strategy"]

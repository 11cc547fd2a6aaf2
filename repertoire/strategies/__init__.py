"""Evolution strategies: search distributions that learn from a ranking of what they sampled.

* `strategy`: `Strategy`, the contract.
* `sep_cma_es`: `SepCMAES`, a Gaussian with a diagonal covariance matrix.
"""

from repertoire.strategies.sep_cma_es import SepCMAES
from repertoire.strategies.strategy import Strategy

__all__ = ["SepCMAES", "Strategy"]

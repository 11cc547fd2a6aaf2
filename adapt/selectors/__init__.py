"""Selectors: each is a way to choose which controller of a repertoire to try next on a damaged robot.

* `selector`: `Selector`, the contract, and `Prior`, what is known before the first trial.
* `catalogue`: the table of selectors by name, and `make_selector`.
* `model_free`: `ModelFree`, what those share that learn nothing of one controller from another:
  `random_search`, `best_first`, `successive_halving`; and `oracle`, which knows the truth.
* `corrected_map`: `CorrectedMap`, what those share that correct a map of objectives: `map_bo`, map-based
  Bayesian optimisation, `gp_ucb`, `thompson`.
* `gaussian_process`: `GaussianProcess`, the exact posterior over a fixed set of points; `posterior`, of
  several processes with one covariance.
* `rehearsed`: `Rehearsed`, which diagnoses the damage by a rehearsal. `hypotheses` says what may be wrong and
  `pairs` what two damages do together; `likelihood` weighs what a trial measured; `mixture` is the posterior
  over all of it, `belief` what that says of every controller, `expected_improvement` what a trial may gain,
  and `fall_risk` whether it ends in a fall.
* `replay`: a recovery from a table of true outcomes.
"""

from adapt.selectors.catalogue import SELECTORS, choose_selector, make_selector
from adapt.selectors.gaussian_process import GaussianProcess, matern_52
from adapt.selectors.map_bo import OF_2015, MapBO, MapBOSettings
from adapt.selectors.rehearsed import Rehearsed
from adapt.selectors.rehearsed_settings import Caution, RehearsedSettings
from adapt.selectors.replay import Noise, Replay, Truth, replay
from adapt.selectors.selector import Prior, Selector

__all__ = [
    "OF_2015",
    "SELECTORS",
    "Caution",
    "GaussianProcess",
    "MapBO",
    "MapBOSettings",
    "Noise",
    "Prior",
    "Rehearsed",
    "RehearsedSettings",
    "Replay",
    "Selector",
    "Truth",
    "choose_selector",
    "make_selector",
    "matern_52",
    "replay",
]

"""Selectors: each is a way to choose which controller of a repertoire to try next on a damaged robot.

* `selector`: `Selector`, the contract, and `Prior`, what is known before the first trial.
* `gaussian_process`: `GaussianProcess`, the exact posterior over a fixed set of points.
* `map_bo`: `MapBO`, map-based Bayesian optimisation.
"""

from adapt.selectors.gaussian_process import GaussianProcess, matern_52
from adapt.selectors.map_bo import MapBO, MapBOSettings
from adapt.selectors.selector import Prior, Selector, SelectorFactory

__all__ = ["GaussianProcess", "MapBO", "MapBOSettings", "Prior", "Selector", "SelectorFactory", "matern_52"]

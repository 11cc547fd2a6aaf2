"""Controllers: each kind turns flat parameter vectors into actions, for many simulations at once.

* `controller`: the contract, `Controller`.
* `mlp`: a feed-forward network with tanh on every layer, and `make_controller`, which builds one for a robot.
"""

from robots.controllers.controller import Controller
from robots.controllers.mlp import MLP, make_controller

__all__ = ["MLP", "Controller", "make_controller"]

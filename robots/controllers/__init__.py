"""Controllers: each kind turns flat parameter vectors into actions, for many simulations at once.

* `controller`: the contract, `Controller`, and `make_controller`, which builds one for a robot.
* `mlp`: a feed-forward network with tanh on every layer.
"""

from robots.controllers.controller import Controller, make_controller
from robots.controllers.mlp import MLP

__all__ = ["MLP", "Controller", "make_controller"]

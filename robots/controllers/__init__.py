"""Controllers: each kind turns flat parameter vectors into actions, for many simulations at once.

* `controller`: the contract, `Controller`.
* `mlp`: a feed-forward network with tanh on every layer.
* `periodic`: open-loop signals, one for each joint.
* `making`: `robot_controller`, which makes a robot's.
"""

from robots.controllers.controller import Controller
from robots.controllers.making import robot_controller, with_controller
from robots.controllers.mlp import MLP
from robots.controllers.periodic import Periodic

__all__ = ["MLP", "Controller", "Periodic", "robot_controller", "with_controller"]

"""`Policy`: one controller as a function from observations to actions."""

import numpy as np

from robots.controllers.controller import Controller


class Policy:
    """A controller with its parameters: call it with an observation to get an action.

    It counts control steps, which open-loop controllers need; call `reset` at the start of every episode.

    Args:
        controller: what the parameters mean.
        parameters: (p,), taken as float32.

    Raises:
        InvalidValueError: the parameters have the wrong shape.
    """

    def __init__(self, controller: Controller, parameters: np.ndarray) -> None:
        self.controller = controller
        self.parameters = controller.checked_parameters(np.array(parameters))
        self._step = 0

    def reset(self) -> None:
        """Begin an episode."""
        self._step = 0

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """The action in [-1, 1] for an observation, (a,) float32.

        Raises:
            InvalidValueError: the observation does not have shape (o,).
        """
        action = self.controller.act(self.parameters, observation, self._step)
        self._step += 1
        return action

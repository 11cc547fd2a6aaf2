"""`Controller`: what every kind of controller offers; `ControllerDescription`: its part of a robot's YAML.

A new kind is one file with a class of each, and one line in `robots.description.CONTROLLERS`. `Policy` is a
controller as a function.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np
from numba import types

from robots.arrays import kernel_array, real_array
from robots.compilation import compiled, function_pointer
from robots.errors import InvalidValueError
from robots.files.records import Kind
from robots.task.observations import Entry

Legs = Mapping[str, Sequence[str]]  # joints of each leg, by its name
OnInvalid = Literal["refuse", "damp"]  # what a policy does where it knows no action
_VECTOR = types.Array(types.float32, 1, "C")
_KERNEL = types.void(
    types.Array(types.int64, 1, "C"),
    types.Array(types.float32, 2, "C"),
    _VECTOR,
    _VECTOR,
    types.int64,
    _VECTOR,
)


class Reflection(NamedTuple):
    """What becomes of numbers in a mirror.

    Attributes:
        images: the place of each number there, (n,); applied twice, each is back in its place.
        signs: with which sign, (n,), the same as that of its image.
    """

    images: np.ndarray
    signs: np.ndarray

    def of(self, values: np.ndarray) -> np.ndarray:
        """The mirror images of numbers, (n, ...)."""
        return (self.signs * values[self.images].T).T


class Mirror(NamedTuple):
    """What becomes of observations (o,) and actions (a,) in a mirror between a robot's left and right."""

    observations: Reflection
    actions: Reflection


class Controller(ABC):
    """A map from flat parameter vectors and observations to actions in [-1, 1].

    Attributes:
        observation_dim: number of inputs, o.
        action_dim: number of outputs, a.
        sigma0: initial step size that suits a search among such controllers.
        tries: how many initial controllers a search compares, to start from the best of them.
        closed_loop: whether actions depend on observations.
        normalises: whether `fold` makes up for a normalisation of observations; otherwise it changes nothing,
            and controllers take observations as they are.
        layers: units of each layer, from the observation to the action, where a parameter vector holds the
            weights (inputs, outputs) and then the biases of each layer of a network with tanh on every layer;
            empty for other controllers.
        kernel: writes an action; a function that numba can compile, called with
            `kernel(sizes, memory, parameters, observation, step, action)`. `sizes` and `memory` are those of
            `arguments`; parameters (p,), observation (o,) and action (a,) are float32; `step` counts the
            control steps since the episode began.
    """

    observation_dim: int
    action_dim: int
    sigma0: float
    tries: int = 1
    closed_loop: ClassVar[bool] = True
    normalises: ClassVar[bool] = True
    layers: tuple[int, ...] = ()
    kernel: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, np.ndarray], None]

    @property
    @abstractmethod
    def parameter_count(self) -> int:
        """Length p of a parameter vector."""

    @property
    @abstractmethod
    def shape(self) -> str:
        """The kind and its sizes in one word, the same for controllers that can exchange parameters."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The kind and its sizes for people."""

    @abstractmethod
    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """A random parameter vector to start a search from, (p,) float32."""

    @abstractmethod
    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        """The kernel's first arguments, which one thread may use at a time.

        Returns:
            Sizes (k,) int64, which stay as they are, and memory to work in, (m, n) float32.
        """

    def prepare(self, parameters: np.ndarray, memory: np.ndarray) -> None:  # noqa: B027
        """Write into the memory what all steps of an episode share; nothing by default.

        Args:
            parameters: (p,) float32.
            memory: that of `arguments`.
        """

    def period(self, parameters: np.ndarray) -> np.ndarray | None:
        """The actions of every control step of a period, (samples, a) float32, of a gait that repeats itself.

        They are those of a robot without errors where there are `reactions`. None, as by default, of other
        controllers.
        """
        return None

    @property
    def holds_heading(self) -> bool:
        """Whether it turns the robot to the heading that it takes for straight ahead; False by default."""
        return False

    def reactions(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """How the actions of a `period` change with an observation x, as matrices S and O, (o, a) float32.

        The action is the period's · (1 + x S, from 0 to 2) + x O, clipped to ±1. None, as by default, of
        controllers that do not react this way.
        """
        return None

    @abstractmethod
    def fold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Return controllers that do with observations what these do with normalised ones, (x - mean) / std.

        Args:
            parameters: (n, p), not changed.
            mean: (o,) float64.
            std: (o,) float64, positive.

        Returns:
            (n, p), of the type of the parameters.
        """

    @abstractmethod
    def unfold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Return controllers that do with normalised observations what these do with plain ones: undo `fold`.

        Arguments and result are those of `fold`.
        """

    def mirrored(self, parameters: np.ndarray, mirror: Mirror) -> np.ndarray | None:
        """Mirror images of controllers: for that of an observation they give that of the action.

        Args:
            parameters: (n, p), not changed.
            mirror: the robot's.

        Returns:
            (n, p), of the type of the parameters; None, as by default, of controllers without such images.
        """
        return None

    def bounded(self, parameters: np.ndarray) -> np.ndarray:
        """The same controllers, (n, p), with parameters of which each has an effect; by default as they are.

        A search that starts far outside the range in which a parameter counts cannot change it.
        """
        return parameters

    def checked_parameters(self, parameters: np.ndarray) -> np.ndarray:
        """Parameters as the kernel takes them, (p,) float32; a copy where they are not like that already.

        Raises:
            InvalidValueError: they have another shape.
        """
        parameters = kernel_array(parameters)
        if parameters.shape != (self.parameter_count,):
            raise InvalidValueError(
                f"parameters must have shape ({self.parameter_count},), not {parameters.shape}"
            )
        return parameters

    @property
    def compiled_kernel(self) -> Callable[..., None]:
        """The kernel as compiled functions take it."""
        return function_pointer(type(self).kernel, _KERNEL)

    def act(self, parameters: np.ndarray, observation: np.ndarray, step: int) -> np.ndarray:
        """The action for an observation, (a,) float32.

        Args:
            parameters: (p,), taken as float32.
            observation: (o,), taken as float32.
            step: control steps since the episode began.

        Raises:
            InvalidValueError: the parameters or the observation have another shape.
        """
        parameters = self.checked_parameters(parameters)
        observation = kernel_array(observation)
        if observation.shape != (self.observation_dim,):
            raise InvalidValueError(
                f"an observation must have shape ({self.observation_dim},), not {observation.shape}"
            )
        sizes, memory = self.arguments()
        self.prepare(parameters, memory)
        action = np.zeros(self.action_dim, np.float32)
        _call(self.compiled_kernel, sizes, memory, parameters, observation, step, action)
        return action


class ControllerDescription(Kind, ABC):
    """What a robot's YAML says of its controllers."""

    @abstractmethod
    def build(
        self, *, entries: Sequence[Entry], joints: Sequence[str], legs: Legs, control_step: float
    ) -> Controller:
        """Make the controller of a robot.

        Args:
            entries: the numbers of an observation.
            joints: names of the actuated joints, in the order of the actions.
            legs: the joints of each leg, by its name.
            control_step: [s].

        Raises:
            InvalidValueError: the description does not fit the control step or the observation.
        """

    @classmethod
    def from_shape(cls, shape: str, *, observation_dim: int, action_dim: int) -> Self | None:
        """What a controller of this shape needs, or None where its shape does not tell, as by default."""
        return None

    def check_parts(self, joints: Sequence[str], legs: Legs) -> None:
        """Raise ValueError where the description names a joint or a leg that is not among a robot's."""


class Policy:
    """A controller with its parameters: call it with an observation to get an action.

    It counts control steps, which open-loop controllers need; call `reset` at the start of every episode.

    Args:
        controller: what the parameters mean.
        parameters: (p,), taken as float32.
        on_invalid: what to do with an observation that is not finite, such as that of a faulty sensor, or
            that leads to no finite action: "refuse" it with an error, or "damp": answer with the neutral
            pose, an action of zeros (no torque, or the middle of a servo's range), and warn the first time.

    Raises:
        InvalidValueError: the parameters have the wrong shape, or there is no such `on_invalid`.
    """

    def __init__(
        self, controller: Controller, parameters: np.ndarray, *, on_invalid: OnInvalid = "refuse"
    ) -> None:
        if on_invalid not in get_args(OnInvalid):
            raise InvalidValueError(f"on_invalid must be 'refuse' or 'damp', not {on_invalid!r}")
        self.controller = controller
        self.parameters = controller.checked_parameters(np.array(parameters))
        self._step, self._damps, self._warned = 0, on_invalid == "damp", False

    def reset(self) -> None:
        """Begin an episode."""
        self._step = 0

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """The action in [-1, 1] for an observation (o,), (a,) float32.

        Raises:
            InvalidValueError: the observation has another shape; or it or the action is not finite, unless
                such observations are to be damped.
        """
        observation = real_array("an observation", observation, np.float32)  # infinite if beyond float32
        action = self.controller.act(self.parameters, observation, self._step)
        if not (np.isfinite(observation).all() and np.isfinite(action).all()):
            bad = np.flatnonzero(~np.isfinite(observation))
            where = (
                f"an observation is not finite (see {bad[:10].tolist()})"
                if len(bad)
                else "no action is finite"
            )
            if not self._damps:
                raise InvalidValueError(f"{where}: make sure of it, or ask for on_invalid='damp'")
            if not self._warned:
                warnings.warn(f"{where}: the policy answers with the neutral pose", stacklevel=2)
            self._warned, action = True, np.zeros_like(action)
        self._step += 1
        return action


@compiled()
def _call(
    kernel: Callable[..., None],
    sizes: np.ndarray,
    memory: np.ndarray,
    parameters: np.ndarray,
    observation: np.ndarray,
    step: int,
    action: np.ndarray,
) -> None:
    """Call a kernel by its address."""
    kernel(sizes, memory, parameters, observation, step, action)

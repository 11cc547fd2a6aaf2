"""`Controller`: what every kind of controller offers; `ControllerDescription`: its part of a robot's YAML.

A new kind is one file with a class of each, and one line in `robots.description.CONTROLLERS`. `Policy` is a
controller as a function.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numba import types

from robots.arrays import kernel_array, real_array
from robots.compilation import compiled, function_pointer
from robots.controllers.graph import Graph
from robots.errors import InvalidValueError
from robots.files.records import Kind
from robots.task.observations import Entry

Legs = Mapping[str, Sequence[str]]  # joints of each leg, by its name
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
    """What becomes of n numbers in a mirror; applied twice, each is as it was."""

    images: np.ndarray  # the place of each there, (n,)
    signs: np.ndarray  # with which sign, (n,)

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
        step_sizes: least and greatest step size of a search that refines a gait; None for `sigma0`.
        tries: how many initial controllers a search compares, to start from the best of them.
        closed_loop: whether actions depend on observations.
        walks_first: whether an `initial` one walks already, as a policy that others trained does.
        blends: whether a gait takes over from another one gently in `change`, so that nobody needs to ramp.
        layers: units of each layer of an `MLP`, from the observation to the action; empty for others.
        kernel: `kernel(sizes, memory, parameters, observation, step, action)` writes an action, and numba can
            compile it. `sizes` and `memory` are those of `arguments`; parameters (p,), observation (o,) and
            action (a,) are float32; `step` counts control steps since the episode began.
    """

    observation_dim: int
    action_dim: int
    sigma0: float
    step_sizes: ClassVar[tuple[float, float] | None] = (0.005, 0.05)
    tries: int = 1
    closed_loop: ClassVar[bool] = True
    layers: tuple[int, ...] = ()
    walks_first: ClassVar[bool] = False
    blends: ClassVar[bool] = False
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
        """The kernel's sizes (k,) int64, and memory (m, n) float32, which one thread may use at a time."""

    def prepare(self, parameters: np.ndarray, memory: np.ndarray) -> None:  # noqa: B027
        """Write what all steps of an episode share into the memory of `arguments`; nothing by default."""

    def change(self, parameters: np.ndarray, memory: np.ndarray, step: int) -> None:
        """Go on with other parameters from a control step on; by default as if it had begun with them."""
        self.prepare(parameters, memory)

    def check(self) -> None:  # noqa: B027
        """Raise an InvalidValueError of what its kernel called and failed; by default it calls nothing."""

    def period(self, parameters: np.ndarray) -> np.ndarray | None:
        """The actions of a period of a gait that repeats itself, (samples, a) float32; None of others."""
        return None

    @property
    def holds_heading(self) -> bool:
        """Whether it turns the robot back to straight ahead."""
        return False

    def written(self, parameters: np.ndarray, graph: Graph, observation: str) -> str:
        """What it does as a part of an ONNX graph.

        Args:
            parameters: (p,) float32.
            graph: to which it adds operations.
            observation: (1, o), the name of a result there.

        Returns:
            The name of the action, (1, a).

        Raises:
            InvalidValueError: it has no such form, as by default.
        """
        raise InvalidValueError(f"controllers of the kind {self.label!r} cannot be written as ONNX")

    def fold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Controllers (n, p) that do with observations what these do with normalised ones, (x - mean) / std.

        By default a copy of the parameters.
        """
        return np.array(parameters)

    def unfold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Undo `fold`."""
        return np.array(parameters)

    def mirrored(self, parameters: np.ndarray, mirror: Mirror) -> np.ndarray | None:
        """Controllers (n, p) that give the mirror images of actions for those of observations; or None."""
        return None

    def bounded(self, parameters: np.ndarray) -> np.ndarray:
        """The same controllers, (n, p), with each parameter in the range in which it has an effect."""
        return parameters

    def checked_parameters(self, parameters: np.ndarray) -> np.ndarray:
        """Parameters as the kernel takes them, (p,) float32."""
        parameters = kernel_array(parameters)
        if parameters.shape != (self.parameter_count,):
            raise InvalidValueError(
                f"parameters must have shape ({self.parameter_count},), not {parameters.shape}"
            )
        return parameters

    @property
    def compiled_kernel(self) -> Callable[..., None]:
        """The kernel as compiled functions take it."""
        return function_pointer(self.kernel, _KERNEL)

    def act(self, parameters: np.ndarray, observation: np.ndarray, step: int) -> np.ndarray:
        """The action (a,) float32 of parameters (p,) for an observation (o,) in a control step."""
        return Actor(self)(parameters, observation, step)


class Actor:
    """A controller at work, which may remember something from one control step to the next."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self._sizes, self._memory = controller.arguments()
        self._parameters: np.ndarray | None = None

    def __call__(self, parameters: np.ndarray, observation: np.ndarray, step: int) -> np.ndarray:
        """The action for an observation, see `Controller.act`; at step 0 nothing is remembered.

        Other parameters than those of the last call are another gait, see `Controller.change`.
        """
        parameters, observation = self.controller.checked_parameters(parameters), kernel_array(observation)
        expected = (self.controller.observation_dim,)
        if observation.shape != expected:
            raise InvalidValueError(f"an observation must have shape {expected}, not {observation.shape}")
        if step == 0 or self._parameters is None:
            self.controller.prepare(parameters, self._memory)
        elif not np.array_equal(parameters, self._parameters):
            self.controller.change(parameters, self._memory, step)
        self._parameters = parameters.copy()
        action = np.zeros(self.controller.action_dim, np.float32)
        kernel = self.controller.compiled_kernel
        _call(kernel, self._sizes, self._memory, parameters, observation, step, action)
        self.controller.check()
        return action


class Plant(NamedTuple):
    """A robot as its controller knows it."""

    entries: Sequence[Entry]
    joints: Sequence[str]  # actuated, in the order of the actions
    legs: Legs
    control_step: float  # [s]
    targets: np.ndarray  # what actions of -1 and 1 command, see `robots.robot.Robot`, (a, 2)
    files: Mapping[str, bytes]  # that the description names


class ControllerDescription(Kind, ABC):
    """What a robot's YAML says of its controllers.

    Attributes:
        files: names of the files that belong to it, in the folder of the YAML.
    """

    files: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def build(self, plant: Plant) -> Controller:
        """Make the controller of a robot; InvalidValueError where the description does not fit it."""

    @classmethod
    def from_shape(cls, shape: str, *, observation_dim: int, action_dim: int) -> Self | None:
        """What a controller of this shape needs, or None where its shape does not tell."""
        return None

    def check_parts(self, joints: Sequence[str], legs: Legs) -> None:
        """Raise ValueError where the description names a joint or a leg that is not among a robot's."""


class Policy:
    """A controller with its parameters: call it with an observation to get an action.

    It counts control steps, which open-loop controllers need; call `reset` at the start of every episode.

    Args:
        controller: what the parameters mean.
        parameters: (p,), taken as float32.
    """

    def __init__(self, controller: Controller, parameters: np.ndarray) -> None:
        self.controller = controller
        self.parameters = controller.checked_parameters(np.array(parameters))
        self._step, self._actor = 0, Actor(controller)

    def reset(self) -> None:
        """Begin an episode."""
        self._step = 0

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """The action in [-1, 1] for an observation (o,), (a,) float32."""
        observation = real_array("an observation", observation, np.float32)  # infinite if beyond float32
        action = self._actor(self.parameters, observation, self._step)
        if bad := np.flatnonzero(~np.isfinite(observation))[:10].tolist():
            raise InvalidValueError(f"an observation must be finite, but is not at {bad}")
        if not np.isfinite(action).all():
            raise InvalidValueError("no finite action follows from this observation")
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
    kernel(sizes, memory, parameters, observation, step, action)

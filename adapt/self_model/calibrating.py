"""`calibrate`: fits models of a whole robot to traces of some gaits, before anything breaks."""

from collections.abc import Callable, Sequence

import numpy as np

from adapt.self_model.calibration import PRIOR, CalibratedGait, Calibration, Parameters
from adapt.self_model.features import Features
from repertoire.execution.running import one_blas_thread
from repertoire.repertoire import Repertoire
from robots.description import Randomization
from robots.errors import InvalidValueError
from robots.evaluations import Request
from robots.randomization import model_of
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend, ModelBatch
from robots.simulation.threads import ALL_CORES
from robots.simulation.trace import SENSORS, TraceColumns

_MEDIAN_SQUARE = 0.4549  # of a standard normal number
_THIRD_DIFFERENCE = 20.0  # variance of that of white noise
# How models are drawn, and how their traces are compared with those of the robot
_ROUNDS = 3
_LEAST_SPREAD = 0.05  # of the models of a round, as a share of the prior's
_LEAST_STEPPED = 0.5  # likewise of what is a whole number, and is known before the last round
_DEPENDS = 3.0  # standard errors by which a feature must depend on a parameter to count
_WEIGHT = 0.5  # of the features' log likelihoods, since they depend on each other
_TOLERANCE = 0.005  # share of a feature's spread over the prior by which any model is off
_FREEDOM = 4.0  # degrees of freedom of Student's t
_REWEIGHTINGS = 10  # after which its mode is found
_CUT = 0.02  # share of models at either end whose features are drawn in: some fell
_CHECKS = 16  # models by which the result is judged
_BATCH = 25  # models that are simulated at a time
_FOREIGN = 2.5  # `CalibratedGait.off` of a robot that is damaged or walks otherwise
_Gait = tuple[int, np.ndarray]


def calibrate(
    repertoire: Repertoire,
    before: Sequence[_Gait],
    *,
    prior: Randomization = PRIOR,
    sensors: Sequence[str] = SENSORS,
    models: int = 200,
    seed: int = 1,
    backend: Backend = ALL_CORES,
    on_progress: Callable[[float], None] | None = None,
) -> Calibration:
    """Find out which models of a robot do what it did, by iterated posterior linearisation.

    After García-Fernández, Svensson, Morelande & Särkkä (2015): models are drawn, first from the prior; the
    features of their traces are regressed on their parameters; with the measured traces, and what the
    regression leaves as noise, this gives a Gaussian posterior, from around which the next models are drawn.
    Noise of features is that of Student's t.

    Args:
        repertoire: of the robot.
        before: rows of gaits, and a trace of each that was recorded while the robot was whole.
        prior: ranges in which parameters are uniform beforehand, see `Parameters`.
        sensors: that the robot has, see `robots.simulation.trace`.
        models: how many run each gait in each of three rounds, and are drawn in the end.
        seed: from which all random numbers derive.
        backend: what runs the episodes.
        on_progress: called with the share that is done.
    """
    if not before:
        raise InvalidValueError("a calibration needs a trace of at least one gait of the whole robot")
    features, parameters = Features(repertoire.robot, sensors), Parameters(repertoire.robot, prior)
    for _, trace in before:
        features.check(trace)
    count = int(parameters.free.sum())
    least = max(2 * count, count + 2)  # a line and its error need two more than there are slopes
    if models < least:
        many = f"{count} parameter{'s' * (count != 1)}"
        raise InvalidValueError(f"there must be at least {least} models for {many}, not {models}")
    traced = _Traced(repertoire, before, features, seed=seed, backend=backend)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(SeedFamily.CALIBRATION),)))
    size, spread = len(parameters.names), np.empty(0)
    mean, covariance = np.zeros(size), np.eye(size)
    with one_blas_thread():  # small matrices; its threads would wait for those of the simulation
        for number in range(_ROUNDS):
            last = number == _ROUNDS - 1
            moving = parameters.free & ~(parameters.stepped & last)
            narrow = np.where(parameters.stepped, _LEAST_STEPPED, _LEAST_SPREAD)
            scatter = np.where(moving, np.maximum(np.sqrt(np.diag(covariance)), narrow), 0.0)
            places = mean + scatter * rng.standard_normal((models, len(mean)))
            shown, _ = traced.run(_robots(parameters, parameters.values(places)), rng, learn=True)
            spread = spread if number else shown.std(axis=0)
            floor = np.tile(features.floor, len(before)) ** 2 + (_TOLERANCE * spread) ** 2
            found = _posterior(places[:, moving], shown, traced.measured(), floor)
            mean[moving], covariance[np.ix_(moving, moving)] = found
            if on_progress:
                on_progress((number + 1) / (_ROUNDS + 1))
    covariance[np.ix_(~moving, moving)] = covariance[np.ix_(moving, ~moving)] = 0
    places = rng.multivariate_normal(mean, covariance, models)
    values = parameters.values(places)
    gaits = _judged(traced, parameters, values, rng)
    _check(gaits)
    return Calibration(
        parameters,
        values,
        traced.noise,
        repertoire.gaits.solutions[[row for row, _ in before]],
        tuple(trace for _, trace in before),
        gaits,
    )


def _posterior(
    places: np.ndarray, shown: np.ndarray, measured: np.ndarray, floor: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of standard normal parameters, (p,) and (p, p), given measured features, (e,).

    n models with the parameters `places`, (n, p), have shown features in a trace each, (n, e); `floor` is the
    variance of what any model may be off by, (e,).
    """
    n, p = places.shape
    shown = np.clip(shown, *np.quantile(shown, (_CUT, 1 - _CUT), axis=0))
    inputs = np.column_stack([np.ones(n), places])
    found, *_ = np.linalg.lstsq(inputs, shown)
    left = ((shown - inputs @ found) ** 2).sum(axis=0) / (n - p - 1)
    errors = np.sqrt(np.diag(np.linalg.inv(inputs.T @ inputs))[:, None] * left)
    # what may be chance would add up over hundreds of features
    slopes = np.where(np.abs(found) > _DEPENDS * errors, found, 0.0)[1:]
    centre = (shown - places @ slopes).mean(axis=0)
    variance = floor + (shown - centre - places @ slopes).var(axis=0)
    mean, precision = places.mean(axis=0), np.eye(p)
    for _ in range(_REWEIGHTINGS):
        squares = (measured - centre - mean @ slopes) ** 2 / variance
        weighted = slopes * (_WEIGHT * (_FREEDOM + 1) / (_FREEDOM + squares) / variance)
        precision = np.eye(p) + weighted @ slopes.T
        mean = np.linalg.solve(precision, weighted @ (measured - centre))
    return mean, np.linalg.inv(precision)


class _Traced:
    """Runs the gaits whose traces were recorded on models of their robot."""

    def __init__(
        self,
        repertoire: Repertoire,
        before: Sequence[_Gait],
        features: Features,
        *,
        seed: int,
        backend: Backend,
    ) -> None:
        self.repertoire, self.before, self.features = repertoire, before, features
        self._seed, self._backend, self._count = seed, backend, 0
        self._columns = TraceColumns.of(repertoire.robot)
        self.noise = np.zeros(self._columns.end)  # standard deviation of what sensors add, once it was learnt

    def measured(self) -> np.ndarray:
        """Features of what was recorded, gait after gait, (g e,)."""
        return np.concatenate([self.features.of([trace], len(trace))[0] for _, trace in self.before])

    def run(
        self, robots: Sequence[Robot], rng: np.random.Generator, *, learn: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Features of all gaits on n robots, (n, g e), and how far each gait got [m], (n, g).

        The noise of sensors is drawn; `learn` finds out how strong that is by these traces.
        """
        rows, found = [row for row, _ in self.before], list[np.ndarray]()
        for start in range(0, len(robots), _BATCH):
            some = robots[start : start + _BATCH]
            seeds = derive_seeds(self._seed, SeedFamily.CALIBRATION, self._count, len(some) * len(rows))
            self._count += len(seeds)
            episodes = self._backend.run(
                ModelBatch(*some),
                self.repertoire.gaits.solutions[np.tile(rows, len(some))],
                seeds,
                models=np.repeat(np.arange(len(some)), len(rows)),
                request=Request(traces=True),
            )
            assert episodes.traces is not None
            found += list(episodes.traces)
        by_gait = [found[number :: len(rows)] for number in range(len(rows))]
        if learn:
            self._learn_noise(by_gait)
        shown, ways = [], []
        for traces, (_, recorded) in zip(by_gait, self.before, strict=True):
            noisy = [trace + self.noise * rng.standard_normal(trace.shape) for trace in traces]
            shown.append(self.features.of(noisy, len(recorded)))
            ways.append([self.distance(trace[: len(recorded)]) for trace in traces])
        return np.concatenate(shown, axis=1), np.array(ways).T

    def distance(self, trace: np.ndarray) -> float:
        """How far a robot got ahead [m]."""
        x = trace[:, self._columns.position]
        return float(x[-1] - x[0]) if len(x) else 0.0

    def _learn_noise(self, by_gait: Sequence[Sequence[np.ndarray]]) -> None:
        """Find out what sensors add by third differences, which what moves smoothly hardly has."""
        at = self._columns
        measured = np.mean([_roughness(trace) for _, trace in self.before], axis=0)
        shown = np.mean([_roughness(trace) for traces in by_gait for trace in traces], axis=0)
        more = np.maximum(measured - shown, 0)
        ends = (at.angle, at.torque), (at.torque, at.attitude), (at.attitude, at.rate), (at.position, at.end)
        for first, end in ends:
            self.noise[first:end] = np.sqrt(np.median(more[first:end]))


def _roughness(trace: np.ndarray) -> np.ndarray:
    """Variance of the white noise that would make third differences as large as they mostly are, (c,)."""
    if len(trace) < 4:
        return np.zeros(trace.shape[1])
    squares = np.diff(trace.astype(np.float64), n=3, axis=0) ** 2
    return np.asarray(np.median(squares, axis=0) / (_MEDIAN_SQUARE * _THIRD_DIFFERENCE))


def _robots(parameters: Parameters, values: np.ndarray) -> list[Robot]:
    draws = enumerate(map(parameters.draw, values))
    return [model_of(parameters.robot, draw, f"model {number}", unseen=True) for number, draw in draws]


def _judged(
    traced: _Traced, parameters: Parameters, values: np.ndarray, rng: np.random.Generator
) -> tuple[CalibratedGait, ...]:
    fitted, ways = traced.run(_robots(parameters, values[:_CHECKS]), rng)
    built, ways_built = traced.run([parameters.robot] * _CHECKS, rng)
    gaits, e = [], len(traced.features)
    scale = np.sqrt(fitted.var(axis=0, ddof=1) + np.tile(traced.features.floor, len(traced.before)) ** 2)
    residuals = ((traced.measured() - shown.mean(axis=0)) / scale for shown in (fitted, built))
    squares, built_squares = ((_FREEDOM + 1) * np.log1p(one**2 / _FREEDOM) for one in residuals)  # Student's
    joints, names = traced.features.joints, parameters.robot.description.joints
    for number, (row, trace) in enumerate(traced.before):
        own = slice(number * e, (number + 1) * e)
        off = {joint: float(np.sqrt(squares[own][joints == joint].mean())) for joint in np.unique(joints)}
        off_built = [np.sqrt(built_squares[own][joints == joint].mean()) for joint in off]
        worst = max(off, key=lambda joint: off[joint])
        gaits.append(
            CalibratedGait(
                name=traced.repertoire.label(row),
                steps=len(trace),
                distance=traced.distance(trace),
                as_built=_moments(ways_built[:, number]),
                calibrated=_moments(ways[:, number]),
                off_as_built=float(max(off_built)),
                off=off[worst],
                joint="the body" if worst < 0 else names[worst],
            )
        )
    return tuple(gaits)


def _check(gaits: Sequence[CalibratedGait]) -> None:
    worst = max(gaits, key=lambda gait: gait.off)
    if worst.off > _FOREIGN:
        raise InvalidValueError(
            f"no model within the ranges does what the robot did in the gait of {worst.name}: {worst.joint} "
            f"is off by {worst.off:.1f} standard deviations; is the robot whole, and is it this gait?"
        )


def _moments(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1))

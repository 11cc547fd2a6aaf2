"""`Forecast`: what all gaits would do under a model, from those that were simulated under it."""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from adapt.gaussian_process import matern_52
from adapt.objective import first_part
from adapt.rehearsal.table import Expectations, shrunk_falls
from adapt.self_model.rating import Model, Rating
from adapt.self_model.twin import Run, Twin
from robots.seeds import SeedFamily, derive_seeds

_LEAST = 1e-9
# Which gaits run under a model, and how alike others are taken to be
_COMPONENTS = 30  # of what was rehearsed
_MEASURES = 0.3  # weight of the measures next to the components of several conditions
_COMPARED = 400  # gaits from which distances are known
_REACH = 0.7  # length scale, as a share of the median distance
_LINEAR = 0.5  # share of the variance that is linear in the features
_NOISE_VARIANCE = 0.05  # of an episode, as a share of that of the gaits
_START = 20  # gaits that run first: so many of the best by what is known, and as many others
_ROUND = 30  # gaits in each further round, at least
_GROWTH = 0.25  # of those that ran so far, which a round has if that is more
_CURIOUS = 0.7  # standard deviations by which a forecast may be exceeded


class Forecast:
    """Runs some gaits under models, and forecasts what all others would do under them.

    The features are those in which gaits that fare alike are near each other, (k, p), see `gait_features`.
    """

    def __init__(self, twin: Twin, features: np.ndarray, *, seed: int) -> None:
        self._twin, self._features, self._seed = twin, features, seed
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(SeedFamily.FORECAST),)))
        # by model, then by gait: objective and fall of whole episodes, and as the first part of one foretells
        self._whole: dict[str, dict[int, list[tuple[float, bool]]]] = {}
        self._begun: dict[str, dict[int, tuple[float, bool]]] = {}
        self._first = first_part(twin.parts.robot)
        self._forecasts: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # by model, since it last ran

    def widen(self, features: np.ndarray) -> None:
        """Forecast further gaits too, whose features follow those of the others, all of which may be new."""
        self._features = features
        self._forecasts.clear()

    def __contains__(self, model: Model) -> bool:
        return bool(self._known(model))

    def complete(self, model: Model) -> bool:
        """Whether all gaits ran under a model."""
        return len(self._known(model)) == len(self._features)

    def explore(self, model: Model, expected: np.ndarray, akin: Sequence[Model]) -> None:
        """Begin episodes of more gaits under a model: those that may be the best by what ran under it so far.

        As long as none ran, those of which most is expected, (k,), and the best ones of models that are akin.
        """
        if model not in self:
            best = np.argsort(-expected, kind="stable")[:_START]
            others = self._rng.permutation(len(self._features))[:_START]
            rows = [*best, *others, *(row for other in akin for row in self._best(other))]
        else:
            means, deviations = self.of(model)
            hope = means[:, 0] + _CURIOUS * deviations[:, 0]
            known = self._known(model)
            hope[list(known)] = -np.inf
            rows = np.argsort(-hope, kind="stable")[: max(_ROUND, int(_GROWTH * len(known)))].tolist()
        self.run(model, rows, 1, begin=True)

    def run(self, model: Model, rows: Iterable[int], count: int, *, begin: bool = False) -> None:
        """Have gaits run under a model until each ran so many whole episodes; or `begin` them."""
        text, aim, runs = str(model.damage), self._twin.thinking.aim, list[Run]()
        whole, begun = self._whole.setdefault(text, {}), self._begun.setdefault(text, {})
        for row in dict.fromkeys(map(int, rows)):
            seeds = derive_seeds(self._seed, SeedFamily.FORECAST, 0, count, row)
            ran = len(whole.get(row, ())) or int(begin and row in begun)
            runs += [Run(model.damage, row, int(seed)) for seed in seeds[ran:]]
        if not runs:
            return
        self._forecasts.pop(text, None)
        episodes = self._twin.run(runs, steps=self._first if begin else None)
        share = self._first / self._twin.parts.robot.description.episode_steps
        objectives = aim.foreseen(episodes, share) if begin else aim.of(episodes)
        for run, objective, fell in zip(runs, objectives.tolist(), episodes.fell.tolist(), strict=True):
            if begin:
                begun[run.row] = objective, fell
            else:
                whole.setdefault(run.row, []).append((objective, fell))

    def whole(self, model: Model) -> dict[int, np.ndarray]:
        """Mean objective and share of falls of each gait in its whole episodes under a model, by its row."""
        return {row: np.mean(found, axis=0) for row, found in self._whole.get(str(model.damage), {}).items()}

    def _known(self, model: Model) -> dict[int, np.ndarray]:
        """The same of each gait that at least began an episode."""
        begun = self._begun.get(str(model.damage), {})
        return {**{row: np.array(found) for row, found in begun.items()}, **self.whole(model)}

    def of(self, model: Model) -> tuple[np.ndarray, np.ndarray]:
        """Objectives and shares of falls of all gaits under a model, and standard deviations, (k, 2) each."""
        text = str(model.damage)
        if text not in self._forecasts:
            known = self._known(model)
            rows, values = np.array(list(known)), np.array(list(known.values()))
            means, deviations = forecast(self._features, rows, values)
            means[rows] = values
            self._forecasts[text] = means, deviations
        return self._forecasts[text]

    def expectations(
        self, models: Sequence[Model], measures: np.ndarray, *, like: Expectations, rating: Rating
    ) -> Expectations:
        """What models are expected to do, of which some gaits ran under each, and to show.

        Falls are smooth over the measures, (k, m). The expectations `like` give the typical noise, and how
        many episodes the forecasts are worth.
        """
        means = np.reshape([self.of(model)[0] for model in models], (-1, len(measures), 2))
        return Expectations(
            damages=[model.damage for model in models],
            objectives=np.maximum(means[:, :, 0], self._twin.thinking.aim.least),
            noise_variance=np.tile(np.median(like.noise_variance, axis=0), (len(models), 1)),
            falls=shrunk_falls(np.clip(means[:, :, 1], 0, 1), measures, like.episodes),
            evidence=rating.evidence_of(models),
            episodes=like.episodes,
        )

    def _best(self, model: Model) -> list[int]:
        known = self._known(model)
        return sorted(known, key=lambda row: (-known[row][0], row))[:_START]


def gait_features(objectives: np.ndarray, measures: np.ndarray) -> np.ndarray:
    """Features in which gaits that fare alike under damage are near each other, (k, p).

    They are the first 30 principal components of what was rehearsed under d conditions, (d, k), and the
    measures, (k, m).
    """
    centred = objectives - objectives.mean(axis=1, keepdims=True)
    _, directions = np.linalg.eigh(centred @ centred.T)  # (d, d), which is small
    components = centred.T @ directions[:, ::-1][:, :_COMPONENTS]
    share = _MEASURES if len(objectives) > 1 else 1.0
    parts = (components, 1.0), (measures - measures.mean(axis=0), share)
    return np.concatenate(
        [share / np.sqrt(max(part.var(axis=0).sum(), _LEAST)) * part for part, share in parts], axis=1
    )


def forecast(features: np.ndarray, rows: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of what all gaits would do, (k, v) each, by a Gaussian process.

    The covariance is half a linear one, and half Matérn 5/2, in units of the variance of the values. Of k
    gaits with the features (k, p) those in some rows, (n,), did the values (n, v).
    """
    few = features[np.linspace(0, len(features) - 1, min(_COMPARED, len(features))).astype(int)]
    reach = max(_REACH * float(np.median(cdist(few, few))), _LEAST)
    size = max(float((features**2).sum(axis=1).mean()), _LEAST)

    def covariance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (1 - _LINEAR) * matern_52(cdist(a, b), length_scale=reach) + _LINEAR * (a @ b.T) / size

    tried = features[rows]
    factor = cho_factor(covariance(tried, tried) + _NOISE_VARIANCE * np.eye(len(rows)))
    cross = covariance(features, tried)
    middle, unit = values.mean(axis=0), np.maximum(values.std(axis=0), _LEAST)
    means = middle + unit * (cross @ cho_solve(factor, (values - middle) / unit))
    prior_variances = (1 - _LINEAR) + _LINEAR * (features**2).sum(axis=1) / size
    variances = np.maximum(prior_variances - (cross * cho_solve(factor, cross.T).T).sum(axis=1), _LEAST)
    return means, np.sqrt(variances)[:, None] * unit

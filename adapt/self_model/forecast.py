"""What all gaits would do under a model, from those that were simulated under it."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from adapt.selectors.gaussian_process import matern_52

_COMPONENTS = 30
_MEASURES = 0.3  # weight of the measures next to the components of several conditions
_SOME = 400  # gaits from which distances are known
_REACH = 0.7  # length scale, as a share of the median distance
_LINEAR = 0.5  # share of the variance that is linear in the features
_NOISE = 0.05  # variance of an episode, as a share of that of the gaits
_LEAST = 1e-9


def gait_features(objectives: np.ndarray, measures: np.ndarray) -> np.ndarray:
    """Features in which gaits that fare alike under damage are near each other, (k, p).

    They are the first 30 principal components of what was rehearsed under d conditions, and the measures.

    Args:
        objectives: under each condition, (d, k).
        measures: (k, m).
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
    """Means and standard deviations of what all gaits would do, by a Gaussian process over their features.

    The covariance is half a linear one, and half Matérn 5/2, in units of the variance of the values.

    Args:
        features: (k, p).
        rows: of n gaits, (n,).
        values: what they did, (n, v).

    Returns:
        (k, v) each.
    """
    few = features[np.linspace(0, len(features) - 1, min(_SOME, len(features))).astype(int)]
    reach = max(_REACH * float(np.median(cdist(few, few))), _LEAST)
    size = max(float((features**2).sum(axis=1).mean()), _LEAST)

    def covariance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (1 - _LINEAR) * matern_52(cdist(a, b), length_scale=reach) + _LINEAR * (a @ b.T) / size

    some = features[rows]
    factor = cho_factor(covariance(some, some) + _NOISE * np.eye(len(rows)))
    cross = covariance(features, some)
    middle, unit = values.mean(axis=0), np.maximum(values.std(axis=0), _LEAST)
    means = middle + unit * (cross @ cho_solve(factor, (values - middle) / unit))
    own = (1 - _LINEAR) + _LINEAR * (features**2).sum(axis=1) / size
    variances = np.maximum(own - (cross * cho_solve(factor, cross.T).T).sum(axis=1), _LEAST)
    return means, np.sqrt(variances)[:, None] * unit

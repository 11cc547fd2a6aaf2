"""`Fits` and `Traced`: what fitted faults expect of trials, and what traces are expected to show."""

from collections.abc import Sequence

import numpy as np

from adapt.expectations import Expectations
from adapt.rehearsal.conditions import shrunk_falls
from adapt.self_model.forecast import Forecast
from adapt.self_model.rating import Model, Rating


class Fits(Expectations):
    """Models that were fitted to trials as hypotheses: they expect what is forecast from what ran under them.

    Args:
        models: that some gaits ran under.
        forecast: of all gaits.
        measures: of the gaits, over which falls are smooth, (k, m).
        like: whose noise is typical, and whose number of episodes the forecasts are worth.
        least: the worst objective that counts.
    """

    def __init__(
        self,
        models: Sequence[Model],
        forecast: Forecast,
        measures: np.ndarray,
        *,
        like: Expectations,
        least: float,
    ) -> None:
        self._like = like
        self.damages, self.episodes = [model.damage for model in models], like.episodes
        means = np.reshape([forecast.of(model)[0] for model in models], (-1, len(measures), 2))
        self.objectives = np.maximum(means[:, :, 0], least)
        self.falls = shrunk_falls(np.clip(means[:, :, 1], 0, 1), measures, like.episodes)

    def noise(self, row: int) -> np.ndarray:
        """See `Expectations`."""
        return np.full(len(self.damages), np.median(self._like.noise(row)))

    def evidence(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Expectations`: none but what `Traced` adds."""
        return np.empty((len(self.damages), 0)), np.empty((len(self.damages), 0))


class Traced(Expectations):
    """Expectations whose evidence are features of traces, as models show them that ran the gaits tried.

    Args:
        inner: all else that is expected.
        models: of its damages, in their order.
        rating: by the trials so far; of other gaits nothing is expected.
    """

    def __init__(self, inner: Expectations, models: Sequence[Model], rating: Rating) -> None:
        self._inner = inner
        self.damages, self.episodes = inner.damages, inner.episodes
        self.objectives, self.falls = inner.objectives, inner.falls
        self._shown = rating.shown(models)
        self._nothing = np.zeros((len(models), len(rating.features))), np.ones(len(rating.features))

    def noise(self, row: int) -> np.ndarray:
        """See `Expectations`."""
        return self._inner.noise(row)

    def evidence(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Expectations`."""
        shown, variance = self._shown.get(row, self._nothing)
        return shown, np.broadcast_to(variance, shown.shape)

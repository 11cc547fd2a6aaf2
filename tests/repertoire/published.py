"""LM-MA-ES, OpenAI-ES and CMA-ES as published: plain transcriptions that ours are compared with.

Sources: I. Loshchilov, T. Glasmachers, H.-G. Beyer, "Large Scale Black-Box Optimization by Limited-Memory
Matrix Adaptation", 2019, Algorithm 1; T. Salimans et al., "Evolution Strategies as a Scalable Alternative to
Reinforcement Learning", 2017, Algorithm 1 and Section 2.1; D. Kingma, J. Ba, "Adam", 2015, Algorithm 1;
N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016.
"""

import math
from collections.abc import Mapping

import numpy as np

from repertoire.strategies.cma_es import CMAES
from repertoire.strategies.sep_cma_es import SepCMAES


class LoshchilovLMMAES:
    """Algorithm 1 of Loshchilov et al.; rates above 1 become 1, and more vectors than n become n."""

    def __init__(self, mean: np.ndarray, sigma: float, batch_size: int, vectors: int) -> None:
        self.n = n = len(mean)
        mu = batch_size // 2
        w = [math.log((batch_size + 1) / 2) - math.log(i) for i in range(1, mu + 1)]
        self.w = [w_i / sum(w) for w_i in w]
        self.mu_w = 1 / sum(w_i**2 for w_i in self.w)
        self.m = min(n, vectors)
        self.c_sigma = min(1, 2 * batch_size / n)
        self.c_d = [1 / (1.5 ** (i - 1) * n) for i in range(1, self.m + 1)]
        self.c_c = [min(1, batch_size / (4 ** (i - 1) * n)) for i in range(1, self.m + 1)]
        self.t, self.y, self.sigma = 0, np.array(mean, np.float64), sigma
        self.p, self.M = np.zeros(n), [np.zeros(n) for _ in range(self.m)]

    def samples(self, noise: np.ndarray) -> np.ndarray:
        self.z = np.asarray(noise, np.float64)
        self.d = self.z
        for i in range(min(self.t, self.m)):
            self.d = (1 - self.c_d[i]) * self.d + self.c_d[i] * np.outer(self.d @ self.M[i], self.M[i])
        return self.y + self.sigma * self.d

    def update(self, ranking: np.ndarray) -> None:
        best = ranking[: len(self.w)]
        z_w = sum(w * self.z[i] for w, i in zip(self.w, best, strict=True))
        self.y = self.y + self.sigma * sum(w * self.d[i] for w, i in zip(self.w, best, strict=True))
        c = self.c_sigma
        self.p = (1 - c) * self.p + math.sqrt(self.mu_w * c * (2 - c)) * z_w
        for i, c_c in enumerate(self.c_c):
            self.M[i] = (1 - c_c) * self.M[i] + math.sqrt(self.mu_w * c_c * (2 - c_c)) * z_w
        self.sigma *= math.exp(c / 2 * (self.p @ self.p / len(self.p) - 1))
        self.t += 1


class SalimansES:
    """Algorithm 1 of Salimans et al. over mirrored samples and centred ranks, its step taken by Adam.

    The sum is divided by the number of pairs, as in the code of Tjanaka et al. 2023.
    """

    def __init__(self, mean: np.ndarray, sigma: float, learning_rate: float, l2: float) -> None:
        self.theta, self.sigma = np.array(mean, np.float64), sigma
        self.n, self.alpha, self.l2 = len(mean), learning_rate, l2
        self.m, self.v, self.t = np.zeros(len(mean)), np.zeros(len(mean)), 0

    def samples(self, noise: np.ndarray) -> np.ndarray:
        self.epsilon = np.array([sign * row for row in np.asarray(noise, np.float64) for sign in (1, -1)])
        return self.theta + self.sigma * self.epsilon

    def update(self, ranking: np.ndarray) -> None:
        batch_size = len(self.epsilon)
        F = np.empty(batch_size)
        for worse, i in enumerate(reversed(ranking)):
            F[i] = worse / (batch_size - 1) - 0.5
        ascent = sum(F[i] * self.epsilon[i] for i in range(batch_size)) / (batch_size / 2 * self.sigma)
        g = -ascent + self.l2 * self.theta
        self.t += 1
        self.m = 0.9 * self.m + (1 - 0.9) * g
        self.v = 0.999 * self.v + (1 - 0.999) * g**2
        m_hat, v_hat = self.m / (1 - 0.9**self.t), self.v / (1 - 0.999**self.t)
        self.theta = self.theta - self.alpha * m_hat / (np.sqrt(v_hat) + 1e-8)


class CodedCMAES:
    """CMA-ES and its separable variant for any number of parents, in x rather than in z.

    With `published`, the rank-one update is that of the paper's code and of pyribs, otherwise Hansen's.
    """

    def __init__(self, mean: np.ndarray, sigma: float, *, separable: bool, published: bool) -> None:
        self.separable, self.published, self.sigma0 = separable, published, sigma
        self.restart(mean)

    def restart(self, mean: np.ndarray) -> None:
        n = len(mean)
        self.m, self.sigma, self.t = np.array(mean, np.float64), self.sigma0, 0
        self.C, self.p_s, self.p_c = np.eye(n), np.zeros(n), np.zeros(n)

    def rates(self, mu_eff: float) -> tuple[float, float, float]:
        """c_c, c_1 and c_mu."""
        n = len(self.m)
        full, separable = 2 / ((n + 1.3) ** 2 + mu_eff), 1 / (n + 2 * math.sqrt(n) + mu_eff / n)
        if not self.separable:
            c_mu = 2 * (mu_eff + 1 / mu_eff - 2) / ((n + 2) ** 2 + mu_eff)
            return (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n), full, min(1 - full, c_mu)
        c_1 = full * separable if self.published else separable
        c_mu = (mu_eff + 1 / mu_eff - 2) / (n + 4 * math.sqrt(n) + mu_eff / 2)
        c_c = (1 + 1 / n + mu_eff / n) / (math.sqrt(n) + 1 / n + 2 * mu_eff / n)
        return c_c, c_1, min(1 - c_1, c_mu)

    def update(self, parents: np.ndarray, whitening: np.ndarray) -> None:
        """Learn from parents (k, n), best first, given C^(-1/2) as it was when it was last decomposed."""
        n, old = len(self.m), self.m
        w = np.log(len(parents) + 0.5) - np.log(np.arange(1, len(parents) + 1))
        w /= w.sum()
        mu_eff = 1 / np.sum(w**2)
        c_s = (mu_eff + 2) / (n + mu_eff + 5)
        d = 1 + 2 * max(0, math.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_s
        c_c, c_1, c_mu = self.rates(mu_eff)
        self.t += 1
        self.m = w @ parents
        step = (self.m - old) / self.sigma
        self.p_s = (1 - c_s) * self.p_s + math.sqrt(c_s * (2 - c_s) * mu_eff) * (whitening @ step)
        length = self.p_s @ self.p_s / n
        h = length / (1 - (1 - c_s) ** (2 * self.t)) < 2 + 4 / (n + 1)
        unit = self.sigma if self.published else 1.0
        self.p_c = (1 - c_c) * self.p_c + h * math.sqrt(c_c * (2 - c_c) * mu_eff) * step * unit
        rank_one = (c_1**2 if self.published else c_1) * np.outer(self.p_c, self.p_c)
        rank_mu = sum(w_i * np.outer(y, y) for w_i, y in zip(w, (parents - old) / self.sigma, strict=True))
        self.C = (1 - c_1 * (1 - (1 - h) * c_c * (2 - c_c)) - c_mu) * self.C + rank_one + c_mu * rank_mu
        if self.separable:
            self.C = np.diag(np.diag(self.C))
        self.sigma *= math.exp(min(1, c_s / d * (length - 1) / 2))


def samples_of(es: CMAES | SepCMAES, state: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """What a strategy sampled last, unrounded, and C^(-1/2), given its state before."""
    n = es.solution_dim
    basis = state.get("basis", np.eye(n))
    deviations = state["deviations"] if "basis" in state else np.sqrt(state["variances"])
    steps = (np.asarray(es._noise, np.float64) * deviations) @ basis.T
    return state["mean"] + state["sigma"] * steps, (basis / deviations) @ basis.T

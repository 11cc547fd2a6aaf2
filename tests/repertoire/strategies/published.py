"""LM-MA-ES and OpenAI-ES as published: plain transcriptions that the strategies are compared with.

Also CMA-ES and its separable variant as in the code of Tjanaka et al. 2023, whose equations pyribs shares.

Sources: I. Loshchilov, T. Glasmachers, H.-G. Beyer, "Large Scale Black-Box Optimization by Limited-Memory
Matrix Adaptation", 2019, Algorithm 1; T. Salimans et al., "Evolution Strategies as a Scalable Alternative to
Reinforcement Learning", 2017, Algorithm 1 and Section 2.1; D. Kingma, J. Ba, "Adam", 2015, Algorithm 1.
"""

import math

import numpy as np


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
    """Algorithm 1 of Salimans et al. over mirrored samples and centred ranks, its step taken by Adam."""

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
        ascent = sum(F[i] * self.epsilon[i] for i in range(batch_size)) / (batch_size * self.sigma)
        g = -ascent + self.l2 * self.theta
        self.t += 1
        self.m = 0.9 * self.m + (1 - 0.9) * g
        self.v = 0.999 * self.v + (1 - 0.999) * g**2
        m_hat, v_hat = self.m / (1 - 0.9**self.t), self.v / (1 - 0.999**self.t)
        self.theta = self.theta - self.alpha * m_hat / (np.sqrt(v_hat) + 1e-8)


class CodedCMAES:
    """CMA-ES, or its separable variant, as published code has it: in x rather than in z."""

    def __init__(self, mean: np.ndarray, sigma: float, batch_size: int, *, separable: bool) -> None:
        n, mu = len(mean), batch_size // 2
        w = np.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
        self.w = w / w.sum()
        self.mu_eff = mu_eff = 1 / np.sum(self.w**2)
        self.c_s = (mu_eff + 2) / (n + mu_eff + 5)
        self.d = 1 + 2 * max(0, math.sqrt((mu_eff - 1) / (n + 1)) - 1) + self.c_s
        self.c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)
        if separable:
            self.c_c = (1 + 1 / n + mu_eff / n) / (math.sqrt(n) + 1 / n + 2 * mu_eff / n)
            self.c_1 *= 1 / (n + 2 * math.sqrt(n) + mu_eff / n)
            c_mu = (mu_eff + 1 / mu_eff - 2) / (n + 4 * math.sqrt(n) + mu_eff / 2)
        else:
            self.c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n)
            c_mu = 2 * (mu_eff + 1 / mu_eff - 2) / ((n + 2) ** 2 + mu_eff)
        self.c_mu = min(1 - self.c_1, c_mu)
        self.separable, self.m, self.sigma, self.t = separable, np.array(mean, np.float64), sigma, 0
        self.C, self.p_s, self.p_c = np.eye(n), np.zeros(n), np.zeros(n)

    def update(self, x: np.ndarray, ranking: np.ndarray, whitening: np.ndarray) -> None:
        """Learn from samples (batch_size, n), given C^(-1/2) as it was when it was last decomposed."""
        n, old, parents = len(self.m), self.m, x[ranking[: len(self.w)]]
        self.t += 1
        self.m = self.w @ parents
        step, c_c = self.m - old, self.c_c
        self.p_s = (1 - self.c_s) * self.p_s + math.sqrt(self.c_s * (2 - self.c_s) * self.mu_eff) * (
            whitening @ step / self.sigma
        )
        length = self.p_s @ self.p_s / n
        h = length / (1 - (1 - self.c_s) ** (2 * self.t)) < 2 + 4 / (n + 1)
        self.p_c = (1 - c_c) * self.p_c + h * math.sqrt(c_c * (2 - c_c) * self.mu_eff) * step
        rank_mu = sum(w * np.outer(y, y) for w, y in zip(self.w, (parents - old) / self.sigma, strict=True))
        kept = 1 - self.c_1 * (1 - (1 - h) * c_c * (2 - c_c)) - self.c_mu
        self.C = kept * self.C + self.c_1**2 * np.outer(self.p_c, self.p_c) + self.c_mu * rank_mu
        if self.separable:
            self.C = np.diag(np.diag(self.C))
        self.sigma *= math.exp(min(1, self.c_s / self.d * (length - 1) / 2))

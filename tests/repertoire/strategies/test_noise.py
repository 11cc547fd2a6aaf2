"""Noise: the published generator, the transform to normals, and that the numbers behave as normals."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import rankdata
from search_tools import generator

from repertoire.strategies import noise
from repertoire.strategies.noise import Noise
from repertoire.strategies.openai_es import MirroredSamples, centred_ranks

COUNT = 1 << 20


def numbers(count: int = COUNT, *, seed: int = 1, draw: int = 1, stream: int = 0) -> np.ndarray:
    out = np.full(count, np.nan, np.float32)
    Noise(generator(seed)).fill(out, draw=draw, stream=stream)
    return out


@pytest.fixture(scope="module")
def sample() -> np.ndarray:
    return numbers().astype(np.float64)


# kat_vectors of Random123, philox4x32 with 10 rounds: counter, key, words
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN_ANSWERS)
def test_known_answers_of_philox(counter, key, words):
    c, k = ([int(word, 16) for word in text.split()] for text in (counter, key))  # low words first
    found = [np.empty(1, np.uint32) for _ in range(4)]
    noise._philox(np.uint64(k[0] | k[1] << 32), c[0], c[1], np.uint64(c[2] | c[3] << 32), *found, 1)
    assert " ".join(f"{int(word[0]):08x}" for word in found) == words


def normals(lengths: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Box and Muller in float64: 24 bits of one word give the length, all but 7 of the other the turn."""
    uniforms = (np.float32(lengths >> 8) + np.float32(0.5)).astype(np.float64) / 2**24
    lengths = np.sqrt(-2 * np.log(uniforms))
    angles = np.pi / 2 * (((turns >> 7) & 0x7FFFFF) + 0.5 - 2.0**22) / 2**23
    angles = np.where(turns >> 30 & 1, np.pi / 2 - angles, angles) + np.pi * (turns >> 31)
    return lengths * np.cos(angles), lengths * np.sin(angles)


def transform(lengths, turns):
    count = lengths.size
    uniforms, radii, cosines, sines = (np.empty(count, np.float32) for _ in range(4))
    noise._radius(lengths, uniforms, uniforms.view(np.int32), radii, count)
    noise._turn(turns, radii, cosines, sines, count)
    return cosines, sines


def test_the_transform_is_box_and_mullers():
    lengths, turns = generator(3).integers(0, 2**32, (2, COUNT), dtype=np.uint32)
    extremes = np.array([0, 255, 256, 2**31 - 1, 2**31, 2**32 - 257, 2**32 - 1], np.uint32)
    lengths[:49], turns[:49] = np.repeat(extremes, 7), np.tile(extremes, 7)
    for actual, expected in zip(transform(lengths, turns), normals(lengths, turns), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)


def test_the_distribution_is_normal(sample):
    assert stats.kstest(sample, "norm").pvalue > 0.01
    bins = stats.norm.ppf(np.linspace(0, 1, 257))
    assert stats.chisquare(np.histogram(sample, bins)[0]).pvalue > 0.01


N = 50


def make(count: int) -> MirroredSamples:
    return MirroredSamples(count, sigma=0.02, solution_dim=N, rng=generator(0))


def draw(samples: MirroredSamples, point: np.ndarray) -> np.ndarray:
    solutions = np.full((samples.count, point.size), np.nan, np.float32)
    samples.draw(point, solutions)
    return solutions


@pytest.mark.parametrize("count", [2, 4, 6, 100])
def test_pairs_lie_on_either_side_of_the_point(count):
    point = np.linspace(-1, 1, N)
    steps = draw(make(count), point) - point
    np.testing.assert_allclose(steps[0::2], -steps[1::2], atol=1e-6)
    assert len(np.unique(steps, axis=0)) == count


def test_estimates_equal_the_published_sum():
    samples, point = make(6), np.zeros(N)
    solutions = draw(samples, point).astype(np.float64)
    values = np.array([[3.0, 0.1], [1, 0.5], [-2, 0.2], [9, 0.3], [4, 0.6], [5, 0.4]])
    expected = np.zeros((2, N))
    for k in range(2):
        ranks = rankdata(values[:, k]) - 1
        for i in range(6):
            expected[k] += (ranks[i] / 5 - 0.5) * (solutions[i] / 0.02) / (6 * 0.02)
    np.testing.assert_allclose(samples.gradients(values), expected, rtol=1e-5, atol=1e-5)


def test_equal_values_share_the_mean_of_their_ranks():
    np.testing.assert_allclose(centred_ranks(np.array([1.0, 0, 1, 1, 2])), [0, -0.5, 0, 0, 0.5])
    assert not centred_ranks(np.ones(6)).any()
    values = np.random.default_rng(0).integers(5, size=40).astype(float)
    np.testing.assert_allclose(centred_ranks(values), (rankdata(values) - 1) / 39 - 0.5)

"""`symmetric_eigen` against what an eigendecomposition must be, and against LAPACK's eigenvalues."""

import numpy as np
import pytest

from repertoire.eigen import symmetric_eigen
from repertoire.eigen.rank_one import rank_one_vectors
from repertoire.eigen.secular import secular_roots

# a few of NumPy's, and of ours those about multiples of a register, a leaf and a block
SIZES = [1, 2, 3, 23, 24, 25, 31, 32, 33, 34, 39, 40, 41, 50, 64, 65, 99, 100, 101, 150, 200]


def assert_decomposed(matrix):
    n = len(matrix)
    lower = np.tril(matrix)
    full = lower + np.tril(lower, -1).T
    values, vectors = symmetric_eigen(matrix)
    norm = np.linalg.norm(full, 2)
    assert values.shape == (n,)
    assert vectors.shape == (n, n)
    assert vectors.flags.f_contiguous
    assert (np.diff(values) >= 0).all()
    assert np.linalg.norm(full @ vectors - vectors * values, 2) <= 1e-15 * n * norm
    assert np.linalg.norm(vectors.T @ vectors - np.eye(n), 2) <= 1e-15 * n
    np.testing.assert_allclose(values, np.linalg.eigvalsh(full), rtol=0, atol=1e-15 * n * norm)


def with_eigenvalues(values, seed=1):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    matrix = (basis * values) @ basis.T
    return (matrix + matrix.T) / 2


@pytest.mark.parametrize("n", SIZES)
def test_sample_covariances(n):
    rng = np.random.default_rng(n)
    samples = rng.standard_normal((n, 2 * n + 1))
    assert_decomposed(np.asfortranarray(samples @ samples.T))


@pytest.mark.parametrize("n", SIZES)
def test_indefinite_matrices(n):
    matrix = np.random.default_rng(n).standard_normal((n, n))
    assert_decomposed(matrix + matrix.T)


SPECTRA = {
    "condition 1e14": lambda n: np.logspace(-14, 0, n),
    "ascending condition 1e30": lambda n: np.logspace(-30, 0, n),
    "five clusters": lambda n: np.arange(n) % 5 + 1.0,
    "nearly equal": lambda n: 1 + 1e-15 * np.arange(n),
    "clusters that nearly split": lambda n: np.arange(n) % 3 + 1e-13 * np.arange(n),
    "one large": lambda n: np.r_[np.ones(n - 1), 1e8],
    "one small": lambda n: np.r_[np.ones(n - 1), 1e-14],
    "rank one": lambda n: np.r_[np.zeros(n - 1), 1.0],
    "tiny": lambda n: 1e-20 * np.linspace(1, 2, n),
    "huge": lambda n: 1e20 * np.linspace(1, 2, n),
    "squares underflow": lambda n: 1e-200 * np.linspace(1, 2, n),
    "squares overflow": lambda n: 1e200 * np.linspace(1, 2, n),
}


@pytest.mark.parametrize("n", [24, 33, 40, 100, 130])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_spectra(spectrum, n):
    assert_decomposed(with_eigenvalues(SPECTRA[spectrum](n)))


@pytest.mark.parametrize("n", [1, 3, 33, 100])
@pytest.mark.parametrize("factor", [0.0, 1.0, -1.0, 1e-20, 1e20])
def test_multiples_of_the_identity(n, factor):
    values, vectors = symmetric_eigen(factor * np.eye(n))
    np.testing.assert_array_equal(values, np.full(n, factor))
    np.testing.assert_array_equal(np.sort(vectors, axis=1)[:, -1], np.ones(n))  # a permutation of the axes
    np.testing.assert_array_equal(vectors.T @ vectors, np.eye(n))


@pytest.mark.parametrize("n", [3, 33, 100])
def test_diagonals_in_any_order(n):
    rng = np.random.default_rng(n)
    diagonal = rng.permutation(np.arange(1.0, n + 1))
    assert_decomposed(np.diag(diagonal))
    np.testing.assert_allclose(symmetric_eigen(np.diag(diagonal))[0], np.sort(diagonal), rtol=1e-15)


@pytest.mark.parametrize("n", [25, 100])
def test_pairs_as_close_as_wilkinsons(n):
    assert_decomposed(np.diag(abs(np.arange(n) - n // 2.0)) + np.eye(n, k=1) + np.eye(n, k=-1))


@pytest.mark.parametrize("n", [30, 33, 100])
def test_second_differences_have_their_eigenvalues(n):
    matrix = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    expected = 4 * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1))) ** 2
    np.testing.assert_allclose(symmetric_eigen(matrix)[0], expected, atol=1e-14)


def test_only_the_lower_triangle_is_read_and_nothing_is_written():
    matrix = np.random.default_rng(1).standard_normal((40, 40))
    other = np.tril(matrix) + np.triu(np.full((40, 40), np.nan), 1)
    before = other.copy()
    for copy in (other, np.asfortranarray(other)):
        for ours, expected in zip(symmetric_eigen(copy), symmetric_eigen(matrix), strict=True):
            np.testing.assert_array_equal(ours, expected)
        np.testing.assert_array_equal(copy, before)


def test_twice_the_same():
    matrix = with_eigenvalues(np.arange(100) % 7 + 1.0)
    first, second = symmetric_eigen(matrix), symmetric_eigen(matrix)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_left_to_numpy(value):
    matrix = np.eye(30)
    matrix[5, 3] = value
    try:
        expected = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        with pytest.raises(np.linalg.LinAlgError):
            symmetric_eigen(matrix)
    else:
        np.testing.assert_array_equal(symmetric_eigen(matrix)[0], expected[0])


@pytest.mark.parametrize("n", [0, 201])
def test_other_sizes_are_left_to_numpy(n):
    matrix = with_eigenvalues(np.linspace(1, 2, n)) if n else np.empty((0, 0))
    ours, expected = symmetric_eigen(matrix), np.linalg.eigh(matrix)
    np.testing.assert_array_equal(ours[0], expected[0])
    np.testing.assert_array_equal(ours[1], expected[1])


@pytest.mark.parametrize("k", [1, 2, 3, 8, 9, 60])
def test_a_rank_one_update_of_a_diagonal(k):
    rng = np.random.default_rng(k)
    d, z = np.sort(rng.standard_normal(k)), rng.standard_normal(k) * 10.0 ** rng.integers(-6, 1, k)
    origins, offsets = secular_roots(d, 0.7 * z**2)
    roots = origins + offsets
    assert (roots >= d).all()
    assert (roots[:-1] <= d[1:]).all()
    matrix = np.diag(d) + 0.7 * np.outer(z, z)
    np.testing.assert_allclose(roots, np.linalg.eigvalsh(matrix), atol=1e-14 * np.abs(matrix).sum())
    vectors = rank_one_vectors(d, z, origins, offsets, np.arange(k))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-14)
    np.testing.assert_allclose(matrix @ vectors, vectors * roots, atol=1e-14 * np.abs(matrix).sum())

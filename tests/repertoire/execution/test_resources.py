from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from repertoire.archives.archive import Archive
from repertoire.archives.grid import GridSpec
from repertoire.execution.resources import array_bytes, one_blas_thread
from repertoire.strategies.sep_cma_es import SepCMAESSettings


@pytest.fixture(scope="module", autouse=True)
def single_thread():
    """No limit for all tests: one of them is about limits."""


def test_arrays_are_found_wherever_objects_hold_them():
    Pair = namedtuple("Pair", "a b")
    array = [np.zeros(10, np.float32) for _ in range(5)]
    nested = SimpleNamespace(a=array[0], b=[{"c": array[1]}, (array[2], "text", None, 1.5)])
    assert array_bytes(nested, Pair(array[3], array[4])) == 5 * 40
    assert array_bytes() == array_bytes(3, "text", None, np.ndarray) == 0


def test_an_array_counts_once_and_a_view_as_what_it_looks_at():
    array = np.zeros((10, 10))
    assert array_bytes(array, [array, array[2]], SimpleNamespace(view=array[::2].T)) == 800
    assert array_bytes(array[3, :2]) == 800


def test_objects_may_refer_to_each_other():
    one, other = SimpleNamespace(a=np.zeros(3)), SimpleNamespace(b=np.zeros(4))
    one.other, other.one = other, one
    assert array_bytes(one) == 56


def test_an_archive_and_a_strategy_take_what_their_sizes_say():
    archive = Archive(GridSpec((30, 30)), solution_dim=100, ranges=[(0, 1)] * 2)
    assert 900 * 400 < array_bytes(archive) < 1.2 * 900 * 400
    rng = np.random.Generator(np.random.SFC64(0))
    strategy = SepCMAESSettings(sigma0=1.0, batch_size=40).make(np.zeros(1000), rng)
    assert 40 * 4000 < array_bytes(strategy) < 40 * 4000 + 10 * 8000


def test_overlapping_limits_of_blas_end_with_the_last():
    def limits():
        return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}

    with ThreadPoolExecutor(1) as thread:
        before = thread.submit(threadpool_limits, 2, user_api="blas").result()
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        one, other = ExitStack(), ExitStack()
        first.submit(one.enter_context, one_blas_thread()).result()
        second.submit(other.enter_context, one_blas_thread()).result()
        first.submit(one.close).result()
        assert limits() == {1}
        second.submit(other.close).result()
    assert limits() == {2}
    before.restore_original_limits()

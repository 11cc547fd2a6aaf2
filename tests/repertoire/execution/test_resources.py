from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from repertoire.execution.running import array_bytes, one_blas_thread


@pytest.fixture(scope="module", autouse=True)
def single_thread():
    """No limit for all tests: one of them is about limits."""


def test_arrays_are_found_wherever_objects_hold_them():
    Pair = namedtuple("Pair", "a b")
    array = [np.zeros(10, np.float32) for _ in range(5)]
    nested = SimpleNamespace(a=array[0], b=[{"c": array[1]}, (array[2], "text", None, 1.5)])
    assert array_bytes(nested, Pair(array[3], array[4])) == 5 * 40
    assert array_bytes() == array_bytes(3, "text", None, np.ndarray) == 0
    array = np.zeros((10, 10))
    assert array_bytes(array, [array, array[2]], SimpleNamespace(view=array[::2].T)) == 800
    one, other = SimpleNamespace(a=np.zeros(3)), SimpleNamespace(b=np.zeros(4))
    one.other, other.one = other, one
    assert array_bytes(one) == 56


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

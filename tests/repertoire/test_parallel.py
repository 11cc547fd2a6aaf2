import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from repertoire.parallel import share_out


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_results_come_in_the_order_of_the_tasks(threads: int, count: int) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert share_out([lambda i=i: i * i for i in range(count)], pool, threads) == [
            i * i for i in range(count)
        ]


def test_two_threads_work_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=20)  # broken if one waits for the other to end
    with ThreadPoolExecutor(1) as pool:
        places = share_out([meeting.wait, meeting.wait], pool, 2)
    assert sorted(places) == [0, 1]


def test_an_error_reaches_the_caller_after_all_have_stopped() -> None:
    running = []

    def fail() -> None:
        raise RuntimeError("no")

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(RuntimeError, match="no"):
            share_out([fail, lambda: running.append(1)], pool, 2)
        assert share_out([lambda: 1], pool, 2) == [1]

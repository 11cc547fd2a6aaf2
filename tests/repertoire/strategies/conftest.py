from collections.abc import Iterator

import pytest

from repertoire.resources import one_blas_thread


@pytest.fixture(scope="module", autouse=True)
def single_thread() -> Iterator[None]:
    """As in a run; matrices as small as these would take longer with several."""
    with one_blas_thread():
        yield

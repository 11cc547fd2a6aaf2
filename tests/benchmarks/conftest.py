import pytest

from benchmarks.__main__ import main


@pytest.fixture
def program():
    return main

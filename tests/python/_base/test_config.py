"""The number of threads: what is set, and what is followed."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_limits

import kernsel as ks
from kernsel import _core

from children import run

needs_openmp = pytest.mark.skipif(
    not _core.openmp_version(), reason="built without OpenMP, whose number of threads is followed"
)


def test_threads_are_validated(threads):
    for bad in (0, -1):
        with pytest.raises(ValueError, match=f"count: expected at least 1 thread, got {bad}"):
            ks.set_num_threads(bad)
    for bad in (1.0, "2", None, True):
        with pytest.raises(TypeError, match="count: expected an integer"):
            ks.set_num_threads(bad)
    threads(1)
    assert ks.get_num_threads() == 1


@needs_openmp
def test_threads_follow_openmp(threads):
    threads(3)
    assert ks.get_num_threads() == 3
    with threadpool_limits(1):
        assert ks.get_num_threads() == 1
    assert ks.get_num_threads() == 3
    code = "import kernsel as ks; print(ks.get_num_threads())"
    with ThreadPoolExecutor() as pool:
        assert list(pool.map(lambda count: run(code, OMP_NUM_THREADS=count), "17")) == ["1\n", "7\n"]

"""The threads of BLAS, which fits of our own threads leave as they were."""

import os
import sys
import textwrap

import pytest

from children import run

needs_several_processors = pytest.mark.skipif(os.cpu_count() == 1, reason="one processor: BLAS has one thread anyway")
needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="no fork on this system")
THREADS_OF_BLAS = """
    import concurrent.futures, os, threading, time, numpy as np, threadpoolctl, kernsel as ks
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 2)); y = X.sum(axis=1) + 0.1 * rng.standard_normal(40)
    def fit(seed): return ks.GaussianProcessRegressor(random_state=seed).fit(X, y)
    def blas(): return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}
    before = blas()
"""


@pytest.mark.slow
@needs_several_processors
def test_fits_in_several_threads_leave_the_threads_of_blas_alone():
    code = """
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(fit, range(12)))
        assert blas() == before, blas()
        fit(0)
        assert blas() == before, blas()
        with threadpoolctl.threadpool_limits(3, user_api="blas"):
            fit(0)
            assert blas() == {3}, blas()
        assert blas() == before, blas()
    """
    run(textwrap.dedent(THREADS_OF_BLAS) + textwrap.dedent(code))


@pytest.mark.slow
@needs_several_processors
@needs_fork
def test_a_fork_while_another_thread_fits_leaves_the_threads_of_blas_alone():
    code = """
        stop = threading.Event()
        def fits():
            while not stop.is_set(): fit(0)
        thread = threading.Thread(target=fits)
        thread.start()
        while blas() != {1}: time.sleep(0.001)
        pid = os.fork()
        if pid == 0: os._exit(0 if blas() == before else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        stop.set()
        thread.join()
        assert blas() == before
    """
    run(textwrap.dedent(THREADS_OF_BLAS) + textwrap.dedent(code), timeout=60)

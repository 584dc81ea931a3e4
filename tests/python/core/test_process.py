"""Threads, signals and fork: computations that are good citizens of their process."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kernsel as ks
from kernsel import _core

import children
from children import run

needs_openmp = pytest.mark.skipif(
    not _core.openmp_version(), reason="built without OpenMP, whose number of threads is followed"
)
needs_several_processors = pytest.mark.skipif(os.cpu_count() == 1, reason="one processor: BLAS has one thread anyway")
needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="no fork on this system")


@needs_openmp
def test_threads_are_really_used():
    # Beside other work the second thread may rest for a while: it is given some time to be seen.
    code = """
        import time, numpy as np, psutil, kernsel as ks
        A = np.eye(2000) + 0.5
        def at_work():
            return sum(thread.user_time + thread.system_time > 0.1 for thread in psutil.Process().threads())
        for count, seconds in ((1, 0.7), (2, 20)):
            ks.set_num_threads(count)
            start = time.process_time()
            while time.process_time() < start + seconds and at_work() < 2: ks.linalg.cholesky(A)
            print(at_work())
    """
    assert run(code) == "1\n2\n"


def test_processors_that_the_process_may_not_use_are_not_counted():
    code = """
        import os, kernsel as ks
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(ks.get_num_threads())
        ks.set_num_threads(2)
        print(ks.get_num_threads())
    """
    if hasattr(os, "sched_setaffinity"):
        assert run(code) == "1\n2\n"


@pytest.mark.slow
@needs_several_processors
def test_threads_that_get_no_processor_are_not_waited_for():
    """Beside a busy process on each processor, two threads may not take much longer than one."""
    code = """
        import os, subprocess, sys, time, numpy as np, kernsel as ks
        A = np.eye(300) + 0.5
        def mean_time(count):
            ks.set_num_threads(count)
            times = []
            end = time.perf_counter() + 0.5
            while time.perf_counter() < end:
                start = time.perf_counter()
                ks.linalg.cholesky(A)
                times.append(time.perf_counter() - start)
            return sum(times) / len(times)
        forever = "import time; end = time.monotonic() + 60\\nwhile time.monotonic() < end: pass"
        busy = [subprocess.Popen([sys.executable, "-c", forever]) for _ in range(os.cpu_count())]
        try:
            one, several = zip(*[(mean_time(1), mean_time(os.cpu_count())) for _ in range(2)])
        finally:
            for process in busy:
                process.kill()
                process.wait()
        print(min(several) / min(one))
    """
    assert float(run(code)) < 2.0  # 20, if they wait for each other busily


def test_the_interpreter_goes_on():
    A = np.eye(4000) + 0.5
    ticks, done = 0, threading.Event()

    def work():
        ks.linalg.cholesky(A)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 3  # one only, if the factorization kept the GIL


def test_many_python_threads_at_once(rng):
    A = [np.eye(n) * n + rng.uniform(size=(n, n)) for n in (50, 300, 700, 900)]
    A = [(a + a.T) / 2 for a in A]
    expected = [ks.linalg.cholesky(a).inverse() for a in A]
    shared = ks.linalg.cholesky(A[1])
    failures = []

    def work(i):
        for _ in range(5):
            if not np.array_equal(ks.linalg.cholesky(A[i % 4]).inverse(), expected[i % 4]):
                failures.append(i)
            if not np.array_equal(shared.inverse(), expected[1]):
                failures.append(-1)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_fits_and_predictions_at_once(rng):
    """Each thread fits a model of its own, and all predict from one: also where there is no global lock, with the same bits."""
    X = rng.uniform(size=(40, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1]
    kernel = ks.kernels.RBF("auto")
    models = [
        lambda: ks.GaussianProcessRegressor(kernel, random_state=0),
        lambda: ks.GaussianProcessRegressor(kernel, random_state=0, approximation=ks.Vecchia(10)),
        lambda: ks.KernelRidge(kernel, alpha=0.1),
        lambda: ks.SVR(kernel, C=1.0, epsilon=0.1),
    ]
    expected = [make().fit(X, y).predict(X) for make in models]
    shared = [make().fit(X, y) for make in models]
    start = threading.Barrier(4)

    def work(first):
        start.wait(timeout=60)
        both = (first, (first + 1) % 4)
        return [
            np.array_equal(predictions, expected[i])
            for i in both
            for predictions in (models[i]().fit(X, y).predict(X), shared[i].predict(X))
        ]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [[True] * 4] * 4


@pytest.mark.skipif(getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this Python has a global lock")
def test_free_threading_stays():
    assert run("import sys, kernsel.estimators; print(sys._is_gil_enabled())") == "False\n"


def test_a_factor_that_changes_while_it_is_read():
    A = np.eye(400) + 0.5
    F = ks.linalg.cholesky(A)
    stop = threading.Event()
    sizes = set()

    def read():
        while not stop.is_set():
            L = F.lower()
            sizes.add(len(L))
            assert np.abs(L @ L.T - A[: len(L), : len(L)]).max() < 1e-10

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(20):
        F.remove(-1)
        F.append(A[: F.n, F.n], A[0, 0])
    stop.set()
    reader.join()
    assert sizes <= {399, 400}


@needs_fork
def test_fork():
    """A child computes as its parent does: also a child of a child, in a thread, in a pool, or forked during a computation."""
    program = """
        import multiprocessing, os, threading, numpy as np, kernsel as ks
        A = np.eye(1000) + 0.5
        def compute(): return ks.linalg.cholesky(A).logdet()
        def run_compute(_): return compute()
        expected = compute()
        def child(f):
            pid = os.fork()
            if pid == 0:
                try: code = 0 if f() in (expected, 1) and ks.get_num_threads() == 1 else 1
                except BaseException: code = 2
                os._exit(code)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        def check(code): assert code == 0, code
        def in_thread():
            result = []
            t = threading.Thread(target=lambda: result.append(compute())); t.start(); t.join()
            return result[0]
        check(child(compute))
        check(child(lambda: child(compute) or 1))
        check(child(in_thread))
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(run_compute, range(4)) == [expected] * 4
        t = threading.Thread(target=lambda: [compute() for _ in range(30)]); t.start()
        for _ in range(5): check(child(compute))
        t.join()
    """
    run(program, timeout=60)


INTERRUPTED = """
    import itertools, numpy as np, psutil
    import kernsel as ks
    n = 9_000  # each call takes longer than it may take to end
    A = np.full((n, n), 0.5); A.flat[:: n + 1] = 1.5
    X = np.arange(2.0 * n).reshape(n, 2)
    model = ks.KernelRidge(ks.kernels.RBF(0.1))  # here, so that what it imports is not taken for a leak
    for call in (
        lambda: ks.linalg.cholesky(A),
        lambda: ks.kernels.RBF([1.0, 2.0]).pullback(X, A),
        lambda: ks.kernels.RBF([1.0, 2.0]).matmul(X, X, A[:, :360]),
        lambda: model.fit(X, X[:, 0]),
    ):
        before = psutil.Process().memory_info().rss
        print("ready", flush=True)
        try:
            for _ in itertools.repeat(None): call()  # in "while", Python 3.11 may leave try where it jumps back
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        leaked = psutil.Process().memory_info().rss - before
        assert leaked < 100e6, leaked
        assert abs(ks.linalg.cholesky(A[:500, :500]).logdet() - np.linalg.slogdet(A[:500, :500])[1]) < 1e-9
"""


@needs_fork
@pytest.mark.parametrize("count", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_interrupt(count):
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=children.environment(OMP_NUM_THREADS=count),
    ) as child:
        try:
            for call in ("cholesky", "pullback", "matmul", "fit"):
                assert child.stdout.readline() == "ready\n", (call, child.stderr.read())
                time.sleep(0.3)
                start = time.perf_counter()
                child.send_signal(2)
                assert child.stdout.readline() == "interrupted\n", (call, child.stderr.read())
                assert time.perf_counter() - start < 1.0, call
            _, errors = child.communicate(timeout=60)
            assert child.returncode == 0, errors
        finally:
            child.kill()


def test_a_signal_handler_that_does_not_raise_lets_the_work_go_on():
    code = """
        import os, signal, threading, time, numpy as np, kernsel as ks
        seen = []
        signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        A = np.full((4000, 4000), 0.5); A.flat[::4001] = 1.5
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        for _ in range(2): F = ks.linalg.cholesky(A)
        assert seen and F.n == 4000
    """
    run(code)


@needs_fork
@pytest.mark.slow
def test_a_signal_handler_may_compute():
    code = """
        import signal, numpy as np, kernsel as ks
        rng = np.random.default_rng(0)
        X, B, k = rng.standard_normal((1500, 3)), rng.standard_normal((1500, 300)), ks.kernels.RBF([1.0, 2.0, 3.0])
        A = k(X) + np.eye(1500)
        F = ks.linalg.cholesky(A)
        small = ks.linalg.cholesky(np.eye(600) + 0.5)
        runs, inside = [], []
        def handler(*_):
            if inside: return  # on a busy machine it takes longer than the time between signals
            inside.append(1)
            small.solve(np.ones((600, 400))); small.inverse(); k.matmul(X[:500], X[:500], B[:500]); runs.append(1)
            inside.clear()
        signal.signal(signal.SIGALRM, handler)
        for name, call in {
            "inverse": F.inverse,
            "solve": lambda: F.solve(B),
            "inverse_diagonal": F.inverse_diagonal,
            "matmul": lambda: k.matmul(X, X, B),
            "pullback": lambda: k.pullback(X, A),
        }.items():
            expected = call()
            runs.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
            while len(runs) < 6: assert np.array_equal(call(), expected), name
            signal.setitimer(signal.ITIMER_REAL, 0)
    """
    run(code)


@needs_fork
def test_a_signal_handler_that_uses_the_interrupted_factor():
    code = """
        import signal, numpy as np, kernsel as ks
        F = ks.linalg.cholesky(np.eye(4000) + 0.5)
        def handler(*_): F.append(np.ones(4000), 9.0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            while True: F.inverse_diagonal()
        except RuntimeError as error:
            assert "in use by the computation that a signal handler interrupts" in str(error), error
        assert F.n == 4000
    """
    run(code)


def test_numbers_are_read_under_the_lock():
    F = ks.linalg.cholesky(np.eye(200))
    expected = {F.logdet()}
    stop = threading.Event()

    def change():
        while not stop.is_set():
            F.remove(-1)
            F.append(np.zeros(199), 1.0)

    changer = threading.Thread(target=change)
    changer.start()
    values = {F.logdet() for _ in range(3000)}
    stop.set()
    changer.join()
    assert values == expected


@pytest.mark.slow
def test_a_daemon_thread_at_the_end_of_the_interpreter():
    code = """
        import threading, time, numpy as np, kernsel as ks
        A = np.eye(3000) + 0.5
        def work():
            while True: ks.linalg.cholesky(A)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
        print("end")
    """
    with ThreadPoolExecutor() as pool:
        assert list(pool.map(run, [code] * 2)) == ["end\n"] * 2


@pytest.mark.slow
@needs_fork
def test_a_factor_that_was_locked_at_the_fork():
    code = """
        import os, threading, time, numpy as np, kernsel as ks
        F = ks.linalg.cholesky(np.eye(3500) + 0.5)
        t = threading.Thread(target=F.inverse); t.start()
        time.sleep(0.05)
        pid = os.fork()
        if pid == 0:
            F.remove(-1)
            os._exit(0 if F.n == 3499 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        t.join()
        assert F.n == 3500
    """
    run(code, timeout=60)

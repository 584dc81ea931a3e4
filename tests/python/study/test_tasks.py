"""Selections and outer folds at the same time: the same bits as one after the other, told as they come, and interrupted."""

import os
import threading
import time

import joblib
import numpy as np
import pytest

import kernsel as ks
from kernsel import _core
from kernsel.kernels import RBF, FunctionKernel, Linear, Matern
from kernsel.study.tasks import results_of

KERNELS = [RBF("auto"), "Matern", FunctionKernel(lambda X, Z: np.full((len(X), len(Z)), np.nan)), Linear("auto")]


@pytest.fixture
def data(rng):
    X = rng.uniform(0, 6, (40, 2))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40)


def numbers(selected):
    """Return all of a table but its seconds, and the predictions."""
    lines = [
        (str(one.kernel), str(one.kernel_), repr(one.value), one.problem, one.noise_, one.n_evaluations_, one.weight)
        for one in selected.tried
    ]
    return repr(lines), selected.best_estimator_.predict(np.ones((3, 2))).tobytes()


def selections(X, y):
    """Return what a selection by a criterion, a mixture and a search for structures find, and the kernels that they told."""
    found, told = [], []
    for kernels, more in (
        (KERNELS, {"criterion": "loo"}),
        (KERNELS[:2], {"criterion": "evidence"}),
        ("search", {"criterion": "lml", "max_structures": 7}),
    ):
        found.append(numbers(ks.select(X, y, kernels, random_state=0, progress=lambda k: told.append(str(k)), **more)))
    return found, told


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_selections_have_the_same_bits_and_tell_the_same(data, backend):
    alone = selections(*data)
    with joblib.parallel_config(backend, n_jobs=2):
        assert selections(*data) == alone


def test_outer_folds_have_the_same_bits_in_threads_and_are_told(data, capsys):
    def scored():
        found = ks.nested_cv(ks.KernelRidge("auto", approximation=None), *data, outer=3, random_state=0, verbose=1)
        return found.scores["score"].tobytes(), found.predictions.tobytes(), [fold.chosen for fold in found.folds]

    alone = scored()
    with joblib.parallel_config("threading", n_jobs=2):
        assert scored() == alone
    told = [line.partition(",")[0] for line in capsys.readouterr().out.splitlines()]
    assert told == [f"outer fold {i} of 3" for i in (1, 2, 3)] * 2


def test_threads_of_the_core_are_shared(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    of_a_thread = []
    thread = threading.Thread(target=lambda: of_a_thread.append(_core.num_threads()))
    thread.start()
    thread.join()
    with joblib.parallel_config("threading"):
        found = list(results_of(lambda _: _core.num_threads(), [(i,) for i in range(4)], n_jobs=2))
    assert found == [max(of_a_thread[0] // 2, 1)] * 4


def test_an_interrupt_keeps_what_has_been_fitted(data):
    told = []

    def progress(kernel):
        told.append(kernel)
        if len(told) == 3:
            raise KeyboardInterrupt

    with joblib.parallel_config("threading", n_jobs=2):
        found = ks.select(*data, [RBF(0.5), RBF(1.0), RBF(2.0), Matern(1.0)], "lml", progress=progress)
    assert len(found.tried) == 2
    assert "interrupted" in found.ended
    assert isinstance(found.interrupt, KeyboardInterrupt)


def test_no_kernel_is_begun_when_the_time_is_over(data):
    slow = FunctionKernel(lambda X, Z: (time.sleep(0.05), X @ Z.T)[1])
    with joblib.parallel_config("threading", n_jobs=2):
        found = ks.select(*data, [slow] * 12, "lml", max_seconds=0.2)
    assert 1 <= len(found.tried) < 12
    assert found.ended == "the time was over before all was tried"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Dask's own
def test_workers_of_dask(data):
    distributed = pytest.importorskip("distributed")
    alone = selections(*data)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        assert selections(*data) == alone
        where = set(results_of(lambda _: (time.sleep(0.2), os.getpid())[1], [(i,) for i in range(6)], n_jobs=None))
    assert len(where) == 2
    assert os.getpid() not in where

"""Criteria by landmarks where Dask computes: the same bits for any scheduler and workers, and what becomes of failures."""

import gc
import os
import threading
import time

import numpy as np
import pytest
from partitions import Slow, with_nan, without_a_column

import kernsel as ks
from kernsel._data.rows import row_source
from kernsel._solve import dask_passes
from kernsel._solve.by_parts import Sizes
from kernsel._solve.dask_passes import DaskPasses
from kernsel._solve.passes import LocalPasses
from kernsel.criteria.names import criterion_named
from kernsel.estimators.found_by_parts import find_by_parts
from kernsel.kernels import RBF, WhiteKernel

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

KERNEL = 1.3 * RBF([0.7, 1.1]) + WhiteKernel(0.2)
NEAR = ks.Nystrom(np.random.default_rng(1).uniform(-1, 1, (20, 2)))
ROWS, CHUNK = 3000, 170
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of Dask's own
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    """Two processes with one thread each."""
    settings = {"distributed.scheduler.worker-ttl": None, "distributed.comm.timeouts.connect": "5s"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as found,
    ):
        yield found


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as found:
        yield found


def numbers(rows=ROWS):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (rows, 2))
    return X, np.sin(3 * X[:, 0]) + 0.3 * rng.standard_normal(rows)


def lazy(chunk=CHUNK, rows=ROWS):
    X, y = numbers(rows)
    return da.from_array(X, chunks=(chunk, 2)), da.from_array(y, chunks=chunk)


def evaluated(X, y, name="loo_log_density", **more):
    more = {"approximation": NEAR, **more}
    found = ks.evaluate(name, KERNEL, X, y, noise=0.1, trend="constant", gradient=True, **more)
    return found.value, *found.gradient, found.noise_gradient, *found.beta


def blocks():
    """Return the same blocks as X, and no y, without Dask."""
    return row_source(*numbers(), block=CHUNK), None


def here():
    return evaluated(*blocks())


def searched(passes):
    """Return where the first steps of a search by neighbours lead."""
    more = {"noise": 0.2, "least_noise": 0.0, "most": 3, "sizes": Sizes(900, 400)}
    with passes:
        found = find_by_parts(criterion_named("lml", {}), 2.0 * RBF([0.6, 1.2]), passes, ks.Vecchia(8), **more)
    return *found.kernel.theta, found.noise, found.found.value


def test_the_same_bits_locally_in_threads_and_on_a_cluster(client):
    expected = here()
    assert evaluated(*lazy()) == expected
    assert len(set(client.run(os.getpid).values())) == 2
    for scheduler in ("threads", "sync"):
        with dask.config.set(scheduler=scheduler):
            assert evaluated(*lazy()) == expected


@pytest.mark.slow
def test_folds_have_the_same_bits_on_a_cluster(client):
    del client
    groups = np.arange(ROWS) * 3 // ROWS
    for name, here, there in (
        ("kfold", {}, {}),
        ("kfold_log_density", {}, {}),
        ("loo_crps", {"groups": groups}, {"groups": da.from_array(groups, chunks=CHUNK)}),
    ):
        assert evaluated(*lazy(), name, **there) == evaluated(*blocks(), name, **here)


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_parts_of_space_have_the_same_bits_locally_and_on_a_cluster(monkeypatch):
    monkeypatch.setattr("kernsel._solve.by_parts.sizes_for", lambda _: Sizes(500, 400))
    near = ks.Vecchia(8)
    expected = evaluated(*blocks(), "reml", approximation=near)
    assert evaluated(*lazy(), "reml", approximation=near) == expected
    assert evaluated(*lazy(chunk=400), "reml", approximation=near) == expected
    with dask.config.set(scheduler="threads"):
        assert evaluated(*lazy(), "reml", approximation=near) == expected


@pytest.mark.usefixtures("client")
def test_a_search_by_parts_has_the_same_bits_locally_and_on_a_cluster():
    expected = searched(LocalPasses(blocks()[0]))
    assert searched(DaskPasses(row_source(*lazy()))) == expected
    with dask.config.set(scheduler="threads"):
        assert searched(DaskPasses(row_source(*lazy(chunk=600)))) == expected


def test_frames_weights_noise_and_partitions_that_are_empty():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y = numbers(600)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=y, w=np.linspace(0.5, 2, 600))
    table.loc[table.index[200:300], "a"] += 10  # a partition of which nothing is left
    frame = dd.from_pandas(table, npartitions=6)
    frame = frame[frame.a < 5]
    kept = table[table.a < 5]
    more = {"noise": 0.1, "approximation": NEAR, "gradient": True}
    with dask.config.set(scheduler="sync"):
        found = ks.evaluate("loo", KERNEL, frame[["a", "b"]], frame.y, sample_weight=frame.w, **more)
    whole = ks.evaluate("loo", KERNEL, kept[["a", "b"]].to_numpy(), kept.y, sample_weight=kept.w.to_numpy(), **more)
    slack = 1e4 * len(kept) * np.finfo(float).eps  # rounding of sums in another order, times the condition of B
    assert found.value == pytest.approx(whole.value, rel=slack)
    np.testing.assert_allclose(found.gradient, whole.gradient, rtol=0, atol=slack * np.abs(whole.gradient).max())


@pytest.mark.usefixtures("client")
def test_partitions_with_nan_or_other_columns_are_named():
    X, y = lazy()
    broken = X.map_blocks(with_nan, dtype=float, meta=np.zeros((0, 2)))
    with pytest.raises(ValueError, match=r"X: contains NaN.*row 515.*partition 3"):
        evaluated(broken, y)
    narrow = X.map_blocks(without_a_column, dtype=float, meta=np.zeros((0, 2)))
    with pytest.raises(ValueError, match=r"X in partition 2: expected 2 columns"):
        evaluated(narrow, y)


def slow(seconds=0.1):
    X, y = lazy()
    return X.map_blocks(Slow(seconds), dtype=float), y


def in_thread(function):
    """Run a function in a thread; return what waits for its result or its error."""
    out = []

    def run():
        try:
            out.append((function(), None))
        except BaseException as error:
            out.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def wait(seconds=30):
        thread.join(seconds)
        assert not thread.is_alive(), "it does not end"
        return out[0]

    return wait


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_nothing(client):
    wait = in_thread(lambda: evaluated(*slow()))
    time.sleep(0.6)
    victim = next(iter(client.scheduler_info()["workers"]))
    with pytest.raises((OSError, distributed.comm.CommClosedError, KeyError)):
        client.run(os._exit, 1, workers=[victim], on_error="raise")
    value, error = wait()
    assert error is None
    assert value == here()
    client.wait_for_workers(2, timeout=20)


def test_a_client_that_is_closed_is_one_clear_error(cluster):
    other = distributed.Client(cluster, set_as_default=False)

    def run():
        with other.as_current():
            return evaluated(*slow())

    wait = in_thread(run)
    time.sleep(0.6)
    other.close()
    _, error = wait()
    assert isinstance(error, RuntimeError)
    assert "client of Dask was closed" in str(error)


def test_an_interrupt_leaves_nothing_running(client, monkeypatch):
    future = distributed.Future.result

    def interrupted(self):
        with pytest.raises(TimeoutError):
            future(self, timeout=0.5)
        raise KeyboardInterrupt

    monkeypatch.setattr(distributed.Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        evaluated(*slow(0.3))
    monkeypatch.undo()
    began = time.perf_counter()
    while any(client.processing().values()):
        assert time.perf_counter() - began < 2
        time.sleep(0.05)


@pytest.mark.slow
def test_the_same_bits_for_any_number_of_workers():
    expected = here()
    for workers, threads, processes in ((1, 1, False), (4, 1, True), (1, 4, False)):
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=threads, processes=processes, dashboard_address=":0", silence_logs=50
            ) as other,
            distributed.Client(other),
        ):
            assert evaluated(*lazy()) == expected
            assert searched(DaskPasses(row_source(*lazy()))) == searched(LocalPasses(blocks()[0]))
    with dask.config.set(scheduler="processes", num_workers=2):  # which starts its processes anew for each pass
        near = {"noise": 0.1, "approximation": NEAR}
        assert ks.evaluate("lml", KERNEL, *lazy(), **near).value == ks.evaluate("lml", KERNEL, *blocks(), **near).value


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_its_parts(client):
    near = {"approximation": ks.Vecchia(8)}
    wait = in_thread(lambda: evaluated(*slow(), "loo", **near))
    time.sleep(0.9)
    victim = next(iter(client.scheduler_info()["workers"]))
    with pytest.raises((OSError, distributed.comm.CommClosedError, KeyError)):
        client.run(os._exit, 1, workers=[victim], on_error="raise")
    value, error = wait()
    assert error is None
    assert value == evaluated(*blocks(), "loo", **near)
    client.wait_for_workers(2, timeout=20)


@pytest.mark.slow
def test_a_worker_that_joins_late_takes_part(client, cluster):
    wait = in_thread(lambda: evaluated(*slow()))
    time.sleep(0.4)
    cluster.scale(3)
    value, error = wait()
    client.wait_for_workers(3, timeout=20)
    assert error is None
    assert value == here() == evaluated(*lazy())
    cluster.scale(2)


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_two_at_once_and_a_second_one_on_the_same_client():
    expected = {name: evaluated(*blocks(), name) for name in ("lml", "loo")}
    waiting = {name: in_thread(lambda name=name: evaluated(*slow(0.02), name)) for name in expected}
    for name, wait in waiting.items():
        value, error = wait()
        assert error is None
        assert value == expected[name]
    assert evaluated(*lazy(), "lml") == expected["lml"]


@pytest.mark.slow
def test_memory_does_not_grow(client):
    def resident():
        gc.collect()
        import psutil

        return psutil.Process().memory_info().rss

    X, y = client.persist(lazy())
    sizes = []
    for _ in range(5):
        for _ in range(10):
            evaluated(X, y)
        sizes.append(max(client.run(resident).values()) + resident())
    assert sizes[-1] - sizes[1] < 30e6  # of some 400 MB, which vary by a few
    assert len(client.who_has()) <= 2 * X.numblocks[0]  # the rows, and nothing of the evaluations


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_a_thousand_partitions_stay_responsive():
    X, y = lazy(chunk=30, rows=30_000)
    value, error = in_thread(lambda: evaluated(X, y))(seconds=60)
    assert error is None
    assert value == evaluated(row_source(*numbers(30_000), block=30), None)


def test_no_client_is_used_where_dask_is_set_to_something_else(client):
    with dask.config.set(scheduler="threads"):
        assert dask_passes._client() is None
    assert dask_passes._client() is client

"""Models that one thread changes while others use them."""

import threading

import numpy as np
import pytest

import kernsel as ks


def test_a_process_that_changes_while_others_predict(rng):
    X = rng.uniform(size=(120, 2))
    y = np.sin(4 * X[:, 0]) + X[:, 1]
    gp = ks.GaussianProcessRegressor(ks.kernels.RBF(0.5), optimizer=None, noise=0.1).fit(X, y)
    Z, z = np.array([[0.4, 0.6]]), np.array([3.0])
    states = [gp.predict(X[:5], return_std=True), gp.update(Z, z).predict(X[:5], return_std=True)]
    gp.downdate(-1)
    stop, failures = threading.Event(), []

    def predict():
        while not stop.is_set():
            try:
                mean, std = gp.predict(X[:5], return_std=True)
                leverage = len(gp.leverage_)
            except Exception as error:  # to be seen by the test, not by the thread
                failures.append(repr(error))
            else:
                if not any(np.allclose(mean, m, rtol=1e-9) and np.allclose(std, s, rtol=1e-9) for m, s in states):
                    failures.append((mean, std))
                if leverage not in (120, 121):
                    failures.append(leverage)

    readers = [threading.Thread(target=predict) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(150):
        gp.update(Z, z)
        gp.downdate(-1)
    stop.set()
    for reader in readers:
        reader.join()
    assert not failures


def test_a_process_is_changed_by_one_thread_at_a_time(rng):
    X = rng.uniform(size=(30, 1))
    gp = ks.GaussianProcessRegressor(ks.kernels.RBF(0.5), optimizer=None, noise=0.1).fit(X, X[:, 0])
    begun, end = threading.Event(), threading.Event()

    class Slow:
        def __array__(self, dtype=None, copy=None):
            begun.set()
            end.wait()
            return np.array([[2.0]], dtype=dtype)

    thread = threading.Thread(target=lambda: gp.update(Slow(), [1.0]))
    thread.start()
    begun.wait()
    try:
        with pytest.raises(RuntimeError, match="downdate: another thread is changing this model"):
            gp.downdate(0)
    finally:
        end.set()
        thread.join()
    assert len(gp.X_train_) == 31
    assert len(gp.downdate(0).X_train_) == 30

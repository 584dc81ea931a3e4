"""Those who watch a search: bars, lines, and callbacks of scikit-learn."""

import importlib.util
import sys

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF

GP = ks.GaussianProcessRegressor


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(40, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)
    return X, y, rng.uniform(size=(15, 2))


SHOWN = 5e-6  # six digits are: half a unit of the last


@pytest.mark.parametrize("criterion", ["lml", "loo"])
def test_progress_is_shown(data, criterion, monkeypatch, capsys):
    X, y, _ = data
    monkeypatch.setitem(sys.modules, "tqdm", None)  # cannot be imported
    gp = GP(criterion=criterion, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert not out
    first, *_, last = err.splitlines()
    assert first.startswith("GaussianProcessRegressor: 1 evaluations, best ")
    assert last.startswith(f"GaussianProcessRegressor: {gp.n_evaluations_} evaluations, best ")
    assert float(last.split()[-1]) == pytest.approx(gp.criterion_value_, rel=SHOWN)

    class Bar:
        def __init__(self, **options):
            bars.append(self)
            self.n, self.options, self.closed, self.shown = 0, options, False, []

        def update(self, count):
            self.n += count

        def set_postfix_str(self, text, refresh):  # noqa: ARG002
            self.shown.append(text)

        def close(self):
            self.closed = True

    bars = []
    module = type(sys)("tqdm")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", module)
    again = GP(criterion=criterion, verbose=1).fit(X, y)
    assert bars[0].closed
    assert bars[0].n == gp.n_evaluations_
    assert bars[0].options["desc"] == "GaussianProcessRegressor"
    assert bars[0].shown[-1].startswith("best ")
    assert float(bars[0].shown[-1].split()[1]) == pytest.approx(again.criterion_value_, rel=SHOWN)
    GP(criterion=criterion).fit(X, y)
    assert capsys.readouterr() == ("", "")


class Watch:
    """A callback that counts, and ends the search after so many evaluations."""

    def __init__(self, most=10**9):
        self.most = most
        self.calls = []

    def setup(self, estimator, context):  # noqa: ARG002
        self.calls.append("setup")

    def teardown(self, estimator, context):  # noqa: ARG002
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):  # noqa: ARG002
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):  # noqa: ARG002
        self.calls.append(f"end {context.task_name}")
        return self.calls.count("end evaluation") >= self.most


@pytest.mark.skipif(not importlib.util.find_spec("sklearn.callback"), reason="callbacks came with scikit-learn 1.9")
@pytest.mark.parametrize("criterion", ["lml", "loo"])
def test_callbacks_of_scikit_learn(data, criterion):
    X, y, Z = data
    watch = Watch()
    gp = GP(criterion=criterion)
    gp.set_callbacks(watch)
    gp.fit(X, y)
    assert watch.calls[0] == "setup"
    assert watch.calls[-1] == "teardown"
    assert watch.calls.count("begin evaluation") == watch.calls.count("end evaluation") == gp.n_evaluations_
    assert watch.calls.count("begin fit") == watch.calls.count("end fit") == 1
    plain = GP(criterion=criterion).fit(X, y)
    assert np.array_equal(gp.predict(Z), plain.predict(Z))
    stopped = GP(criterion=criterion)
    stopped.set_callbacks(Watch(5))
    stopped.fit(X, y)
    assert stopped.selection_.ended == "stopped"
    assert stopped.n_evaluations_ == 5
    assert np.isfinite(stopped.predict(Z)).all()
    failing = GP(RBF(), alpha=-1.0)
    watch = Watch()
    failing.set_callbacks(watch)
    with pytest.raises(ValueError, match="alpha"):
        failing.fit(X, y)

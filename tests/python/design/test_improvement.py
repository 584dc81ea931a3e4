"""Improvements are what integrals over the function's distribution say."""

import numpy as np
import pytest
from scipy import integrate, stats

from kernsel import design


@pytest.mark.parametrize("maximize", [True, False])
def test_values_are_integrals(process, rng, maximize):
    gp, Z = process(), rng.uniform(-1, 1, (3, 2))
    at_data = gp.predict(gp.X_train_)
    best = at_data.max() if maximize else at_data.min()
    sign = 1 if maximize else -1
    expected = design.ExpectedImprovement(gp, maximize=maximize)(Z)
    probability = design.ProbabilityOfImprovement(gp, maximize=maximize, margin=0.05)(Z)
    for i, (mean, std) in enumerate(zip(*gp.predict(Z, return_std=True), strict=True)):
        ends = np.sort([best, best + sign * (abs(best - mean) + 12 * std)])
        f = stats.norm(mean, std)
        found, error = integrate.quad(lambda v, f=f: abs(v - best) * f.pdf(v), *ends, epsabs=0.0, limit=200)
        assert expected[i] == pytest.approx(found, rel=1e-9, abs=error)
        assert probability[i] == pytest.approx(f.sf(best + 0.05) if maximize else f.cdf(best - 0.05), rel=1e-9)
    assert design.LogExpectedImprovement(gp, maximize=maximize)(Z) == pytest.approx(np.log(expected), rel=1e-9)


def test_values_are_those_of_bayes_opt(process, rng):
    acquisition = pytest.importorskip("bayes_opt.acquisition")
    gp, Z = process(), rng.uniform(-1, 1, (5, 2))
    mean, std = gp.predict(Z, return_std=True)
    for theirs, ours in (
        (acquisition.ExpectedImprovement(xi=0.1), design.ExpectedImprovement),
        (acquisition.ProbabilityOfImprovement(xi=0.1), design.ProbabilityOfImprovement),
    ):
        theirs.y_max = 0.5
        assert ours(gp, maximize=True, best=0.5, margin=0.1)(Z) == pytest.approx(theirs.base_acq(mean, std), rel=1e-9)


def test_the_logarithm_leads_back_from_where_the_improvement_is_zero(process):
    gp, Z = process(1e-6), np.array([[0.2, 0.1]])
    best = float(gp.predict(gp.X_train_).max()) + 1e3
    assert design.ExpectedImprovement(gp, maximize=True, best=best)(Z)[0] == 0.0
    value, slopes = design.LogExpectedImprovement(gp, maximize=True, best=best).value_and_gradient(Z)
    assert value[0] < -1e3
    assert np.abs(slopes).min() > 1.0


def test_noise_does_not_move_the_best_value(process):
    gp = process(1.0)
    lucky = gp.kept_data()[1].max()
    assert design.ExpectedImprovement(gp, maximize=True).surrogate.best < lucky
    X = gp.X_train_
    plain, stricter = design.ExpectedImprovement(gp, maximize=True), design.ExpectedImprovement(gp, maximize=True, best=lucky)
    assert (plain(X) > stricter(X)).all()

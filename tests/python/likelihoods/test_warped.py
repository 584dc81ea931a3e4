"""Gaussian processes of targets that are normal after a transform: a process of g(y), Jacobians and quadrature by hand."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import boxcox, logit

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel
from kernsel.likelihoods import BoxCox, Gaussian, LogitNormal, LogNormal, NormalScores, YeoJohnson
from kernsel.likelihoods.named import likelihoods_among

N = 25
X = np.linspace(0, 4, N)[:, None]
Z = np.array([[0.3], [2.2], [5.0]])
F = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(N)
KERNEL = ConstantKernel(0.8) * RBF(0.7)
POSITIVE, SHARES = 3.0 * np.exp(0.6 * F), 2 + 5 / (1 + np.exp(-F))
# A likelihood, targets, and g for the units that the likelihood takes from them.
CASES = {
    "log": (LogNormal(0.02), POSITIVE, lambda y, of: of.unit * np.log(y / of.unit)),
    "box cox": (BoxCox(0.4, 0.02), POSITIVE, lambda y, of: of.unit * boxcox(y / of.unit, 0.4)),
    "yeo johnson": (YeoJohnson(0.3, 0.02), F, lambda y, of: of.unit * stats.yeojohnson((y - of.location) / of.unit, 0.3)),
    "logit": (LogitNormal(2.0, 7.0, 0.02), SHARES, lambda y, of: of.unit * logit((y - 2) / 5)),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_a_process_of_transformed_targets(name):
    likelihood, y, g = CASES[name]
    options = {"optimizer": None, "alpha": 1e-9, "trend": "constant"}
    warped = ks.GaussianProcessRegressor(KERNEL, likelihood=likelihood, **options).fit(X, y)
    found = warped.likelihood_
    z = g(y, found)
    usual = ks.GaussianProcessRegressor(KERNEL, noise=0.02, criterion="reml", **options).fit(X, z)
    h = 1e-5 * found.unit
    jacobian = np.log((g(y + h, found) - g(y - h, found)) / (2 * h))  # to h^2
    assert jacobian.mean() == pytest.approx(0, abs=1e-8)  # the units that make restricted likelihoods comparable
    close = {"rel": 1e-7, "abs": 1e-7}
    assert found.warp(y) == pytest.approx(z, rel=1e-12, abs=1e-12)
    assert found.unwarp(z) == pytest.approx(y, rel=1e-10, abs=1e-12)
    assert warped.log_marginal_likelihood_value_ == pytest.approx(usual.criterion_value_ + jacobian.sum(), **close)
    assert warped.loo_log_density_ == pytest.approx(usual.loo_log_density_ + jacobian, **close)
    mean, std = usual.predict(Z, return_std=True, noisy=True)
    levels = np.array([0.1, 0.5, 0.9])
    quantiles = mean[:, None] + std[:, None] * stats.norm.ppf(levels)
    assert g(warped.predict_quantiles(Z, levels), found) == pytest.approx(quantiles, **close)
    assert warped.log_density(Z, y[:3]) == pytest.approx(stats.norm.logpdf(z[:3], mean, std) + jacobian[:3], **close)
    predicted, spread = warped.predict(Z, return_std=True)
    for row in range(3):
        moments = [
            integrate.quad(lambda x: found.unwarp(mean[row] + std[row] * x) ** p * stats.norm.pdf(x), -9, 9, epsabs=1e-11)[0]  # noqa: B023
            for p in (1, 2)
        ]
        assert predicted[row] == pytest.approx(moments[0], **close)
        assert spread[row] == pytest.approx((moments[1] - moments[0] ** 2) ** 0.5, rel=1e-6)
    draws = warped.sample_y(Z, 2000, random_state=0)
    assert np.median(draws, axis=1) == pytest.approx(warped.predict_quantiles(Z, [0.5])[:, 0], rel=0.1, abs=0.05)


def test_the_power_is_found_and_the_best_of_several_is_taken(tmp_path):
    rng = np.random.default_rng(1)
    points = rng.uniform(0, 4, (80, 1))
    y = (4 + np.sin(2 * points[:, 0]) + 0.2 * rng.standard_normal(80)) ** 4  # whose fourth root is normal
    box_cox, normal = (ks.GaussianProcessRegressor("RBF", likelihood=one).fit(points, y) for one in ("box_cox", "gaussian"))
    assert box_cox.likelihood_.power == pytest.approx(0.25, abs=0.2)
    assert box_cox.criterion_value_ > normal.criterion_value_ + 3
    best = ks.GaussianProcessRegressor("RBF", likelihood="warped").fit(points, y)
    assert type(best.likelihood_) in (BoxCox, YeoJohnson)
    assert best.criterion_value_ >= box_cox.criterion_value_ - 1
    said = best.selection_.compared
    assert "compared by" in said
    assert all(name in said for name in ("Gaussian", "YeoJohnson", "BoxCox"))
    ks.save(best, tmp_path / "a.ksl")
    loaded = ks.load(tmp_path / "a.ksl")
    assert loaded.likelihood_ == best.likelihood_
    assert loaded.selection_.compared == said
    assert loaded.predict(Z) == pytest.approx(best.predict(Z), rel=1e-12)
    straight = ks.GaussianProcessRegressor("RBF", likelihood=["box_cox", Gaussian()]).fit(points, y**0.25)
    assert isinstance(straight.likelihood_, Gaussian)  # a power that is not needed costs more than it brings
    selected = ks.select(points, y, ["RBF", "Linear"], likelihood="warped")
    assert selected.best_estimator_.likelihood_ == best.likelihood_
    assert said in selected.remarks
    assert "density" in str(selected).split("\n")[0]


def test_scores_follow_any_distribution():
    y = np.where(X[:, 0] > 2, 100 + F, F)  # two peaks
    scores = NormalScores().with_units_of(y)
    assert np.all(np.diff(scores.warp(np.sort(y))) > 0)
    assert scores.unwarp(scores.warp(y)) == pytest.approx(y, rel=1e-10, abs=1e-10)
    gp = ks.GaussianProcessRegressor("RBF", likelihood="normal_scores").fit(X, y)
    assert gp.loo_log_density_.sum() == pytest.approx(gp.left_out_predictive().log_density(y[:, None]).sum())


def test_a_power_cuts_the_normal_distribution_off_at_zero():
    below = stats.norm.cdf((-2.0 / 0.5 - F[:3]) / 2.0)  # what is below g(0)
    likelihood = BoxCox(0.5, 4.0, unit=2.0)
    assert likelihood.probability(0.0, F[:3]) == pytest.approx(below, rel=1e-12)
    assert (likelihood.quantiles(0.5 * below, F[:3]) == 0).all()
    assert (BoxCox(0.0, 4.0, unit=2.0).probability([0.0, -1.0], 0.3) == 0).all()
    assert (likelihood.probability(-1.0, F[:3]) == 0).all()


def test_transforms_that_targets_may_have():
    for y, kinds in ((F, {Gaussian, YeoJohnson}), (POSITIVE, {Gaussian, YeoJohnson, BoxCox})):
        assert {type(one) for one in likelihoods_among("warped", y)} == kinds
    shares = (SHARES - 2) / 5
    assert {type(one) for one in likelihoods_among("warped", shares)} == {Gaussian, YeoJohnson, BoxCox, LogitNormal}
    assert LogitNormal not in {type(one) for one in likelihoods_among("warped", shares / 10)}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BoxCox(-0.5), r"^power: expected a number from 0 to 2, or \"auto\", got -0.5"),
        (lambda: YeoJohnson(power_bounds=(1, 3)), r"^power_bounds: expected two numbers from 0 to 2, .* got \(1, 3\)"),
        (lambda: BoxCox(power_bounds=3), "^power_bounds: expected two numbers from 0 to 2, .* got 3"),
        (lambda: YeoJohnson(location=np.inf), "^location: expected a finite number"),
        (lambda: LogitNormal(1.0, 1.0), "^lower, upper: expected finite numbers, lower < upper, got 1.0, 1.0"),
        (lambda: LogNormal(unit=0.0), "^unit: expected a finite number above 0"),
        (lambda: NormalScores(knots=[(0, 0, 1), (1, 0, 1)]), "^knots: expected .* triples"),
        (lambda: NormalScores().with_units_of([1.0, 2.0]), "^y: normal scores are of 3 different observations at least, got 2"),
        (lambda: ks.GaussianProcessRegressor(likelihood=[]).fit(X, F), r"^likelihood: expected one at least to choose from"),
        (
            lambda: ks.GaussianProcessRegressor(likelihood=[ks.likelihoods.HeteroscedasticGaussian()]).fit(X, F),
            "^likelihood: .* is of two processes; fit it by itself",
        ),
        (lambda: ks.GaussianProcessRegressor(likelihood="boxcox").fit(X, F), '^likelihood: expected one of .*"warped"'),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises(ValueError, match=message):
        make()

"""What GaussianProcessRegressor looks for unless told, given text, objects or several outputs, and what it then predicts."""

import sys

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.criteria import Likelihood
from kernsel.kernels import RBF, ConstantKernel, Linear, WhiteKernel

GP = ks.GaussianProcessRegressor
AMPLITUDE = ConstantKernel("auto")


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(50, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(50)
    return X, y, rng.uniform(size=(15, 2))


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("RBF", AMPLITUDE * RBF("auto")),
        ("RBF + 2.0 * Linear", AMPLITUDE * RBF("auto") + 2.0 * Linear("auto")),
        ("RBF.on([0]) * Linear", AMPLITUDE * (RBF("auto").on([0]) * Linear("auto"))),
    ],
)
def test_text_leaves_amplitudes_noise_and_trend_open(data, text, kernel):
    X, y, Z = data
    y = 1e3 + 50 * y
    by_text, by_object = GP(text).fit(X, y), GP(kernel, noise="auto", trend="constant").fit(X, y)
    assert by_text.kernel_ == by_object.kernel_
    assert by_text.noise_ == by_object.noise_ > 0
    assert by_text.beta_ == by_object.beta_
    assert np.array_equal(by_text.predict(Z), by_object.predict(Z))
    assert np.sqrt(np.mean((by_text.predict(Z) - 1e3 - 50 * (np.sin(5 * Z[:, 0]) + Z[:, 1])) ** 2)) < 10


def test_what_text_and_arguments_give_is_kept(data):
    X, y, _ = data
    gp = GP("2.0 * RBF", noise=0.03, trend=None).fit(X, y)
    assert gp.noise_ == 0.03
    assert gp.beta_.shape == (0,)
    white = GP("RBF + WhiteKernel").fit(X, y)
    assert white.noise_ == 0
    assert white.kernel_.k2.noise_level > 0.01
    assert np.isnan(white.selection_.noise)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"kernel": "auto"}, []),
        ({"kernel": "RBF"}, []),
        ({"kernel": "RBF", "noise": 0.1, "trend": None}, []),
        ({"kernel": RBF("auto")}, ["noise", "trend", "amplitude"]),
        ({"kernel": RBF("auto"), "optimizer": None}, []),  # it was told to look for nothing
        ({"kernel": RBF("auto"), "criterion": "loo"}, ["noise", "trend"]),
        ({"kernel": sk.RBF(1.0), "alpha": 0.1}, ["trend", "amplitude"]),
        ({"kernel": None}, ["noise", "trend"]),
        ({"kernel": None, "normalize_y": True}, ["noise"]),
        ({"kernel": AMPLITUDE * RBF("auto") + WhiteKernel("auto"), "trend": None}, []),
        ({"kernel": AMPLITUDE * RBF("auto") + Linear("auto"), "trend": "linear", "noise": 0.1}, ["amplitude"]),
    ],
)
def test_it_says_once_what_an_object_left_out(data, options, expected, capsys):
    X, y, _ = data
    gp = GP(**options, verbose=1).fit(X, y)
    assert gp.selection_.not_sought == expected
    line = f"not looked for: {', '.join(expected)} (a kernel given by text leaves them open)"
    for text in (str(gp.selection_), capsys.readouterr().err):
        assert text.count("not looked for") == text.count(line) == bool(expected)
    GP(**options).fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_what_was_left_out_is_saved(data, tmp_path):
    X, y, _ = data
    ks.save(GP(RBF(0.5), noise=0.1).fit(X, y), tmp_path / "model.ksl")
    assert ks.load(tmp_path / "model.ksl").selection_.not_sought == ["trend", "amplitude"]


def test_the_deviation_is_that_of_scikit_learn(data):
    """Noise that was found counts, as their WhiteKernel; noise that was given does not, as their alpha."""
    X, y, Z = data
    ours = GP(AMPLITUDE * RBF("auto"), noise="auto").fit(X, y)
    amplitude, length = ours.kernel_.k1.constant_value, ours.kernel_.k2.length_scale
    known = sk.ConstantKernel(amplitude) * sk.RBF(length)
    white = Theirs(known + sk.WhiteKernel(ours.noise_), optimizer=None, alpha=1e-12).fit(X, y)
    given = Theirs(known, optimizer=None, alpha=ours.noise_).fit(X, y)
    same = GP(known, optimizer=None, alpha=ours.noise_).fit(X, y)
    close = {"rel": 1e-5, "abs": 1e-7}
    for option in ("return_std", "return_cov"):
        of_white, of_given = (model.predict(Z, **{option: True})[1] for model in (white, given))
        assert ours.predict(Z, **{option: True})[1] == pytest.approx(of_white, **close)
        assert ours.predict(Z, **{option: True}, noisy=True)[1] == pytest.approx(of_white, **close)
        assert ours.predict(Z, **{option: True}, noisy=False)[1] == pytest.approx(of_given, **close)
        assert same.predict(Z, **{option: True})[1] == pytest.approx(of_given, **close)
        assert same.predict(Z, **{option: True}, noisy=True)[1] == pytest.approx(of_white, **close)


@pytest.mark.parametrize("options", [{"noise": 0.04}, {"kernel": RBF(0.3), "trend": "constant"}])
def test_the_deviation_is_that_of_the_function_where_nothing_was_found(data, options):
    X, y, Z = data
    gp = GP(**options).fit(X, y)
    assert np.array_equal(gp.predict(Z, return_std=True)[1], gp.predict(Z, return_std=True, noisy=False)[1])
    assert np.array_equal(gp.sample_y(Z, 2), gp.sample_y(Z, 2, noisy=False))


def test_found_noise_beside_what_is_known_of_each_point(data):
    """alpha of each point says nothing of others, nor does the noise of points that were added: what was found does."""
    X, y, Z = data
    gp = GP(alpha=np.linspace(0, 0.01, 50)).fit(X, y)
    gp.update(Z[:2], [0.0, 1.0], noise=[0.5, 0.1])
    found, function = gp.predict(Z, return_std=True)[1], gp.predict(Z, return_std=True, noisy=False)[1]
    assert found**2 - function**2 == pytest.approx(np.full(15, gp.noise_[0]), rel=1e-9)
    with pytest.raises(ValueError, match="noisy: noise differs from point to point"):
        gp.predict(Z, return_std=True, noisy=True)


def test_samples_have_the_noise_that_was_found(data):
    X, y, Z = data
    gp = GP().fit(X, y)
    covariance = {noisy: np.cov(gp.sample_y(Z, 20_000, noisy=noisy)) for noisy in (None, True, False)}
    for noisy, of_samples in covariance.items():
        expected = gp.predict(Z, return_cov=True, noisy=noisy)[1]
        assert of_samples == pytest.approx(expected, abs=0.05 * expected.max())
    assert np.diag(covariance[None] - covariance[False]) == pytest.approx(np.full(15, gp.noise_), rel=0.15)


def test_slopes_of_the_deviation_are_those_of_the_same_deviation(data):
    X, y, Z = data
    gp = GP("RBF").fit(X, y)
    step = 1e-5 * np.array([1.0, 0.0])
    slopes = {}
    for noisy in (None, False):
        above, below = (gp.predict(Z + s, return_std=True, noisy=noisy)[1] for s in (step, -step))
        slopes[noisy] = gp.predict_gradient(Z, return_std=True, noisy=noisy)[1][:, 0]
        assert slopes[noisy] == pytest.approx((above - below) / 2e-5, rel=1e-3, abs=1e-5)
    assert np.abs(slopes[None]).max() < 0.9 * np.abs(slopes[False]).max()


UNITS = np.array([1e-3, 1.0, 1e6])


@pytest.fixture
def outputs(rng):
    X, Z = rng.uniform(size=(60, 2)), rng.uniform(size=(300, 2))

    def truth(X):
        return np.column_stack([np.sin(5 * X[:, 0]) + X[:, 1], X[:, 0] - X[:, 1] ** 2, 20 + np.cos(4 * X[:, 0] * X[:, 1])])

    noise = np.array([0.2, 0.1, 0.1])
    return X, truth(X) + noise * rng.standard_normal((60, 3)), Z, truth(Z) + noise * rng.standard_normal((300, 3))


@pytest.mark.parametrize("options", [{}, {"kernel": "RBF + Linear", "criterion": "reml"}, {"noise": 0.0}])
def test_outputs_may_have_any_units(outputs, options):
    X, Y, Z, _ = outputs
    one, other = GP(**options).fit(X, Y), GP(**options).fit(X, Y * 2.0 ** np.array([-10, 0, 20]))
    assert one.kernel_ == other.kernel_
    assert one.noise_ == other.noise_
    units = 2.0 ** np.array([-10, 0, 20])
    for a, b in zip(one.predict(Z, return_std=True), other.predict(Z, return_std=True), strict=True):
        assert b / units == pytest.approx(a, rel=1e-12)
    assert other.scale_ / units**2 == pytest.approx(one.scale_, rel=1e-12)


def test_each_output_is_about_as_good_as_alone(outputs):
    X, Y, Z, truth = outputs
    together = GP().fit(X, Y * UNITS)
    mean, std = together.predict(Z, return_std=True)
    for k, unit in enumerate(UNITS):
        alone = GP().fit(X, Y[:, k] * unit)
        expected, its_std = alone.predict(Z, return_std=True)
        ours, theirs = (np.sqrt(np.mean((m - truth[:, k] * unit) ** 2)) for m in (mean[:, k], expected))
        assert ours < 1.2 * theirs
        assert np.median(std[:, k] / its_std) == pytest.approx(1, abs=0.3)
        inside = np.mean(np.abs(truth[:, k] * unit - mean[:, k]) < 1.96 * std[:, k])
        assert 0.88 < inside <= 1
    shared = GP(scale="shared").fit(X, Y * UNITS).predict(Z, return_std=True)[1]
    assert np.array_equal(shared[:, 0], shared[:, 2])  # which no unit suits


def test_the_value_is_that_of_the_outputs_in_their_units(outputs):
    X, Y, _, _ = outputs
    for criterion in ("lml", "reml"):
        gp = GP(criterion=criterion, n_restarts_optimizer=1).fit(X, Y * UNITS)
        assert gp.criterion_value_ == pytest.approx(gp.log_marginal_likelihood_value_, rel=1e-6)
        assert gp.criterion_value_ == pytest.approx(gp.posterior_.value_of(gp._criterion_used), rel=1e-6)
        assert gp.selection_.of_starts.max() == pytest.approx(gp.criterion_value_, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "own"),
    [
        ({}, True),
        ({"kernel": AMPLITUDE * RBF("auto")}, True),
        ({"kernel": AMPLITUDE * RBF("auto") + WhiteKernel("auto"), "criterion": "profiled_lml"}, True),
        ({"criterion": Likelihood(restricted=True, scale="shared")}, True),
        ({"scale": "shared"}, False),
        ({"criterion": "loo"}, False),
        ({"noise": 0.1}, False),
        ({"alpha": 0.1}, False),
        ({"optimizer": None}, False),
        ({"kernel": RBF("auto"), "noise": "auto"}, False),  # its amplitude is one
        ({"kernel": ConstantKernel(2.0, "fixed") * RBF("auto")}, False),
        ({"kernel": AMPLITUDE * RBF("auto") + WhiteKernel(0.1, "fixed")}, False),
    ],
)
def test_where_each_output_has_its_own_scale(outputs, options, own, tmp_path):
    X, Y, Z, _ = outputs
    gp = GP(**options).fit(X, Y * [1.0, 3.0, 1.0])
    assert (np.ptp(gp.scale_) > 0) == own
    if not own:
        assert np.array_equal(gp.scale_, np.ones(3))
    ks.save(gp, tmp_path / "model.ksl")
    loaded = ks.load(tmp_path / "model.ksl")
    assert np.array_equal(loaded.scale_, gp.scale_)
    assert np.array_equal(loaded.predict(Z, return_std=True)[1], gp.predict(Z, return_std=True)[1])
    alone = GP(**options).fit(X, Y[:, :1])
    assert np.array_equal(alone.scale_, np.ones(1))


def test_an_output_that_is_constant_says_nothing(outputs):
    X, Y, Z, _ = outputs
    with_constant = GP().fit(X, np.column_stack([Y[:, 0], np.full(60, 7.0), Y[:, 1] * 1e6]))
    without = GP().fit(X, np.column_stack([Y[:, 0], Y[:, 1] * 1e6]))
    assert with_constant.kernel_ == without.kernel_
    assert with_constant.predict(Z)[:, 1] == pytest.approx(np.full(300, 7.0))
    for a, b in zip(with_constant.predict(Z, return_std=True), without.predict(Z, return_std=True), strict=True):
        assert a[:, [0, 2]] == pytest.approx(b, rel=1e-9)


def test_progress_is_told_in_the_units_of_the_outputs(outputs, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    X, Y, _, _ = outputs
    gp = GP(verbose=1).fit(X, Y * UNITS)
    last = capsys.readouterr().err.splitlines()[-1]
    assert float(last.split("best ")[1]) == pytest.approx(gp.criterion_value_, rel=1e-4)

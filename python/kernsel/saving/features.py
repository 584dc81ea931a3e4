"""Saving and loading of ridge regression on features, and of the features."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from kernsel._data.together import numbered
from kernsel.estimators.ridge_regression import RidgeRegression
from kernsel.estimators.weights_posterior import WeightsPosterior
from kernsel.features import Fourier, Nystrom, Polynomial, RadialBasis
from kernsel.kernels import DotProduct
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.machines import columns_of, criterion_value_in, one_or_each, require_columns, shaped

__all__ = ["read_features_regression", "write_features_regression"]

_KNOWN = (Polynomial, RadialBasis, Fourier, Nystrom)


def write_features_regression(model: RidgeRegression, to: Writing) -> None:
    """Write coefficients and diagnostics, but not `path_`, which needs the features of all points."""
    features = None if model.features is None else model.features_
    coefficients = np.atleast_2d(model.coef_).T
    if isinstance(features, RadialBasis):
        to.predictor(features.kernel_)
        to.array("points", features.centers_)
    else:  # for the columns of X, the kernel is the inner product; other features have none
        to.predictor(DotProduct(0.0) if features is None else None)
    to.array("coefficients", coefficients)
    to.array("offset", np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), coefficients.shape[1:]))
    to.json["one_output"] = np.ndim(model.coef_) == 1
    to.values(model, "intercept_", "alpha_", "effective_dof_", "solver_")
    to.array("loo_residuals", columns_of(model.loo_residuals_))
    to.array("leverage", columns_of(model.leverage_))
    if len(np.unique(model.left_out_together_)) < len(model.left_out_together_):
        to.array("groups", model.left_out_together_.astype(np.float64))
    if hasattr(model, "criterion_value_"):
        to.value("criterion_value_", model.criterion_value_)
    if "_posterior" in model.__dict__:
        _write_posterior(model._posterior, to.part("posterior"))
    to.json["dual"] = hasattr(model, "dual_coef_")
    if hasattr(model, "dual_coef_"):
        to.array("dual", columns_of(model.dual_coef_))
    if features is None:
        to.json["features"] = None
    else:
        _write_features(features, to.part("features"))


def read_features_regression(model: RidgeRegression, given: Fields) -> None:
    """Read coefficients and diagnostics."""
    features = None
    if given.json.get("features", "") is None:
        given.take("features")
        count = model.n_features_in_
    else:
        features = model.features_ = _read_features(given.part("features"))
        if features.n_features_in_ != model.n_features_in_:
            raise ValueError(f"features: expected {model.n_features_in_} columns, got {features.n_features_in_}")
        if isinstance(features, RadialBasis):
            features.centers_ = given.array("points", None, features.n_features_in_)
            require_columns(features.kernel_, features.centers_)
        count = len(features.powers_) if isinstance(features, Polynomial) else len(features.get_feature_names_out())
        if not count:
            raise ValueError("features: expected some, got none")
    if (features is None) != (model.features is None):
        raise ValueError("features: expected those of the parameters")
    coefficients = given.array("coefficients", count, None)
    outputs = coefficients.shape[1]
    given.array("offset", outputs)
    one = given.flag("one_output")
    model.coef_ = np.ascontiguousarray(coefficients.T) if not one else shaped(coefficients, one)
    model.intercept_ = one_or_each(given, "intercept_", outputs)
    model.alpha_ = one_or_each(given, "alpha_", outputs)
    model.effective_dof_ = one_or_each(given, "effective_dof_", outputs)
    model.solver_ = given.text("solver_", ("primal", "dual", "svd"))
    left_out = given.array("loo_residuals", None, outputs, finite=False)
    model.loo_residuals_ = shaped(left_out, one)
    n = len(left_out)
    model.left_out_together_ = numbered(given.array("groups", n))[0] if given.has("groups") else np.arange(n)
    many = np.ndim(model.alpha_) == 1
    leverage = given.array("leverage", len(left_out), outputs if many else 1, finite=False)
    model.leverage_ = leverage if many else leverage[:, 0]
    if given.has(value := criterion_value_in(given)):
        model.criterion_value_ = one_or_each(given, value, outputs)
    if given.has("posterior"):
        model._posterior = _read_posterior(given.part("posterior"), count, outputs)
        noise = model._posterior.noise
        model.noise_ = float(noise[0]) if one else noise
    if given.flag("dual"):
        model.dual_coef_ = shaped(given.array("dual", len(left_out), outputs), one)


def _write_posterior(posterior: WeightsPosterior, to: Writing) -> None:
    to.array("root", posterior.root())
    for name in ("centre", "strengths", "noise"):
        to.array(name, getattr(posterior, name))
    to.json["rows"] = posterior.rows
    if posterior.total_weight is not None:
        to.json["total_weight"] = posterior.total_weight


def _read_posterior(given: Fields, count: int, outputs: int) -> WeightsPosterior:
    with given:
        root = given.array("root", None, count)
        if not 0 < len(root) <= count:
            raise ValueError(f"{given.prefix}root: expected 1 to {count} rows, got {len(root)}")
        noise = given.array("noise", outputs, finite=False)
        if not ((noise >= 0) | np.isnan(noise)).all() or np.isinf(noise).any():
            raise ValueError(f"{given.prefix}noise: expected variances")
        total = given.number("total_weight", np.finfo(np.float64).tiny) if given.has("total_weight") else None
        centre, strengths = given.array("centre", count), given.array("strengths", outputs, least=0.0)
        return WeightsPosterior(root, centre, total, strengths, noise, given.whole("rows", 1))


def _write_features(features: BaseEstimator, to: Writing) -> None:
    if type(features) not in _KNOWN:
        raise TypeError(f"features: {type(features).__name__} cannot be written; use pickle or joblib for this model")
    to.value("transformer", features)
    to.json["columns"] = int(features.n_features_in_)
    if hasattr(features, "feature_names_in_"):
        to.json["column_names"] = [str(name) for name in features.feature_names_in_]
    for name in ("powers_", "mean_", "scale_", "weights_", "frequencies_", "landmarks_"):
        if hasattr(features, name):
            to.array(name, getattr(features, name))
    if isinstance(features, Fourier):
        to.value("variance_", features.variance_)
    if hasattr(features, "kernel_"):
        to.kernel("kernel", features.kernel_)


def _read_features(given: Fields) -> BaseEstimator:
    with given:
        features = given.value("transformer")
        if type(features) not in _KNOWN:
            raise ValueError(f"{given.prefix}transformer: expected features of kernsel, got {features!r:.60}")
        d = features.n_features_in_ = given.whole("columns", 1)
        if given.has("column_names"):
            features.feature_names_in_ = np.array(given.texts("column_names", d), dtype=object)
        if isinstance(features, Polynomial):
            features.powers_ = given.array("powers_", None, d, dtype=np.int64, least=0.0).astype(np.intp)
            features.mean_ = given.array("mean_", d)
            features.scale_ = given.array("scale_", d)
            if not features.scale_.all():
                raise ValueError(f"{given.prefix}scale_: expected numbers that are not zero")
            count = len(features.powers_)
            features.weights_ = given.array("weights_", count) if given.has("weights_") else np.ones(count)  # as in 0.1.0
            if given.has("kernel"):
                features.kernel_ = given.kernel("kernel")
            return features
        features.kernel_ = given.kernel("kernel")
        if isinstance(features, Nystrom):
            features.landmarks_ = given.array("landmarks_", None, d)
            require_columns(features.kernel_, features.landmarks_)
            try:
                features.factorize()
            except np.linalg.LinAlgError:
                raise ValueError(f"{given.prefix}landmarks_: expected points with a positive definite kernel matrix") from None
        if isinstance(features, Fourier):
            features.frequencies_ = given.array("frequencies_", d, None)
            features.mean_ = given.array("mean_", d)
            features.variance_ = given.number("variance_", 0.0)
            if not features.frequencies_.shape[1]:
                raise ValueError(f"{given.prefix}frequencies_: expected some")
        return features

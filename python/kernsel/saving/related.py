"""Saving and loading of Gaussian processes of related outputs."""

from __future__ import annotations

import numpy as np

from kernsel._search.related_search import RelatedSelection
from kernsel._solve.related_kernel import RelatedKernel
from kernsel.estimators.related_outputs import RelatedOutputsRegressor
from kernsel.kernels import Coregion
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.machines import require_columns

__all__ = ["read_related", "write_related"]

_MOST = 100  # terms of the kernel


def write_related(model: RelatedOutputsRegressor, to: Writing) -> None:
    """Write data and kernels, from which the processes are conditioned again when the model is loaded."""
    related = model.selection_.related
    for part, term, coregion in zip(to.parts("terms", len(related.terms)), related.terms, related.coregions, strict=True):
        part.kernel("kernel", term)
        part.array("loadings", np.asarray(coregion.W, dtype=np.float64))
        part.array("own", np.asarray(coregion.numbers("kappa")))
    to.array("noise_", related.variances)
    to.array("points", model.X_train_)
    seen = ~np.isnan(model.y_train_)
    to.array("observed", seen)
    to.array("targets", np.where(seen, model.y_train_, 0.0))
    to.array("of_starts", model.selection_.of_starts)
    to.json |= {"value": model.selection_.value, "ended": model.selection_.ended, "evaluations": model.n_evaluations_}


def read_related(model: RelatedOutputsRegressor, given: Fields) -> None:
    """Read data and kernels, and condition the processes on them."""
    X = given.array("points", None, model.n_features_in_)
    Y = given.array("targets", len(X), None)
    m = Y.shape[1]
    if m < 2 or not len(X):
        raise ValueError(f"targets: expected two columns at least, and a row, got shape {Y.shape}")
    Y = np.where(given.array("observed", len(X), m, dtype=np.bool_), Y, np.nan)
    terms, coregions = [], []
    for part in given.parts("terms", _MOST):
        with part:
            terms.append(part.kernel("kernel"))
            require_columns(terms[-1], X)
            W = part.array("loadings", m, None)
            own = part.array("own", m, least=np.finfo(np.float64).tiny)
            coregions.append(Coregion(W.shape[1], W, own, "fixed", "fixed"))
    noise = given.array("noise_", m, least=np.finfo(np.float64).tiny)
    if not terms:
        raise ValueError("terms: expected one at least")
    of_noise = Coregion(0, np.zeros((m, 0)), noise, "fixed", "fixed")
    related = RelatedKernel(tuple(terms), tuple(coregions), of_noise, model.n_features_in_)
    ended = str(given.take("ended"))
    model.X_train_, model.y_train_ = X, Y
    model.n_evaluations_ = given.whole("evaluations")
    value = given.number("value")
    model.restore(RelatedSelection(related, value, model.n_evaluations_, given.array("of_starts", None), ended))

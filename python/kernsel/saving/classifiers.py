"""Saving and loading of Gaussian process classifiers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Vector
from kernsel._base.memory import require_memory_of_points
from kernsel._data.allowed import require
from kernsel._data.together import numbered
from kernsel._solve.posterior import Posterior
from kernsel.estimators.classification import GaussianProcessClassifier
from kernsel.estimators.classification.binary import BinaryProcess, approximated, observations_of
from kernsel.estimators.classification.latent import SampledLatent, safe_factor
from kernsel.estimators.classification.links import link_named
from kernsel.estimators.classification.multinomial import LatentState, Multinomial
from kernsel.estimators.classification.parameters import ALLOWED, require_softmax
from kernsel.estimators.classification.sampling import Samples
from kernsel.estimators.classification.several import MultinomialProcess, OneAgainstAnother, OneAgainstRest, SoftmaxModel
from kernsel.estimators.observed_process import ObservedProcess
from kernsel.estimators.sampled_process import SampledProcess
from kernsel.kernels import Kernel
from kernsel.likelihoods.observations import Observations
from kernsel.saving.drawn import read_sampled, write_sampled
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.selections import read_choice, write_choice

__all__ = ["read_classes", "read_classifier", "write_classes", "write_classifier"]

_MOST_CLASSES = 10_000
_LEAST_ROOT = 1e-140  # of a precision whose reciprocal is finite


def write_classifier(model: GaussianProcessClassifier, to: Writing) -> None:
    """Write the data of each process, and the targets that stand for labels, the mode or draws of its posterior."""
    write_classes(model.classes_, to)
    parts = model.processes()
    for part, process in zip(to.parts("processes", len(parts)), parts, strict=True):
        (_write_softmax if isinstance(process, MultinomialProcess) else _write_binary)(process, part)
    to.value("log_marginal_likelihood", float(model.log_marginal_likelihood_value_))


def read_classifier(model: GaussianProcessClassifier, given: Fields) -> None:
    """Read the processes, and factorize their matrices again."""
    require(model, ALLOWED)
    model.classes_ = classes = read_classes(given)
    model.n_classes_ = count = len(classes)
    softmax = count > 2 and model.multi_class == "multinomial"
    if softmax:
        require_softmax(model)
    pairs = list(combinations(range(count), 2)) if count > 2 and model.multi_class == "one_vs_one" else []
    expected = 1 if count == 2 or softmax else len(pairs) or count
    parts = given.parts("processes", expected)
    if len(parts) != expected:
        raise ValueError(f"processes: expected {expected} for {count} classes, got {len(parts)}")
    read: Callable[[GaussianProcessClassifier, Fields], BinaryProcess | MultinomialProcess]
    read = _read_softmax if softmax else _read_binary
    processes = [read(model, part) for part in parts]
    if expected == 1:
        model.base_estimator_ = processes[0]
    else:
        model.base_estimator_ = object.__new__(OneAgainstAnother if pairs else OneAgainstRest)
        model.base_estimator_.estimators_ = processes
        if pairs:
            model.base_estimator_.pairs, model.base_estimator_.classes = pairs, count
    value = given.number("log_marginal_likelihood", finite=False)
    model.log_marginal_likelihood_value_ = np.float64(np.nan if model.inference == "mcmc" else value)
    model.report_choices()


def write_classes(classes: NDArray[np.generic], to: Writing) -> None:
    """Write the labels of classes, and their type."""
    if classes.dtype.kind in "US":
        to.json["classes"] = classes.astype(str).tolist()
        to.json["classes_are"] = classes.dtype.str
    elif classes.dtype.kind in "biuf":
        to.array("classes", classes)
        to.json["classes_are"] = classes.dtype.str
    else:
        to.value("classes", list(classes))
        to.json["classes_are"] = "objects"


def read_classes(given: Fields) -> NDArray[np.generic]:
    """Read the labels of classes."""
    kind = given.text("classes_are")
    try:
        dtype = np.dtype(object if kind == "objects" else kind)
    except TypeError:
        raise ValueError(f"classes_are: {kind!r:.60} is no type") from None
    if kind == "objects":
        values = given.value("classes")
        if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
            raise ValueError("classes: expected texts or numbers")
        classes = np.empty(len(values), dtype=object)
        classes[:] = values
    elif dtype.kind in "US":
        texts = given.texts("classes")
        if dtype.itemsize > 4 * max(map(len, texts), default=0) + 4:
            raise ValueError(f"classes_are: {kind!r:.60} is larger than the texts")
        classes = np.array(texts).astype(dtype)
    elif dtype.kind in "biuf":
        stored = given.container.tensors.get("classes", ("",))[0]
        classes = given.array(
            "classes", None, dtype={"F64": np.float64, "F32": np.float32, "BOOL": np.bool_}.get(stored, np.int64)
        )
        classes = classes.astype(dtype)
    else:
        raise ValueError(f"classes_are: {kind!r:.60} is no type of labels")
    if not 2 <= len(classes) <= _MOST_CLASSES or len(np.unique(classes)) != len(classes):
        raise ValueError(f"classes: expected 2 to {_MOST_CLASSES} different labels, got {len(classes)}")
    return classes


def _write_binary(process: BinaryProcess, to: Writing) -> None:
    to.kernel("kernel", process.kernel_)
    to.json["criterion"] = process.criterion
    if process.groups is not None:
        to.array("groups", process.groups.astype(np.float64))
    posterior = process.process_.posterior
    for name, values in (
        ("points", process.X_train_),
        ("signs", process.y_train_),
        ("targets", posterior.y[:, 0]),
        ("noise", posterior.noise),
    ):
        to.array(name, values)
    if process.samples_ is not None:
        for name in ("f", "effective_sample_size", "r_hat"):
            to.array(name, getattr(process.samples_, name))
    if isinstance(process.sampled_, SampledProcess):
        write_sampled(process.sampled_, to.part("sampled"), with_likelihood=False)
    if posterior.kernel != process.kernel_:  # after log_marginal_likelihood(..., clone_kernel=False)
        to.kernel("latent_kernel", posterior.kernel)
    to.value("log_marginal_likelihood", float(process.process_.value))
    write_choice(process.choice_, to.part("choice"))


def _read_binary(model: GaussianProcessClassifier, given: Fields) -> BinaryProcess:
    with given:
        process: BinaryProcess = object.__new__(BinaryProcess)
        process.kernel_ = kernel = given.kernel("kernel")
        process.X_train_ = X = given.array("points", None, model.n_features_in_)
        n = len(X)
        process.y_train_ = y = given.array("signs", n)
        if not n or not (np.abs(y) == 1).all():
            raise ValueError(f"{given.prefix}signs: expected -1 or 1 for each point")
        process.link = link_named(model.link)
        process.criterion = given.text("criterion", ("lml", "loo"))
        process.groups = numbered(given.array("groups", n))[0] if given.has("groups") else None
        value = np.float64(given.number("log_marginal_likelihood", finite=False))
        process.log_marginal_likelihood_value_ = np.float64(np.nan) if model.inference == "mcmc" else value
        process.choice_ = read_choice(given.part("choice"))
        require_memory_of_points(n, 2)
        process.samples_ = process.sampled_ = None
        draws_all = model.inference == "mcmc" and model.hyperparameters == "sample"
        if model.inference == "mcmc" and not draws_all:
            f = given.array("f", None, None, n)
            if not f.size:
                raise ValueError(f"{given.prefix}f: expected draws, got shape {f.shape}")
            process.samples_ = Samples(f, given.array("effective_sample_size", n), given.array("r_hat", n, finite=False))
        if given.has("latent_kernel"):
            kernel = given.kernel("latent_kernel")
        observations = observations_of(y, process.link, model.inference)
        process.process_ = _read_posterior(given, kernel, X, observations, float(value))
        if process.samples_ is not None:
            process.sampled_ = SampledLatent(kernel, X, safe_factor(np.asarray(kernel(X))), process.samples_.f)
        if draws_all:
            process.sampled_ = read_sampled(given.part("sampled"), X, None, process.link.likelihood())
            if process.sampled_.drawn.latent_r_hat is None:
                raise ValueError(f"{given.prefix}sampled: expected draws of the latent values, too")
        return process


def _read_posterior(given: Fields, kernel: Kernel, X: Vector, observations: Observations, value: float) -> ObservedProcess:
    """Read the targets and their noise; or of files of version 0.1.0 what they follow from."""
    n = len(X)
    if given.has("targets"):
        targets, noise = given.array("targets", n), given.array("noise", n, least=0.0)
    elif given.has("weights"):
        weights, root = given.array("weights", n), given.array("root", n, least=0.0)
        noise = 1.0 / np.maximum(root, _LEAST_ROOT) ** 2
        targets = np.asarray(kernel.matmul(X, X, weights)) + noise * weights
    else:  # only the mode, beside draws
        given.array("mode", n)
        return approximated(kernel, X, observations)
    return ObservedProcess(observations, Posterior(kernel, X, targets[:, None], noise, None), value)


def _write_softmax(process: MultinomialProcess, to: Writing) -> None:
    to.kernel("kernel", process.kernel_)
    to.array("points", process.X_train_)
    to.array("codes", np.argmax(process.model.Y, axis=1))
    posterior = process.posterior
    to.array("mode", posterior.mode)
    to.array("weights", posterior.weights)
    to.array("objective", posterior.objective)
    to.values(posterior, "log_evidence", "iterations", "converged")
    write_choice(process.choice_, to.part("choice"))


def _read_softmax(model: GaussianProcessClassifier, given: Fields) -> MultinomialProcess:
    with given:
        process: MultinomialProcess = object.__new__(MultinomialProcess)
        process.kernel_ = given.kernel("kernel")
        process.X_train_ = X = given.array("points", None, model.n_features_in_)
        n, count = len(X), model.n_classes_
        codes = given.array("codes", n, dtype=np.int64, least=0.0)
        if not n or (codes >= count).any():
            raise ValueError(f"{given.prefix}codes: expected a number below {count} for each point")
        mode, weights = given.array("mode", n, count), given.array("weights", n, count)
        require_memory_of_points(n, 3 + count)
        process.model = SoftmaxModel(np.eye(count)[codes])
        K = np.asarray(process.kernel_(X))
        process.posterior = Multinomial(
            mode,
            weights,
            given.number("log_evidence"),
            None,
            given.whole("iterations"),
            given.array("objective", None).tolist(),
            given.flag("converged"),
            LatentState([K] * count, mode),
        )
        process.choice_ = read_choice(given.part("choice"))
        process.log_marginal_likelihood_value_ = np.float64(process.posterior.log_evidence)
        return process

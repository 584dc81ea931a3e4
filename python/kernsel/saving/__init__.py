"""Saving and loading of models, in files that are read without running code.

A file has the format of safetensors (:mod:`kernsel.saving.container`): arrays and texts, each with a name. The text ``format``
is "kernsel", ``version`` is "1", and ``model`` is JSON::

    {"estimator": "GaussianProcessRegressor", "parameters": {...}, "columns": 2, "column_names": ["x", "z"], ...}

`parameters` are the arguments of the constructor. The other fields and the arrays are the result of the fit: the kernel as text
(read by :func:`kernsel.kernels.kernel`), the points, coefficients, noise, the report of the selection. Quantities that follow
from these are computed again: a Gaussian process is factorized when it is loaded, so that a file grows with n d, not with n^2.
The module of each family of estimators defines its fields. Notes, any JSON, are the array ``notes`` of bytes.

Points that are objects are JSON and arrays, too (:mod:`kernsel.saving.objects`): texts, numbers, arrays, graphs, distributions,
and lists, tuples, sets and mappings of these. Kernels of one's own classes, and objects of others, raise TypeError.

Files of regressions also have the fields that a program without Python needs, with the same names for all estimators:
`core_kernel`, the kernel as JSON for C++ (``kernsel/kernel_json.hpp``), or null if it contains a Python function; `trend`, if
there is one; and the arrays ``points`` X, ``coefficients`` C, ``trend_coefficients`` B, ``factor`` and ``offset``, with which
the mean at a point z is (k(z, X) C + h(z) B) * factor + offset.

A file of a StackedRegressor has `processes`, a list of such descriptions of Gaussian processes, and the arrays ``weights`` and
``kept``; programs without Python do not read it.

Files are not trusted when they are read: every number is checked like an argument of a user, every size is compared with the
length of the file, and classes come from a fixed table. Objects that cannot be written in this way, such as Python functions,
raise TypeError; pickle and joblib can save them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from kernsel.estimators.fitted import require_fitted
from kernsel.saving.container import Container, Stored, plain_json, read_container, write_container, written_json
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.forms import FORMS
from kernsel.saving.given import read_given, write_given

__all__ = ["keep", "load", "load_estimator", "read_notes", "restore", "save"]

_VERSION = 1

# What is kept of objects around an estimator, by their class, as notes; and what is made of such notes, by a mark in them.
_KEPT: list[tuple[type, Callable[[Any], dict[str, object] | None]]] = []
_RESTORED: dict[str, Callable[[BaseEstimator, dict[str, Any]], object]] = {}


def keep(kind: type, notes: Callable[[Any], dict[str, object] | None]) -> None:
    """Let :func:`save` write the notes that a function returns of objects of a class, along with their `best_estimator_`."""
    _KEPT.append((kind, notes))


def restore(mark: str, made: Callable[[BaseEstimator, dict[str, Any]], object]) -> None:
    """Let :func:`load` return what a function makes of an estimator and its notes, if these have a mark."""
    _RESTORED[mark] = made


def save(model: BaseEstimator, path: str | os.PathLike[str], notes: object = None) -> None:
    """Write a fitted estimator to a file, which :func:`load` and the C++ library read without running code.

    Parameters
    ----------
    model : estimator
        A fitted GaussianProcessRegressor, StackedRegressor, GaussianProcessClassifier, KernelRidge, KernelRidgeCV,
        KernelInterpolator, SVR, or RidgeRegression on features of :mod:`kernsel.features` (saved without its `path_`);
        or what :func:`kernsel.select` or a search of scikit-learn returns: its `best_estimator_`. Of a selection with `target`,
        the encoding of the columns is saved, too, so that `kernsel predict` and `kernsel report` take the file.
    path : str or path-like
        The name of the file, usually ``*.ksl``. An existing file is replaced once the new one is written completely.
    notes : object
        Any value that JSON can represent (no nan), which :func:`read_notes` returns. A selection with `target` has its own.

    Raises
    ------
    TypeError
        If a part of the model, or of its points, is a Python function or another object that only pickle can write, or if the
        model is a pipeline. Points that are objects may be texts, arrays, graphs (of networkx, or edges and labels),
        distributions, and lists, tuples, sets and mappings of these and of numbers.
    NotFittedError
        If the model is not fitted.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, kernsel as ks
    >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
    >>> gp = ks.GaussianProcessRegressor(noise=0.0).fit(X, np.sin(X[:, 0]))
    >>> path = pathlib.Path(tempfile.mkdtemp(), "sine.ksl")
    >>> ks.save(gp, path)
    >>> again = ks.load(path)
    >>> bool(np.allclose(again.predict([[1.5]]), gp.predict([[1.5]])))
    True
    """
    own = next((keep(model) for kind, keep in _KEPT if isinstance(model, kind)), None)
    if own is not None and notes is not None:
        raise ValueError("notes: expected None, since the notes of this selection say what its columns are; got others")
    notes = notes if own is None else own
    model = getattr(model, "best_estimator_", model)
    form = FORMS.get(type(model).__name__)
    if isinstance(model, Pipeline):
        raise TypeError(
            "model: a Pipeline has steps that such a file cannot hold; save its last one, pipeline[-1], and transform points "
            "by pipeline[:-1] before you predict, or write all of it with joblib.dump"
        )
    if form is None or type(model) is not form.estimator:
        raise TypeError(f"model: expected one of {', '.join(FORMS)}, got {type(model).__name__}; pickle and joblib take others")
    try:
        require_fitted(model)
    except NotFittedError:
        raise NotFittedError(f"model: this {type(model).__name__} is not fitted; call fit(X, y) before it is saved") from None
    arrays: dict[str, Stored] = {}
    writing = Writing(arrays)
    writing.json["estimator"] = type(model).__name__
    write_given(model, writing)
    form.write(model, writing)
    if notes is not None:
        arrays["notes"] = np.frombuffer(_noted(notes), dtype=np.uint8)
    metadata = {"format": "kernsel", "version": str(_VERSION), "model": written_json(writing.json)}
    write_container(path, arrays, metadata)


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that :func:`save` has written. No code of the file is run, so that its source need not be trusted.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    model : estimator
        The fitted estimator, whose predictions equal those of the saved one up to rounding. A Gaussian process is factorized
        again, in n^3 / 3 operations. If a selection with `target` was saved, a :class:`kernsel.study.encoded.TableModel`, which
        predicts from tables.

    Raises
    ------
    ValueError
        If the file is not a model, or is damaged. The message names the field that is wrong.
    """
    model = load_estimator(path)
    notes = read_notes(path)
    restore = next((restore for mark, restore in _RESTORED.items() if isinstance(notes, dict) and mark in notes), None)
    if restore is None:
        return model
    try:
        return restore(model, notes)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{path}: the notes in it are damaged: {type(error).__name__} {error!s:.600}") from None


def load_estimator(path: str | os.PathLike[str]) -> BaseEstimator:
    """Read the estimator of a file, also of one whose notes say how its columns are encoded."""
    try:
        container = _opened(path)
        with Fields(plain_json(container.metadata["model"], "the model"), container) as given:
            form = FORMS[given.text("estimator", tuple(FORMS))]
            model = read_given(form.estimator, given)
            form.read(model, given)
        if given.reading is not None:  # as after a fit: points that are objects have no columns
            del model.n_features_in_
        return model
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError(f"{path}: {error!s:.600}") from error


def read_notes(path: str | os.PathLike[str]) -> Any:
    """Return the notes that were saved with a model; None if there are none.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    notes : object
    """
    try:
        container = _opened(path)
        if "notes" not in container.tensors:
            return None
        return plain_json(container.array("notes").tobytes(), "notes")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _noted(notes: object) -> bytes:
    try:
        return written_json(notes).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise type(error)(f"notes: expected what JSON can hold, which has no nan and no infinity: {error}") from None


def _opened(path: str | os.PathLike[str]) -> Container:
    """Open a file; raise unless it is a model in a known version of the format."""
    container = read_container(path)
    if container.metadata.get("format") != "kernsel" or "model" not in container.metadata:
        raise ValueError("this is a file of safetensors, but no model of kernsel")
    version = container.metadata.get("version", "")
    if version != str(_VERSION):
        newer = version.isascii() and version.isdigit() and len(version) < 10 and int(version) > _VERSION
        cure = "a newer kernsel can read it: pip install --upgrade kernsel" if newer else "this is no version"
        raise ValueError(f"its version is {version!r:.60}, expected {_VERSION}; {cure}")
    return container

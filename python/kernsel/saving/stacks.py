"""Saving and loading of stacked Gaussian processes: each process as if it were alone, in one file, with its weight."""

from __future__ import annotations

import numpy as np

from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.given import read_given, write_given
from kernsel.saving.processes import read_process, write_process

__all__ = ["read_stack", "write_stack"]

_MOST = 1000  # processes


def write_stack(model: StackedRegressor, to: Writing) -> None:
    """Write the fitted processes, and their weights and places."""
    to.array("weights", model.weights_)
    to.array("kept", model.kept_)
    for part, process in zip(to.parts("processes", len(model.estimators_)), model.estimators_, strict=True):
        write_given(process, part)
        write_process(process, part)


def read_stack(model: StackedRegressor, given: Fields) -> None:
    """Read the processes, which are conditioned on their data again."""
    parts = given.parts("processes", _MOST)
    weights = given.array("weights", len(parts), least=np.finfo(np.float64).tiny)
    if abs(weights.sum() - 1) > 1e-9:
        raise ValueError(f"weights: expected numbers of sum 1, got {weights.sum():.6g}")
    kept = given.array("kept", len(parts), dtype=np.int64, least=0)
    if not isinstance(model.estimators, list) or (np.diff(kept) <= 0).any() or kept[-1] >= len(model.estimators):
        raise ValueError("kept: expected increasing places of estimators")
    columns = model.n_features_in_
    processes = [_read_one(part) for part in parts]
    X, y = processes[0].kept_data()
    for process in processes:
        points, targets = process.kept_data()
        if process.n_features_in_ != columns or not np.array_equal(points, X) or not np.allclose(targets, y, rtol=1e-9):
            raise ValueError("processes: expected all of them to be of the same points and targets")
    model.restore(processes, weights, kept.astype(np.intp))


def _read_one(given: Fields) -> GaussianProcessRegressor:
    with given:
        process = read_given(GaussianProcessRegressor, given)
        read_process(process, given)
    return process

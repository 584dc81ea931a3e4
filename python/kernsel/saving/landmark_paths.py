"""Saving and loading of regularization paths by landmarks, without the rows that they are of."""

from __future__ import annotations

from kernsel._base.annotations import Matrix
from kernsel._solve.path import RegularizationPath
from kernsel.saving.fields import Fields, Writing

__all__ = ["read_landmark_path", "write_landmark_path"]


def write_landmark_path(path: RegularizationPath, to: Writing) -> None:
    """Write the path of a model whose points are the landmarks."""
    for name, values in path.stored().items():
        to.array(name, values)


def read_landmark_path(given: Fields, landmarks: Matrix, outputs: int, sigma: float | None) -> RegularizationPath:
    """Return the path of a model with these landmarks."""
    arrays = {"state": given.array("state", None), "alphas": given.array("alphas", None)}
    arrays["of_trend"] = given.array("of_trend", None, outputs)
    if given.has("errors"):
        arrays["errors"] = given.array("errors", outputs, len(arrays["alphas"]), least=0.0)
    path = RegularizationPath.restored(arrays, landmarks, sigma)
    if path.n_targets != outputs or path.n_trend != len(arrays["of_trend"]):
        raise ValueError(
            f"{given.prefix}state: expected {outputs} targets and a trend of {len(arrays['of_trend'])} columns, got "
            f"{path.n_targets} and {path.n_trend}"
        )
    path.landmark_coef(float(path.alphas[0]))  # raises unless the state is that of so many landmarks
    return path

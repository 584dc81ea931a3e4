"""Which estimators have a form on disk, and who writes and reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernsel.gaussian_process import GaussianProcessRegressor
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.processes import read_process, write_process

__all__ = ["FORMS", "Form"]


@dataclass(frozen=True)
class Form:
    """How an estimator is written, and how what was learnt is read into a new one.

    Attributes
    ----------
    estimator : type
    write : callable
        write(model, writing)
    read : callable
        read(model, fields), of a model that has its parameters and columns.
    """

    estimator: type[Any]
    write: Callable[[Any, Writing], None]
    read: Callable[[Any, Fields], None]


FORMS: dict[str, Form] = {
    form.estimator.__name__: form for form in (Form(GaussianProcessRegressor, write_process, read_process),)
}

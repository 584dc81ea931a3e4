"""The model of a study that was made of some rows of a file, conditioned on all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from kernsel.approximations import Nystrom
from kernsel.estimators.process_of_rows import conditioned_on_rows
from kernsel.study.choose import tested
from kernsel.study.result import Study
from kernsel.study.tables import Table
from kernsel.study.tables.encoded_rows import EncodedRows
from kernsel.study.tables.missing import Missing

__all__ = ["LearntFromAll", "learn_from_all"]


@dataclass(frozen=True)
class LearntFromAll:
    """A study whose model knows all rows of a file.

    Attributes
    ----------
    study : Study
        The study of some rows with the new model, which keeps no rows.
    rows : int
        The number of rows that were learnt from.
    landmarks : int
    missing : float
        What landmarks do not see of the function, in units of the noise, see :class:`kernsel.Nystrom`.
    test_of_some : dict of str to float
        The scores of the model of some rows, at the test rows of the study, which neither was learnt from.
    seconds : float
    """

    study: Study
    rows: int
    landmarks: int
    missing: float
    test_of_some: dict[str, float]
    seconds: float

    @property
    def is_better(self) -> bool:
        """Whether it predicts better than the model of some rows."""
        return self.study.test["rmse"] < self.test_of_some["rmse"]


def learn_from_all(found: Study, table: Table, path: str, missing: Missing, near: Nystrom) -> LearntFromAll:
    """Condition the likeliest process of a study on all rows of the file, but for those of the table that were set aside.

    Parameters
    ----------
    found : Study
        Of the table.
    table : Table
        A sample of the rows of the file, of which the study has not learnt from all.
    path : str
    missing : {"drop", "mean", "error"}
        As the table was read.
    near : Nystrom
        Landmarks are chosen among the rows that the study has learnt from.
    """
    start = time.perf_counter()
    aside = ~np.isin(table.kept, found.kept)
    if table.y is None or not aside.any():
        raise ValueError("table: expected rows that the study has not learnt from")
    source = EncodedRows(path, found.columns, found.target, missing, table.kept[aside])
    model = conditioned_on_rows(found.process, source, near)
    X, y, mean = table.X[aside], table.y[aside], float(np.mean(table.y[~aside]))
    test, test_of_some = tested(model, X, y, mean), tested(found.model, X, y, mean)
    posterior = model.posterior_
    return LearntFromAll(
        replace(found, model=model, test=test),
        posterior.n_rows,
        len(posterior.landmarks),
        posterior.missing,
        test_of_some,
        time.perf_counter() - start,
    )

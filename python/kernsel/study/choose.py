"""The computation of a study: training and test rows, the selection by each criterion, and the scores of all fits."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from math import nan
from typing import Any, Literal

import numpy as np

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._base.renamed import refuse_criterion
from kernsel._data.together import counted, first_of_equal, learnt_once, numbered, repeats_in
from kernsel._data.trend import Trend
from kernsel._solve.evaluate import loo
from kernsel.approximations import Vecchia, Wish
from kernsel.criteria.names import direction, offered
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.stacking.mixture import Mixture
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.kernels import Kernel
from kernsel.likelihoods import Likelihood
from kernsel.study.categories import kernels_of_categories
from kernsel.study.line import MANY, NEIGHBORS, Line
from kernsel.study.result import Study
from kernsel.study.select import USUAL, Tried, select
from kernsel.study.tables import Table
from kernsel.study.texts import kernel_of, label

__all__ = ["divided", "line_of", "require_criterion", "scores", "study", "tested"]

_INTERRUPTED = "interrupted: not all was tried"
_MOST_TESTED = 10_000  # the largest number of test rows
_LEAST = 3  # the least number of training rows
_95 = 1.959963984540054  # half the width of a 95 % interval, in standard deviations


def study(
    table: Table,
    *,
    kernels: Iterable[Kernel | str] | Literal["search"] | None = None,
    criteria: Sequence[str] | None = None,
    combine: Literal["auto", "stack"] | None = "auto",
    noise: float | Literal["auto"] = "auto",
    trend: Trend = "constant",
    rows: int | None = None,
    test: float = 0.0,
    budget: float | None = None,
    seed: int = 0,
    approximation: Wish = "auto",
    likelihood: str | Likelihood | None = None,
    progress: Callable[[str, str], None] | None = None,
) -> Study:
    """Choose a kernel by each criterion, and keep the model that the first criterion chooses.

    If it is interrupted (Ctrl-C) after the first model, it returns the study so far, with the interruption as `ended`;
    otherwise it raises KeyboardInterrupt.

    Parameters
    ----------
    table : Table
        A table with a target.
    kernels : iterable of kernels or texts, "search" or None
        See :func:`kernsel.select`. Hyperparameters that a text such as ``"RBF + Linear.on(['speed'])"`` does not mention are
        "auto".
    criteria : sequence of str or None
        Names of :mod:`kernsel.criteria`; None is "evidence" and "loo", with a likelihood "lml" and "loo_log_density".
    combine : "stack" or None
        "stack" mixes the kernels that were fitted by the first criterion, see :func:`kernsel.select`.
    noise : float or "auto"
        The noise variance; "auto" estimates it.
    trend : {"constant", "linear", "quadratic"} or None
    rows : int, optional
        The most training rows; by default all. If the table has more, a random sample is taken, and up to 10,000 of the other
        rows test the model.
    test : float
        The share of rows that is held out to test the model.
    budget : float, optional
        Seconds for all criteria and kernels together. At least one kernel is tried.
    seed : int
        The seed of random samples and searches.
    approximation : "auto", Vecchia or None
        For many rows, see :func:`kernsel.select`.
    likelihood : str, Likelihood or None
        That of the target given the function, see :func:`kernsel.select`; None is normal noise.
    progress : callable, optional
        Called with the criterion and the kernel that is tried next.

    Returns
    -------
    study : Study

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.study import study
    >>> from kernsel.study.tables import Column, Table
    >>> x = np.linspace(0, 6, 30)
    >>> columns, target = [Column("x", "number")], Column("y", "number")
    >>> table = Table("made", 30, x[:, None], np.sin(x), ["x"], columns, target, [], np.arange(1, 31))
    >>> found = study(table, kernels=["RBF", "Matern"], criteria=["lml"], noise=0.0)
    >>> [line.kernel for line in found.lines["lml"]]
    ['RBF', 'Matern(nu=1.5)']
    """
    start = time.perf_counter()
    if criteria is None:
        criteria = ("evidence", "loo") if likelihood is None else ("lml", "loo_log_density")
    criteria = list(dict.fromkeys(map(require_criterion, criteria)))
    if not criteria:
        raise ValueError(f"criteria: expected one at least of {', '.join(offered())}")
    if table.y is None or table.target is None:
        raise ValueError("table: expected one with a target")
    rows_once, copy_remarks = rows_learnt_once(table, may_be_copies=likelihood is None)
    training, tests, split_remarks = divided(table, rows_once, rows, test, seed)
    X, y = table.X[training], table.y[training]
    groups = None if table.groups is None else numbered(table.groups[training])[0]
    if groups is not None and not groups.any():
        raise ValueError(f"{table.source}: the rows to learn from are of one group only; two {table.grouped_by} are needed")
    sizes = _of(table.told_sizes, training)
    if likelihood is None and sizes:
        raise ValueError(
            f"{table.sized_by}: normal noise has none; expected a likelihood of counts, such as --likelihood poisson"
        )
    if kernels is None:
        kernels = [*USUAL, *kernels_of_categories(table)]
    candidates = kernels if isinstance(kernels, str) else [kernel_of(one, table) for one in kernels]
    lines: dict[str, list[Line]] = {}
    model: GaussianProcessRegressor | StackedRegressor | None = None
    remarks, ended = [*table.remarks, *copy_remarks, *split_remarks], ""

    def tell(criterion: str) -> Callable[[Kernel], None] | None:
        return None if progress is None else lambda kernel: progress(criterion, label(kernel, table.names))

    for number, name in enumerate(criteria):
        remaining = None if budget is None else budget - (time.perf_counter() - start)
        if model is not None and remaining is not None and remaining <= 0:
            ended = "the time was over before all was tried"
            break
        share = None if remaining is None else max(remaining, 0.0) / (len(criteria) - number)
        try:
            selected = select(
                X,
                y,
                candidates,
                name,
                combine=combine if model is None else None,
                noise=noise,
                trend=trend,
                max_seconds=share,
                random_state=seed,
                progress=tell(name),
                groups=groups,
                approximation=approximation,
                likelihood=likelihood,
                **sizes,
            )
            if model is None:
                model = selected.best_estimator_
                remarks += [_for_command(remark) for remark in selected.about_likelihood]
                if isinstance(model, GaussianProcessRegressor) and model.selection_.compared:
                    remarks.append(model.selection_.compared)
            lines[name] = []
            for one in selected.tried:
                lines[name].append(line_of(one, X, y, trend, table.names, groups))
            ended = ended or selected.ended
            if selected.interrupt is not None:
                break
        except KeyboardInterrupt:
            if model is None:
                raise
            ended = _INTERRUPTED
            break
        except (ValueError, np.linalg.LinAlgError) as error:
            if model is None:
                raise
            remarks.append(f"By {name} nothing could be chosen: {error}.")
    assert model is not None
    remarks += _of_rows(model, table.kept[training])
    return Study(
        table.source,
        table.rows,
        table.names,
        table.columns,
        table.target,
        remarks,
        lines,
        {name: direction(name) for name in lines},
        criteria[0],
        model,
        tested(
            model, table.X[tests], np.asarray(table.y)[tests], float(np.mean(model.y_train_)), **_of(table.told_sizes, tests)
        ),
        table.kept[training],
        time.perf_counter() - start,
        ended,
        table.grouped_by,
    )


def require_criterion(name: str) -> str:
    """Return the name of a criterion; raise if there is no criterion of this name."""
    if name not in offered():
        refuse_criterion("criterion", name)
        close = get_close_matches(name, offered(), 1, 0.5)
        hint = f"; did you mean {close[0]}?" if close else "."
        raise ValueError(f"criterion: there is no {name!r}{hint} There are {', '.join(offered())}")
    return name


def rows_learnt_once(table: Table, *, may_be_copies: bool = True) -> tuple[Indices, list[str]]:
    """Return the rows of a table without copies of other rows, and remarks on the rows that are repeated.

    Rows of equal inputs that are not copies, see :func:`kernsel._data.together.copies_in`, are measurements that were repeated,
    and all of them are learnt from. Counts and other values of few kinds are often equal by chance: then none `may_be_copies`.
    """
    X, y = table.X, np.asarray(table.y)
    n = len(X)
    if may_be_copies and (once := learnt_once(X, y)) is not None:
        return once.kept, [str(once)]
    repeated = repeats_in(X, y).points
    if not repeated:
        return np.arange(n), []
    said = f"{counted(repeated, 'row')} {'has' if repeated == 1 else 'have'} the inputs of an earlier one"
    return np.arange(n), [f"{said}: rows with equal inputs are left out together." if table.groups is None else f"{said}."]


def divided(table: Table, among: Indices, rows: int | None, test: float, seed: int) -> tuple[Indices, Indices, list[str]]:
    """Return the indices of training and of test rows among the given rows, and remarks for the user."""
    if table.y is None or table.target is None:
        raise ValueError("table: expected one with a target")
    rows = table.rows if rows is None else rows
    if rows < _LEAST:
        raise ValueError(f"rows: expected {_LEAST} at least, got {rows}")
    if not 0 <= test < 1:
        raise ValueError(f"test: expected a share from 0 on and less than 1, got {test}")
    n = len(among)
    together = first_of_equal(table.X[among]) if table.groups is None else table.groups[among]
    order, n_tests = _order(n, together, round(test * n), seed)
    training = np.sort(among[order[n_tests:][:rows]])
    tests = among[order[:n_tests] if n_tests else order[rows:]]
    if together is not None and not n_tests:  # what is left out together with a row that was learnt from tests nothing
        tests = among[order[rows:][~np.isin(together[order[rows:]], together[order[:rows]])]]
    tests = np.sort(tests)
    if len(training) < _LEAST:
        raise ValueError(f"{table.source}: {_rows(len(training))} to learn from; at least {_LEAST} are needed")
    y = table.y[training]
    if not np.ptp(y):
        raise ValueError(f"{table.source}: all values of {table.target.name!r} are {y[0]:g}; there is nothing to predict")
    remarks = []
    if len(training) < n - n_tests:
        remarks.append(
            f"Learnt from a random sample of {_rows(len(training))} out of {n - n_tests:,}; --rows takes more, and time."
        )
    constant = np.ptp(table.X[training], axis=0) == 0
    if constant.any():
        names = ", ".join(np.asarray(table.names)[constant][:8]) + (", ..." if constant.sum() > 8 else "")
        remarks.append(f"The same value in all rows that are learnt from, so that nothing is learnt of it: {names}.")
    if len(tests) > _MOST_TESTED:
        tests = np.sort(np.random.default_rng(seed).choice(tests, _MOST_TESTED, replace=False))
    if len(tests):
        remarks.append(f"{_rows(len(tests))} that {'was' if len(tests) == 1 else 'were'} not learnt from test the model.")
    return training, tests, remarks


def _order(n: int, together: Indices | None, n_tests: int, seed: int) -> tuple[Indices, int]:
    """Return the rows in random order, and how many of the first ones are test rows.

    Rows that are left out together follow each other, and are all test rows or all learnt from.
    """
    random = np.random.default_rng(seed)
    if together is None:
        return random.permutation(n), n_tests
    group, count = numbered(together)
    place = random.permutation(count)[group]
    order = np.argsort(place, kind="stable")
    ends = np.flatnonzero(np.diff(place[order])) + 1
    return order, int(ends[np.argmin(np.abs(ends - n_tests))]) if n_tests and len(ends) else 0


def _of_rows(model: GaussianProcessRegressor | StackedRegressor, kept: Indices) -> list[str]:
    """Return the remarks of a model's selection, with rows numbered as in the file."""
    process = model.processes[0][1] if isinstance(model, StackedRegressor) else model
    far = process.selection_.far
    return [] if far is None else [_sentence(far.said(kept))]


def _for_command(remark: str) -> str:
    """Return a remark with options as the command has them, in the place of arguments of Python."""
    return re.sub(r'likelihood="(\w+)"', r"--likelihood \1", remark)


def _of(sizes: dict[str, Any], rows: Indices) -> dict[str, Any]:
    return {name: values[rows] for name, values in sizes.items()}


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def line_of(one: Tried, X: Matrix, y: Vector, trend: Trend, names: Sequence[str], groups: Indices | None) -> Line:
    """Return the line of a fit, with its leave-one-out scores, whatever criterion it is by."""
    rmse = density = coverage = nan
    if one.left_out is not None:  # of a likelihood
        rmse, density, coverage = one.left_out.rmse, one.left_out.log_density, one.left_out.coverage
    elif one.kernel_ is not None:
        with suppress(np.linalg.LinAlgError, ValueError):  # a trend may have no fit without one of the points
            kept = np.setdiff1d(np.arange(len(y)), one.outliers_)  # outliers tell nothing of the kernel
            together = None if groups is None else groups[kept]
            noise = one.noise_ + one.jitter_
            near = None if len(kept) <= MANY else Vecchia(NEIGHBORS)
            fit = loo(one.kernel_, X[kept], y[kept], noise=noise, trend=trend, groups=together, approximation=near)
            rmse, density, coverage = scores(fit.residuals, np.sqrt(fit.variances))
            if near is not None and np.isfinite(one.log_density):
                density = one.log_density  # of the fit itself, as that of a mixture with which it is compared
    return Line(
        label(one.kernel, names),
        "" if one.kernel_ is None else str(one.kernel_),
        one.value,
        rmse,
        density,
        coverage,
        float(one.noise_),
        one.parameters,
        one.n_evaluations_,
        one.seconds,
        one.problem,
        one.ended,
        one.weight,
        one.as_good,
    )


def scores(errors: Vector, std: Vector) -> tuple[float, float, float]:
    """Return the root mean square of errors, the mean of their log densities, and the share within 95 % intervals."""
    z = errors / std
    density = -0.5 * z**2 - np.log(std) - 0.5 * np.log(2 * np.pi)
    return float(np.sqrt(np.mean(errors**2))), float(np.mean(density)), float(np.mean(np.abs(z) <= _95))


def tested(
    model: GaussianProcessRegressor | StackedRegressor, X: Matrix, y: Vector, mean: float, **sizes: Any
) -> dict[str, float]:
    """Return the scores of the model on test rows, beside those of a number; empty without any.

    `sizes` are the exposures or the trials of the rows, for a model that has a likelihood.
    """
    if not len(y):
        return {}
    found = model.predictive(X, **sizes)
    rmse = float(np.sqrt(np.mean((y - found.mean[:, 0]) ** 2)))
    scores_of_likelihood = {}
    if isinstance(found, Mixture):
        coverage = float(np.mean(np.abs(found.standardized(y[:, None])) <= _95))
    else:
        low, high = found.quantiles([0.025, 0.975])[:, 0].T
        coverage = float(np.mean((low <= y) & (y <= high)))
        scores_of_likelihood = {"log_density": float(found.log_density(y[:, None]).mean())}
    of_mean = float(np.sqrt(np.mean((y - mean) ** 2)))
    return {"rows": float(len(y)), "rmse": rmse, "coverage": coverage, "rmse_of_mean": of_mean} | scores_of_likelihood

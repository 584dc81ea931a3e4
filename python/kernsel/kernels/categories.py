"""Kernels of categories: of the levels of a column, which are codes in an array, and texts or other values in a data frame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Bounds, Hyperparameter, Parameter, numbers, plain
from kernsel.kernels.leaf import Leaf, value_of
from kernsel.kernels.levels import Levels, plain_level
from kernsel.kernels.objects import Reading

__all__ = ["Coregion", "CorrelatedLevels", "Exchangeable", "GroupedLevels", "Inherited", "LevelKernel", "OrderedLevels"]

_MOST_LOADING = 20.0  # correlations of levels are at most 400 / 401


class LevelKernel(Leaf):
    """A kernel of the levels of one column.

    In an array the column has codes 0, 1, ..., m - 1; or there are m columns, of which the one of the level is 1 and all others
    are 0. In a data frame it has texts, numbers or a Categorical, whose levels the kernel takes from the training points.
    """

    _source: Reading | None = None  # of the data frame that the kernel is bound to
    _of: Levels | None = None
    _place = 0  # of the column among those of the reading

    def told_levels(self) -> list[Any] | None:
        """Return the levels that the kernel was told, in their order; None if it takes them from the data."""
        levels = getattr(self, "levels", None)
        return None if levels is None else [plain_level(level) for level in plain(levels)]

    def levels_of(self, names: Sequence[str | None]) -> dict[str | None, list[Any] | None]:
        return dict.fromkeys(names, self.told_levels())

    def reading(self) -> Reading | None:
        return self._source

    def bound_to(self, reading: Reading) -> Kernel:
        if len(reading.pools) != 1 or not isinstance(reading.pools[0], Levels):
            if any(isinstance(pool, Levels) for pool in reading.pools):
                raise ValueError(f"kernel: {self} is of one column of levels, got {len(reading.pools)}; write .on([name])")
            return super().bound_to(reading)  # of columns of numbers, which may be codes
        return self.replaced(_of=reading.pools[0], _source=reading.whole, _place=reading.places[0])

    def require_known(self, X: Matrix) -> None:
        if self._of is None or not len(X):
            return
        codes, known = X[:, self._place], len(self._of.names)
        if codes.max() >= known:
            row = int(np.argmax(codes >= known))
            level = self._of.all_names()[int(codes[row])]
            names = ", ".join(str(name) for name in self._of.names[:10]) + (", ..." if known > 10 else "")
            raise ValueError(
                f"X: row {row} has the level {level!r}, of which {type(self).__name__} knows nothing; "
                f"expected one of {names}; the kernel Exchangeable takes new levels"
            )

    def _check_told(self) -> None:
        """Raise unless `levels` is a list of different levels."""
        levels = plain(getattr(self, "levels", None))
        if levels is not None and (not isinstance(levels, list | tuple) or not levels or len(set(levels)) < len(levels)):
            raise ValueError(f"levels: expected a list of different levels, got {levels!r}")

    def count_of_levels(self, X: Matrix) -> int:
        """Return the number of levels: of the column that the kernel is bound to, that it was told, or that points have."""
        if self._of is not None:
            return len(self._of.names)
        if (told := self.told_levels()) is not None:
            return len(told)
        if X.shape[1] > 1:
            return int(X.shape[1])
        if not (X >= 0).all() or not (np.floor(X) == X).all():
            raise ValueError(
                f"X: {type(self).__name__} expects a column of codes 0, 1, ... of its levels, got numbers such as "
                f"{X[(X < 0) | (np.floor(X) != X)][0]:g}; a data frame may have any levels"
            )
        return int(X.max(initial=0)) + 1


class Exchangeable(LevelKernel):
    """The kernel of levels that are all alike: 1 for equal levels, and one correlation for all others.

    Also known as compound symmetry. It has no list of levels: a new one has the common correlation with all others. Of several
    columns, levels are the combinations of their values.

    Parameters
    ----------
    correlation : float
        From 0 to 1. With 0, which is not selected, what is known of one level says nothing of others.
    correlation_bounds : pair of floats, "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import Exchangeable
    >>> Exchangeable(0.3)([[0], [1], [1]])
    array([[1. , 0.3, 0.3],
           [0.3, 1. , 1. ],
           [0.3, 1. , 1. ]])

    In a data frame levels may be texts; each has a function of its own here, all of which are correlated:

    >>> import numpy as np, pandas as pd, kernsel as ks
    >>> frame = pd.DataFrame({"x": np.linspace(0, 6, 20), "colour": ["red", "blue"] * 10})
    >>> y = np.sin(frame["x"]) + (frame["colour"] == "red")
    >>> k = ks.kernels.RBF("auto").on(["x"]) * Exchangeable("auto").on(["colour"])
    >>> gp = ks.GaussianProcessRegressor(ks.kernels.ConstantKernel("auto") * k, trend="constant").fit(frame, y)
    >>> gp.predict(pd.DataFrame({"x": [3.0, 3.0], "colour": ["red", "blue"]})).round(1)
    array([1.1, 0.1])
    """

    _hyper: ClassVar = {"correlation": "share"}
    _may_be_zero = ("correlation",)

    def __init__(self, correlation: float | str | Parameter = 0.5, correlation_bounds: Bounds = "auto") -> None:
        self.correlation = correlation
        self.correlation_bounds = correlation_bounds
        self._check()

    def _check(self) -> None:
        super()._check()
        _check_correlation(self, "correlation")

    def bound_to(self, reading: Reading) -> Kernel:
        return self.replaced(_source=reading.whole)

    def build(self) -> _core.Kernel:
        return _core.exchangeable(self.number("correlation"))


class GroupedLevels(LevelKernel):
    """The kernel of levels in groups: 1 for equal levels, r for others of the same group, r b for levels of different groups.

    Parameters
    ----------
    groups : list of lists
        The levels of each group: codes for an array, and values of the column for a data frame. All levels are in one group
        each.
    correlation : float
        r, above 0 and at most 1.
    between : float
        b, above 0 and at most 1: the correlation of groups.
    correlation_bounds, between_bounds : pair of floats, "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import GroupedLevels
    >>> GroupedLevels([[0, 1], [2]], 0.8, 0.5)([[0], [1], [2]])
    array([[1. , 0.8, 0.4],
           [0.8, 1. , 0.4],
           [0.4, 0.4, 1. ]])
    """

    _hyper: ClassVar = {"correlation": "share", "between": "share"}

    def __init__(
        self,
        groups: Sequence[Sequence[Any]],
        correlation: float | str | Parameter = 0.5,
        between: float | str | Parameter = 0.5,
        correlation_bounds: Bounds = "auto",
        between_bounds: Bounds = "auto",
    ) -> None:
        self.groups = groups
        self.correlation = correlation
        self.between = between
        self.correlation_bounds = correlation_bounds
        self.between_bounds = between_bounds
        self._check()

    def _check(self) -> None:
        super()._check()
        groups = plain(self.groups)
        if not isinstance(groups, list | tuple) or not all(isinstance(group, list | tuple) and group for group in groups):
            raise ValueError(f"groups: expected a list of lists of levels, got {groups!r}")
        every = [level for group in groups for level in group]
        if not every or len(set(every)) < len(every):
            raise ValueError(f"groups: expected each level in one group, got {groups!r}")
        for name in self._hyper:
            _check_correlation(self, name)

    def told_levels(self) -> list[Any]:
        return [level for group in plain(self.groups) for level in group]

    def build(self) -> _core.Kernel:
        group_of = {level: number for number, group in enumerate(plain(self.groups)) for level in group}
        order = range(len(group_of)) if self._of is None else self._of.names
        if any(level not in group_of for level in order):
            raise ValueError(f"groups: expected the codes 0 to {len(group_of) - 1} for an array of points, got {self.groups!r}")
        codes = [group_of[level] for level in order]
        return _core.grouped_levels(self.number("correlation"), self.number("between"), codes)


class LoadedLevels(LevelKernel):
    """A kernel of levels that has a matrix of loadings W, shape (m, rank)."""

    _signed = ("W",)
    rank: int
    W: ArrayLike | str | Parameter
    W_bounds: Bounds

    def _check(self) -> None:
        super()._check()
        self._check_told()
        if isinstance(self.rank, bool) or not isinstance(self.rank, int | np.integer) or self.rank < self._least_rank:
            raise ValueError(f"rank: expected a whole number from {self._least_rank} on, got {self.rank!r}")
        W = value_of(self.W)
        if not isinstance(W, str) and np.shape(W)[1] != self.rank:
            raise ValueError(f"W: expected {self.rank} columns, as `rank` says, got shape {np.shape(W)}")

    _least_rank: ClassVar[int] = 1

    def _check_value(self, name: str, value: object) -> None:
        if name != "W" or isinstance(value, str):
            super()._check_value(name, value)
        elif (shape := numbers(value, name, positive=False).shape) and (len(shape) != 2 or shape[0] == 0):
            raise ValueError(f'{name}: expected a matrix with a row for each level, or "auto", got {value!r}')

    @abstractmethod
    def _size_of_loadings(self, data: Data) -> float:
        """Return the size of loadings at the start."""

    def resolve(self, data: Data) -> Kernel:
        argument, bounds, size = self.W, self.bounds_of("W"), self._size_of_loadings(data)
        value = value_of(argument)
        if isinstance(value, str):
            # Columns that differ in where they change their signs: equal ones would have equal gradients, and stay so.
            m = self.count_of_levels(data.X)
            places = np.multiply.outer(np.arange(m) + 0.5, np.arange(self.rank)) / m
            value = size * np.cos(np.pi * places) / max(self.rank, 1) ** 0.5
        if isinstance(bounds, str) and bounds == "auto":
            bounds = (-_MOST_LOADING * size, _MOST_LOADING * size)
        if isinstance(argument, Parameter):
            return super(LoadedLevels, self.replaced(W=argument.replaced(value, bounds))).resolve(data)
        return super(LoadedLevels, self.replaced(W=value, W_bounds=bounds)).resolve(data)

    def _loadings(self) -> Vector:
        return np.asarray(numbers(self.W, "W", positive=False)).ravel()


class CorrelatedLevels(LoadedLevels):
    """The kernel of levels with a learned correlation for each pair: that of B = W W' + I, for loadings W of low rank.

    k(i, j) = (w_i'w_j + [i = j]) / ((1 + |w_i|^2) (1 + |w_j|^2))^(1/2), with the rows w_i of W: levels are alike as far as they
    load on the same factors. Any correlations are possible if the rank is large enough; m levels have m rank parameters.

    Parameters
    ----------
    rank : int
        The number of factors. Not a hyperparameter: it is never selected.
    W : array-like of shape (m, rank), or "auto"
        Entries may have any sign, and are hyperparameters, row by row: their entries of `theta` are the numbers themselves.
    W_bounds : pair of floats, array-like of shape (m * rank, 2), "fixed" or "auto"
    levels : sequence, optional
        The levels of a data frame in the order of the rows of W, also those that no training point has. By default the levels
        of the training points, in ascending order.

    Examples
    --------
    >>> from kernsel.kernels import CorrelatedLevels
    >>> CorrelatedLevels(1, [[2.0], [2.0], [-1.0]])([[0], [1], [2]]).round(3)
    array([[ 1.   ,  0.8  , -0.632],
           [ 0.8  ,  1.   , -0.632],
           [-0.632, -0.632,  1.   ]])
    """

    _hyper: ClassVar = {"W": "signed"}

    def __init__(
        self,
        rank: int = 1,
        W: ArrayLike | str | Parameter = "auto",
        W_bounds: Bounds = "auto",
        levels: Sequence[Any] | None = None,
    ) -> None:
        self.rank = rank
        self.W = W
        self.W_bounds = W_bounds
        self.levels = levels
        self._check()

    def _size_of_loadings(self, data: Data) -> float:
        del data
        return 1.0

    def build(self) -> _core.Kernel:
        return _core.correlated_levels(self._loadings().tolist(), int(self.rank))


class Coregion(LoadedLevels):
    """The kernel of related outputs, whose numbers are the levels: B = W W' + diag(kappa), for loadings W of low rank.

    Times a kernel of x it is the intrinsic model of coregionalization, and a sum of such products the linear model,
    k((x, i), (z, j)) = sum_q B_q[i, j] k_q(x, z): outputs are sums of processes that they share, and of own ones. It is a
    covariance, so that the other factor needs no amplitude.

    Parameters
    ----------
    rank : int
        The number of processes that outputs share; 0 for none, B = diag(kappa). Not a hyperparameter: it is never selected.
    W : array-like of shape (m, rank), or "auto"
        Entries may have any sign, and are hyperparameters, row by row: their entries of `theta` are the numbers themselves.
    kappa : array-like of shape (m,), or "auto"
        The variance of what each output does not share.
    W_bounds, kappa_bounds : pair of floats, "fixed" or "auto"
        Or one pair for each number.
    levels : sequence, optional
        The outputs in a data frame in the order of the rows of W.

    Examples
    --------
    >>> from kernsel.kernels import RBF, Coregion
    >>> k = RBF(1.0).on([0]) * Coregion(1, [[1.0], [2.0]], [0.5, 0.5]).on([1])
    >>> k([[0.0, 0], [0.0, 1], [3.0, 1]]).round(3)  # x and the number of the output
    array([[1.5  , 2.   , 0.022],
           [2.   , 4.5  , 0.05 ],
           [0.022, 0.05 , 4.5  ]])
    """

    _hyper: ClassVar = {"W": "signed", "kappa": "variance"}
    _by_column = ("kappa",)
    _least_rank = 0

    def __init__(
        self,
        rank: int = 1,
        W: ArrayLike | str | Parameter = "auto",
        kappa: ArrayLike | str | Parameter = "auto",
        W_bounds: Bounds = "auto",
        kappa_bounds: Bounds = "auto",
        levels: Sequence[Any] | None = None,
    ) -> None:
        self.rank = rank
        self.W = W
        self.kappa = kappa
        self.W_bounds = W_bounds
        self.kappa_bounds = kappa_bounds
        self.levels = levels
        self._check()

    def _check(self) -> None:
        super()._check()
        W, kappa = value_of(self.W), value_of(self.kappa)
        if not isinstance(kappa, str) and not isinstance(W, str) and len(W) != np.size(kappa):
            raise ValueError(f"kappa: expected {len(W)} numbers, one for each row of W, got {kappa!r}")

    def _size_of_loadings(self, data: Data) -> float:
        return float((data.variance / 2) ** 0.5)

    def resolve(self, data: Data) -> Kernel:
        argument = self.kappa
        if not isinstance(value_of(argument), str):
            return super().resolve(data)
        start = np.full(self.count_of_levels(data.X), data.variance / (2 if self.rank else 1))
        given = argument.replaced(start) if isinstance(argument, Parameter) else start
        return super(Coregion, self.replaced(kappa=given)).resolve(data)

    def own(self) -> Any:
        return ((h, value) for h, value in super().own() if h.n_elements)  # without loadings of rank 0

    def build(self) -> _core.Kernel:
        return _core.coregion(self._loadings().tolist(), self.numbers("kappa"))


class Inherited(LevelKernel):
    """The kernel of a process that levels inherit from the one of number `first` on: w_i w_j, where w is (0, ..., 0, 1, rho).

    It is a factor of a term of an autoregressive model of several fidelities, see :func:`kernsel.kernels.autoregressive`.

    Parameters
    ----------
    first : int
        The first level that has the process, whose factor is one; those before have 0. Not a hyperparameter: it is never
        selected.
    rho : array-like of shape (m - first - 1,), or "auto"
        The factors of the levels that follow, of any sign.
    rho_bounds : pair of floats, array-like of shape (m - first - 1, 2), "fixed" or "auto"
    levels : sequence, optional
        The levels of a data frame in their order.

    Examples
    --------
    >>> from kernsel.kernels import Inherited
    >>> Inherited(1, [3.0])([[0], [1], [2]])
    array([[0., 0., 0.],
           [0., 1., 3.],
           [0., 3., 9.]])
    """

    _hyper: ClassVar = {"rho": "signed"}
    _signed = ("rho",)
    _by_column = ("rho",)

    def __init__(
        self,
        first: int = 0,
        rho: ArrayLike | str | Parameter = "auto",
        rho_bounds: Bounds = "auto",
        levels: Sequence[Any] | None = None,
    ) -> None:
        self.first = first
        self.rho = rho
        self.rho_bounds = rho_bounds
        self.levels = levels
        self._check()

    def _check(self) -> None:
        super()._check()
        self._check_told()
        if isinstance(self.first, bool) or not isinstance(self.first, int | np.integer) or self.first < 0:
            raise ValueError(f"first: expected a whole number from 0 on, got {self.first!r}")

    def _check_value(self, name: str, value: Any) -> None:
        if np.shape(value) != (0,):  # the last level has no other that follows
            super()._check_value(name, value)

    def _before(self) -> list[float]:
        """Return the factors that are known."""
        return [0.0] * int(self.first) + [1.0]

    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        before = self._before()  # hyperparameters of the core, too
        yield Hyperparameter("known", "fixed", len(before), log=False), np.array(before)
        yield from ((h, value) for h, value in super().own() if h.n_elements)

    def core_order(self) -> list[int]:
        return list(range(len(self._before()) + len(super().core_order())))

    def with_values(self, values: Iterator[ArrayLike]) -> Self:
        found = {h.name: value for (h, _), value in zip(self.own(), values, strict=False)}
        if "rho" not in found:
            return self
        rho = found["rho"]
        return self.replaced(rho=self.rho.replaced(rho) if isinstance(self.rho, Parameter) else rho)

    def resolve(self, data: Data) -> Kernel:
        argument, bounds = self.rho, self.bounds_of("rho")
        value = value_of(argument)
        if isinstance(value, str):
            m = self.count_of_levels(data.X)
            if m <= self.first:
                raise ValueError(f"first: expected one of the levels, of which there are {m}, got {self.first}")
            value = np.ones(m - int(self.first) - 1)
        if isinstance(bounds, str) and bounds == "auto":
            bounds = (-_MOST_LOADING, _MOST_LOADING)
        data.note("signed", len(self._before()))
        given: dict[str, Any] = {"rho": value, "rho_bounds": bounds}
        if isinstance(argument, Parameter):
            given = {"rho": argument.replaced(value, bounds)}
        resolved = self.replaced(**given)
        return super(Inherited, resolved).resolve(data) if np.size(value) else resolved

    def build(self) -> _core.Kernel:
        return _core.coregion(self._before() + self.numbers("rho"), [])


class OrderedLevels(LevelKernel):
    """The kernel of levels that have an order: a Matern kernel of positions on a line, whose distances are learned.

    k(i, j) = m(|t_i - t_j|) with t_0 = 0 and t_i = t_(i-1) + gaps_i: levels that are next to each other are the more alike the
    smaller the gap between them.

    Parameters
    ----------
    gaps : array-like of shape (m - 1,), or "auto"
        The distances between levels that are next to each other, in units of the kernel's length scale.
    gaps_bounds : pair of floats, array-like of shape (m - 1, 2), "fixed" or "auto"
    nu : {0.5, 1.5, 2.5, inf}
        The smoothness of the Matern kernel; infinity is the squared exponential. Not a hyperparameter: it is never selected.
    levels : sequence, optional
        The levels of a data frame in their order. They have one already if they are numbers, or an ordered Categorical.

    Examples
    --------
    >>> from kernsel.kernels import OrderedLevels
    >>> OrderedLevels([0.1, 1.0], nu=0.5)([[0], [1], [2]]).round(3)
    array([[1.   , 0.905, 0.333],
           [0.905, 1.   , 0.368],
           [0.333, 0.368, 1.   ]])
    """

    _hyper: ClassVar = {"gaps": "ratio"}
    _by_column = ("gaps",)

    def __init__(
        self,
        gaps: ArrayLike | str | Parameter = "auto",
        gaps_bounds: Bounds = "auto",
        nu: float = 2.5,
        levels: Sequence[Any] | None = None,
    ) -> None:
        self.gaps = gaps
        self.gaps_bounds = gaps_bounds
        self.nu = nu
        self.levels = levels
        self._check()

    def _check(self) -> None:
        super()._check()
        self._check_told()
        if isinstance(self.nu, bool) or self.nu not in (0.5, 1.5, 2.5, np.inf):
            raise ValueError(f"nu: expected 0.5, 1.5, 2.5 or inf, got {self.nu!r}")

    def bound_to(self, reading: Reading) -> Kernel:
        bound = super().bound_to(reading)
        assert isinstance(bound, OrderedLevels)
        if bound._of is not None and not bound._of.ordered:
            shown = ", ".join(repr(name) for name in bound._of.names[:4])
            raise ValueError(
                f"levels: {shown} have no order that the data tell; give them in their order, as "
                f"OrderedLevels(levels=[{shown}]), or make the column an ordered Categorical"
            )
        return bound

    def resolve(self, data: Data) -> Kernel:
        argument = self.gaps
        if not isinstance(value_of(argument), str):
            return super().resolve(data)
        m = self.count_of_levels(data.X)
        if m < 2:
            raise ValueError("gaps: expected two levels at least, got one")
        start = np.ones(m - 1)
        given = argument.replaced(start) if isinstance(argument, Parameter) else start
        return super(OrderedLevels, self.replaced(gaps=given)).resolve(data)

    def build(self) -> _core.Kernel:
        return _core.ordered_levels(float(self.nu), self.numbers("gaps"))


def _check_correlation(kernel: LevelKernel, name: str) -> None:
    """Raise unless a hyperparameter is a correlation of at most 1, with bounds of such."""
    value, bounds = value_of(getattr(kernel, name)), kernel.bounds_of(name)
    if not isinstance(value, str) and float(value) > 1:
        raise ValueError(f"{name}: expected a correlation of at most 1, got {value!r}")
    if not isinstance(bounds, str) and np.max(np.asarray(bounds, dtype=np.float64)) > 1:
        raise ValueError(f"{name}_bounds: expected correlations of at most 1, got {bounds!r}")

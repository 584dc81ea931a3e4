"""What all kernels have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from inspect import Parameter as Argument
from inspect import signature
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.frames import column_names
from kernsel.kernels.arguments import naming_unknown_arguments
from kernsel.kernels.automatic import Data
from kernsel.kernels.hyperparameter import Hyperparameter, Parameter, plain
from kernsel.kernels.objects import Points, Reading, needs_reading, numbered

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kernsel import _core
    from kernsel.kernels.algebra import Columns, Power, Product, Sum

__all__ = ["DEEPEST", "Kernel"]

# The greatest depth of a tree of kernels. Methods of a kernel, copy, pickle and repr walk the tree by recursion, which must fit
# Python's limit of a thousand calls and stacks of 256 kB.
DEEPEST = 100


class Kernel(ABC):
    """A positive semidefinite function of two points, k(x, z).

    Kernels are combined by ``+``, ``*`` and ``**``, with each other and with positive numbers. The parameters of a kernel
    are the arguments of its constructor, as in scikit-learn, and so are `theta`, `bounds`, `hyperparameters` and the rest
    of what scikit-learn's kernels offer. Sums and products can have any number of operands, as in ``sum(list_of_kernels)``; at
    most 100 kernels can lie within each other, as in ``Exp(Normalize(Linear()))``, where there are 3.
    """

    requires_vector_input = True  # an attribute of scikit-learn's kernels
    nesting: int = 1  # the depth of the tree of kernels whose root this is
    _sees_points: ClassVar[bool] = True  # does k(x, z) depend on the coordinates of x and z?
    _infix: ClassVar[bool] = False  # does the expression have an operator between kernels?
    _always_shown: ClassVar[tuple[str, ...]] = ()  # arguments that `str` prints even where they have their defaults

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            type.__setattr__(cls, "__init__", naming_unknown_arguments(vars(cls)["__init__"]))

    @abstractmethod
    def build(self) -> _core.Kernel:
        """Make the same kernel in the C++ core."""

    @abstractmethod
    def _check(self) -> None:
        """Raise if the parameters do not make a kernel."""

    @abstractmethod
    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        """Yield the hyperparameters from left to right in the expression, fixed ones included, with their values."""

    def is_automatic(self) -> bool:
        """Tell whether some hyperparameter is "auto"."""
        return any(isinstance(getattr(value, "value", value), str) for _, value in self.own())

    @abstractmethod
    def with_values(self, values: Iterator[ArrayLike]) -> Self:
        """Return a copy with values for all hyperparameters, fixed ones included, in the order of `own`."""

    def core_order(self) -> list[int]:
        """Return for each hyperparameter of the C++ kernel its place among the numbers that `own` yields."""
        return list(range(sum(hyperparameter.n_elements for hyperparameter, _ in self.own())))

    def resolve(self, data: Data) -> Kernel:
        """Return the kernel with "auto" parameters set from the data, and column names replaced by indices."""
        del data
        return self

    def _divisible(self) -> bool:
        """Tell whether all positive powers of this kernel are kernels."""
        return False

    def _of_features(self) -> bool:
        """Tell whether k is a function of a distance, or of an inner product, with at most one length scale."""
        return False

    def _of_inner_product(self) -> bool:
        """Tell whether k is a function of the inner product of its points."""
        return False

    def subkernels(self) -> list[Kernel]:
        """Return the kernels that this one combines, from left to right; none for a kernel that combines no others."""
        return []

    def for_objects(self) -> bool:
        """Tell whether the points have parts that are objects, such as strings or graphs."""
        return any(part.for_objects() for part in self.subkernels())

    def reading(self) -> Reading | None:
        """Return the `Reading` of the training points that a kernel of objects is bound to, or None."""
        return next((reading for part in self.subkernels() if (reading := part.reading()) is not None), None)

    def bound_to(self, reading: Reading) -> Kernel:
        """Return the same kernel as a function of numbered points: the arrays that the reading makes of objects."""
        if self._sees_points and any(pool is not None for pool in reading.pools):
            names = [str(name) for name, pool in zip(reading.names, reading.pools, strict=True) if pool is None]
            cure = f"give it columns: .on({list(dict.fromkeys(names))!r})" if names else "expected a kernel of objects"
            raise ValueError(f"kernel: {self} is one of numbers, and the points are objects; {cure}")
        return self

    def levels_of(self, names: Sequence[str | None]) -> dict[str | None, list[Any] | None]:
        """Return the columns that kernels of levels see, among these, each with the levels that they were told."""
        found: dict[str | None, list[Any] | None] = {}
        for part in self.subkernels():
            for name, told in part.levels_of(names).items():
                found[name] = told if told is not None else found.get(name)
        return found

    def require_known(self, X: Matrix) -> None:
        """Raise if points, as a reading has numbered them, have a level of which a kernel of levels knows nothing."""
        for part in self.subkernels():
            part.require_known(X)

    def alternatives(self) -> list[Kernel]:
        """Return one kernel for each combination of values, if parameters are lists of values to select from."""
        return [self]

    def replaced(self, **attributes: object) -> Self:
        """Return a copy with some attributes replaced by values that need no check."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **attributes)
        return other

    def _measured(self) -> int:
        """Return the depth of this tree of kernels, from the depths of its operands."""
        return 1

    def check_depth(self) -> None:
        """Raise if the tree of kernels is too deep; keep its depth as `nesting`."""
        depth = self._measured()
        if depth > DEEPEST:
            raise ValueError(
                f"kernel: {depth} kernels would lie within each other, and at most {DEEPEST} may; sums and products of any "
                "length count as one if each bracket is on the left, ((a + b) + c) + d, as sum([a, b, c, d]) makes them"
            )
        self.nesting = depth

    @overload
    def ready(self, X: Points) -> tuple[Kernel, ArrayLike, None]: ...
    @overload
    def ready(self, X: Points, Z: Points) -> tuple[Kernel, ArrayLike, Matrix]: ...
    @overload
    def ready(self, X: Points, Z: Points | None) -> tuple[Kernel, ArrayLike, Matrix | None]: ...
    def ready(self, X: Points, Z: Points | None = None) -> tuple[Kernel, ArrayLike, Matrix | None]:
        """Return the kernel such that `build` can be called, and the points as arrays of numbers."""
        kernel: Kernel = self
        if needs_reading(self, X):
            kernel, X, Z = numbered(self, X, Z)
        others = _other_points(X, Z)
        kernel, points = kernel.on_points(X)
        return kernel, points, others

    def on_points(self, X: ArrayLike) -> tuple[Kernel, ArrayLike]:
        """Return the kernel with what follows from the points alone set: indices of named columns, sizes of outputs of maps."""
        names = column_names(X)
        if names is None:
            return (self._with_points(X, None) if self.depends_on_points() else self), X
        X = np.asarray(X)
        return self._with_points(X, names), X

    def on_table(self, names: Sequence[str]) -> Kernel:
        """Return the kernel with the indices of named columns set, for a table whose columns have these names."""
        return self._with_points(None, names)

    def depends_on_points(self) -> bool:
        """Tell whether `build` needs something that only the points say, even if their columns have no names."""
        return any(part.depends_on_points() for part in self.subkernels())

    def _with_points(self, X: ArrayLike | None, names: Sequence[str] | None) -> Kernel:
        """Return the kernel with what follows from the points, if they are given, and the names of their columns set."""
        del X, names
        return self

    def for_data(self, X: Points, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Kernel:
        """Return the kernel with "auto" values and bounds set from data, as estimators set them in `fit`.

        Length scales start at the standard deviation of a column, times the square root of the number of columns, and
        have bounds between half the spacing of its values and far beyond its range; variances start at the variance of y,
        noise at a tenth of it, periods at the one that a sinusoid fits y best with. Names of columns become indices.

        Parameters
        ----------
        X : array-like of shape (n, d), or sequence of n objects
        y : array-like of shape (n,) or (n, m), optional
        sample_weight : array-like of shape (n,), optional

        Examples
        --------
        >>> import numpy as np
        >>> from kernsel.kernels import RBF, WhiteKernel
        >>> X = np.linspace(0, 50, 11).reshape(-1, 1)
        >>> print((RBF("auto") + WhiteKernel("auto")).for_data(X, np.sin(X[:, 0])))
        RBF([15.8]) + WhiteKernel(0.0454)
        """
        kernel: Kernel = self
        if needs_reading(self, X):
            kernel, X, _ = numbered(self, X, None)
        names = column_names(X)
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2:
            raise ValueError(f"X: expected shape (n, d), got {points.shape}")
        targets = None if y is None else np.asarray(y, dtype=np.float64)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return kernel.resolve(Data(points, targets, weights, names))

    def __call__(self, X: Points, Z: Points | None = None, *, out: Matrix | None = None) -> Matrix:
        """Return the matrix k(X, X), or k(X, Z); see :func:`kernsel.gram`."""
        kernel, points, others = self.ready(X, Z)
        core = kernel.build()
        return core.gram(points, out) if others is None else core.cross_gram(points, others, out)

    def diag(self, X: Points) -> Vector:
        """Return the diagonal of k(X, X), shape (n,), in O(n)."""
        kernel, points, _ = self.ready(X)
        return kernel.build().diagonal(points)

    def matmul(self, X: Points, Z: Points, V: ArrayLike) -> Matrix:
        """Return k(X, Z) V without forming the kernel matrix.

        Parameters
        ----------
        X : array-like of shape (n, d)
        Z : array-like of shape (m, d)
        V : array-like of shape (m,) or (m, r)

        Returns
        -------
        product : ndarray of shape (n,) or (n, r)
        """
        kernel, points, others = self.ready(X, Z)

        return kernel.build().multiply(points, others, V)

    def pullback(self, X: Points, W: ArrayLike, Z: Points | None = None, *, wrt: Literal["theta", "X"] = "theta") -> Matrix:
        """Return the gradient of sum_ij W_ij K_ij for K = k(X, X), or k(X, Z).

        This is the gradient of any function of K whose gradient in K is W, in O(n^2 d) and in memory that does not grow
        with n.

        Parameters
        ----------
        X : array-like of shape (n, d)
        W : array-like of shape (n, n) or (n, m)
            Need not be symmetric.
        Z : array-like of shape (m, d), optional
        wrt : {"theta", "X"}
            In the hyperparameters, or in the points of X. Without Z, a point moves in rows and in columns.

        Returns
        -------
        gradient : ndarray of shape (p,), or of shape (n, d)
            In the order and on the scale of `theta`.

        Examples
        --------
        >>> import numpy as np
        >>> from kernsel.kernels import RBF
        >>> k, X, W = RBF(2.0), np.array([[0.0], [3.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])
        >>> step = 1e-6
        >>> change = np.vdot(W, RBF(2.0 * np.exp(step))(X) - RBF(2.0 * np.exp(-step))(X)) / (2 * step)
        >>> bool(np.isclose(k.pullback(X, W), change, rtol=1e-6))
        True
        >>> k.pullback(X, W, wrt="X").round(4)
        array([[ 0.2435],
               [-0.2435]])
        """
        kernel, points, others = self.ready(X, Z)
        if wrt == "X" and self.for_objects():
            raise ValueError('wrt: expected "theta": a kernel of objects has no derivatives in the points, got "X"')
        core = kernel.build()
        if wrt == "X":
            return core.pullback_points(points, W, others)
        if wrt != "theta":
            raise ValueError(f'wrt: expected "theta" or "X", got {wrt!r}')
        return kernel.in_theta(core.pullback(points, W, others))

    def jacobian(self, X: Points) -> Matrix:
        """Return the derivatives of K = k(X, X) with respect to each hyperparameter, dK_ij / dtheta_p.

        For teaching and tests, as scikit-learn's ``kernel(X, eval_gradient=True)``: one pair of points after the other, n^2 p
        numbers of memory. What is computed from them, the derivative of a function of K, takes neither by `pullback`.

        Parameters
        ----------
        X : array-like of shape (n, d); or n objects, for a kernel on objects

        Returns
        -------
        jacobian : ndarray of shape (n, n, p)
            In the order and on the scale of `theta`; symmetric in its first two axes.

        Examples
        --------
        >>> import numpy as np
        >>> from kernsel.kernels import RBF, WhiteKernel
        >>> k = RBF(2.0) + WhiteKernel(0.5)
        >>> in_length, in_noise = np.moveaxis(k.jacobian([[0.0], [2.0]]), 2, 0)
        >>> in_length.round(4)  # r^2 / l^2 exp(-r^2 / (2 l^2))
        array([[0.    , 0.6065],
               [0.6065, 0.    ]])
        >>> in_noise
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        kernel, given, _ = self.ready(X)
        points, core = np.asarray(given), kernel.build()
        n, q, one = len(points), len(core.theta), np.ones((1, 1))
        slopes = np.zeros((n, n, q))
        for i in range(n):
            slopes[i, i] = core.pullback(points[i : i + 1], one)
            for j in range(i):
                slopes[i, j] = slopes[j, i] = core.pullback(points[i : i + 1], one, points[j : j + 1])
        return np.asarray(slopes @ np.array([kernel.in_theta(unit) for unit in np.eye(q)]).reshape(q, kernel.n_dims))

    def in_theta(self, gradient: Vector) -> Vector:
        """Return the gradient in `theta`, from the gradient in the hyperparameters of the C++ kernel."""
        # The entry of theta that each number of a hyperparameter has: shared by tied ones, -1 for fixed ones.
        places = np.array([at + i if at >= 0 else -1 for at, h, _ in self.layout() for i in range(h.n_elements)], dtype=np.intp)
        own = np.empty(len(gradient))
        own[self.core_order()] = gradient
        free = places >= 0
        return np.bincount(places[free], weights=own[free]).astype(np.float64)

    def layout(self) -> list[tuple[int, Hyperparameter, ArrayLike]]:
        """Return the hyperparameters and values that `own` yields, each with its first index in `theta`, -1 if it is fixed."""
        size = 0  # of theta so far
        ties: dict[str, tuple[int, Hyperparameter, ArrayLike]] = {}
        layout = []
        for h, value in self.own():
            at = -1 if h.fixed else size
            if h.tie is not None and h.tie in ties:
                at, first, other = ties[h.tie]
                same = np.array_equal(h.bounds, first.bounds) and (h.log, h.prior) == (first.log, first.prior)
                if not same or not np.array_equal(plain(value), plain(other)):
                    raise ValueError(
                        f"Parameter of name {h.tie!r}: hyperparameters of one name must agree, "
                        f"{first.name} is {other!r}, {h.name} {value!r}, or their bounds or priors differ"
                    )
            elif h.tie is not None:
                ties[h.tie] = (at, h, value)
            if at == size:
                size += h.n_elements
            layout.append((at, h, value))
        return layout

    def _free(self) -> list[tuple[Hyperparameter, ArrayLike]]:
        """Return the hyperparameters of `theta` with their values; tied ones are listed once."""
        starts, free = set(), []
        for at, h, value in self.layout():
            if at >= 0 and at not in starts:
                starts.add(at)
                free.append((h, value))
        return free

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """The hyperparameters in the order of `theta`, fixed ones included, tied ones once."""
        starts, result = set(), []
        for at, h, _ in self.layout():
            if at < 0 or at not in starts:
                result.append(h)
            starts.add(at)
        return result

    @property
    def n_dims(self) -> int:
        """Number of hyperparameters that are not fixed, those of each column counted."""
        return sum(h.n_elements for h, _ in self._free())

    @property
    def theta(self) -> Vector:
        """The hyperparameters that are not fixed, from left to right in the expression.

        Logarithms of those that are positive; those that may be negative as they are.
        """
        values = [h.on_scale(h.numbers(value)) for h, value in self._free()]
        return np.concatenate(values) if values else np.zeros(0)

    @property
    def bounds(self) -> Matrix:
        """Bounds of `theta`, on its scale, shape (n_dims, 2)."""
        limits = [h.on_scale(h.bounds) for h, _ in self._free()]
        return np.vstack(limits) if limits else np.zeros((0, 2))

    def clone_with_theta(self, theta: ArrayLike) -> Self:
        """Return a copy with other values of the hyperparameters that are not fixed.

        Parameters
        ----------
        theta : array-like of shape (n_dims,)
            In the order and on the scale of `theta`.

        Examples
        --------
        >>> from kernsel.kernels import RBF
        >>> (2.0 * RBF(1.0)).clone_with_theta([0.0, 0.0])
        ConstantKernel(constant_value=1.0) * RBF(length_scale=1.0)
        """
        theta = np.asarray(theta, dtype=np.float64)
        if theta.shape != (self.n_dims,):
            raise ValueError(f"theta: expected {self.n_dims} numbers, got shape {theta.shape}")
        values: list[ArrayLike] = []
        for at, h, value in self.layout():
            if at < 0:
                values.append(value)
                continue
            part = theta[at : at + h.n_elements]
            with np.errstate(over="ignore"):  # an overflow is an error below
                part = np.exp(part) if h.log else part
            if not np.isfinite(part).all() or (h.log and (part == 0).any()):
                what = "logarithms of positive, finite numbers" if h.log else "finite numbers"
                raise ValueError(f"theta: expected {what} for {h.name}, got {theta[at : at + h.n_elements]}")
            values.append(part.reshape(np.shape(value)) if np.ndim(value) else float(part[0]))
        return self.with_values(iter(values))

    def log_prior(self) -> tuple[float, Vector]:
        """Return the sum of the log densities of all priors, and its gradient in `theta`.

        Each prior is a density of the hyperparameter itself, which is positive. Hyperparameters that are fixed, or have no
        prior, add nothing.

        Examples
        --------
        >>> from kernsel.kernels import RBF, Parameter
        >>> from kernsel.kernels.priors import Gamma
        >>> value, gradient = RBF(Parameter(1.0, prior=Gamma(2.0, 3.0))).log_prior()
        >>> round(value, 4), gradient
        (-0.8028, array([-2.]))
        """
        total, parts = 0.0, [np.zeros(0)]
        for h, value in self._free():
            x = h.numbers(value)
            if h.prior is not None:
                total += float(np.sum(h.prior.log_density(x)))
            parts.append(np.zeros(len(x)) if h.prior is None else h.prior.slope(x))
        return total, np.concatenate(parts)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name, those of parts as ``part__name``."""
        params: dict[str, object] = {}
        for name in _parameters(type(self)):
            value = getattr(self, name)
            params[name] = value
            if deep and isinstance(value, Kernel):
                params.update({f"{name}__{key}": item for key, item in value.get_params().items()})
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters by name, those of parts as ``part__name``."""
        before = {name: getattr(self, name) for name in _parameters(type(self))}
        try:
            for name, value in sorted(params.items(), key=lambda item: item[0].count("__")):  # a kernel before its operands
                head, _, rest = name.partition("__")
                setattr(self, head, self._with_parameter(name.split("__") if rest else [head], value))
            self._check()
        except BaseException:
            for name, value in before.items():
                setattr(self, name, value)
            raise
        return self

    def _with_parameter(self, path: list[str], value: object) -> object:
        """Return the first parameter of a path, ["k1", "k2", "length_scale"], with the last one set to the value.

        By a loop, because the path is long in long sums.
        """
        wholes: list[Kernel] = [self]
        for i, name in enumerate(path):
            valid = list(_parameters(type(wholes[-1])))
            if name not in valid:
                raise ValueError(f"{type(wholes[-1]).__name__} has no parameter {name!r}; it has {', '.join(valid)}")
            part = getattr(wholes[-1], name)
            if i + 1 < len(path) and not isinstance(part, Kernel):
                raise ValueError(f"{name}: has no parameters of its own, so no {'__'.join(path[i:])!r}")
            wholes.append(part)
        for name, whole in zip(path[:0:-1], wholes[-2:0:-1], strict=True):
            changed = whole.replaced(**{name: value})
            changed._check()
            value = changed
        return value

    def on(self, columns: Sequence[int] | Sequence[str]) -> Columns:
        """Return this kernel as a function of some columns of its points only.

        Parameters
        ----------
        columns : sequence of int or str
            Indices, or names where the points are a table.

        Examples
        --------
        >>> from kernsel.kernels import RBF
        >>> RBF(1.0).on([1])([[0.0, 5.0], [9.0, 5.0]])
        array([[1., 1.],
               [1., 1.]])
        """
        from kernsel.kernels.algebra import Columns

        return Columns(self, columns)

    def __add__(self, other: Kernel | float) -> Sum:
        from kernsel.kernels.algebra import Sum, as_kernel

        return NotImplemented if (right := as_kernel(other)) is None else Sum(self, right)

    def __radd__(self, other: float) -> Kernel:
        from kernsel.kernels.algebra import Sum, as_kernel

        if isinstance(other, int) and other == 0:
            return self  # sum(kernels) starts with 0
        return NotImplemented if (left := as_kernel(other)) is None else Sum(left, self)

    def __mul__(self, other: Kernel | float) -> Product:
        from kernsel.kernels.algebra import Product, as_kernel

        return NotImplemented if (right := as_kernel(other)) is None else Product(self, right)

    def __rmul__(self, other: float) -> Product:
        from kernsel.kernels.algebra import Product, as_kernel

        return NotImplemented if (left := as_kernel(other)) is None else Product(left, self)

    def __matmul__(self, inner: Kernel) -> Kernel:
        from kernsel.kernels.algebra import as_kernel
        from kernsel.kernels.composition import composed

        return NotImplemented if isinstance(inner, Real) or (right := as_kernel(inner)) is None else composed(self, right)

    def __rmatmul__(self, outer: object) -> Kernel:
        from kernsel.kernels.algebra import as_kernel
        from kernsel.kernels.composition import composed

        return NotImplemented if isinstance(outer, Real) or (left := as_kernel(outer)) is None else composed(left, self)

    def __pow__(self, exponent: float) -> Power:
        from kernsel.kernels.algebra import Power

        return Power(self, exponent)

    # NumPy numbers and arrays on the left of an operator leave it to __radd__ and __rmul__.
    __array_ufunc__ = None

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Kernel):
            return False
        return all(_equal(getattr(self, name), getattr(other, name)) for name in _parameters(type(self)))

    __hash__ = None  # type: ignore[assignment]  # parameters can change

    def __repr__(self) -> str:
        return self._text(self._arguments())

    def __str__(self) -> str:
        return self._short()

    def _text(self, arguments: list[str]) -> str:
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _arguments(self) -> list[str]:
        """Return the arguments of the constructor as Python reads them back."""
        shown = []
        for name, parameter in _parameters(type(self)).items():
            value, default = getattr(self, name), parameter.default
            if self._is_printed(name, default) or not _same(value, default):
                shown.append(f"{name}={text(value)}")
        return shown

    def _is_printed(self, name: str, default: object) -> bool:
        """Tell whether `repr` shows an argument even if it has its default."""
        return not (name.endswith("_bounds") or isinstance(default, bool) or default is None)

    def __sklearn_clone__(self) -> Self:
        return deepcopy(self)

    def _short(self) -> str:
        """Return the expression as `str` prints it: numbers to three digits, no bounds."""
        arguments: list[str] = []
        for name, parameter in _parameters(type(self)).items():
            value, default = getattr(self, name), parameter.default
            by_default = _same(value, default) and name not in self._always_shown
            if name.endswith("_bounds") or (by_default and (arguments or not self._is_printed(name, default))):
                continue
            label = "" if not arguments and name == next(iter(_parameters(type(self)))) else f"{name}="
            arguments.append(label + short(value))
        return self._text(arguments)


def _other_points(X: Points, Z: Points | None) -> Matrix | None:
    """Return the points Z as an array; raise if they are a table whose columns are not those of X."""
    if Z is None:
        return None
    names, others = column_names(X), column_names(Z)
    if names is not None and others is not None and names != others:
        raise ValueError(f"Z: expected the columns {', '.join(names)}, as X has, got {', '.join(others)}")
    return np.asarray(Z)


@cache
def _parameters(kind: type) -> Mapping[str, Argument]:
    """Return the arguments of a class, by name; kernels are compared, written and copied by them."""
    return signature(kind).parameters


def _equal(a: ArrayLike, b: ArrayLike) -> bool:
    if isinstance(a, Kernel | Parameter):
        return bool(a == b)
    of_lists = isinstance(a, list | tuple) and plain(a) == plain(b)  # of several lengths, which are no array
    return np.array_equal(a, b) or of_lists


def _same(value: object, default: object) -> bool:
    return type(plain(value)) is type(default) and bool(plain(value) == default)


def text(value: object) -> str:
    """Return a number or an array as Python reads it back."""
    return 'float("inf")' if isinstance(value, float) and value == np.inf else repr(plain(value))


def short(value: object) -> str:
    """Return a value as text, numbers to three digits."""
    value = plain(value.value if isinstance(value, Parameter) else value)
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list | tuple):
        many = len(value) > 8
        return f"[{', '.join(short(item) for item in value[: 6 if many else 8])}{', ...' if many else ''}]"
    return str(value._short()) if isinstance(value, Kernel) else getattr(value, "__name__", repr(value))

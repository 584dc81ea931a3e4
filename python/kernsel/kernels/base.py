"""What all kernels have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from inspect import signature
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from kernsel.kernels.automatic import Data
from kernsel.kernels.hyperparameter import Hyperparameter, Parameter, plain
from kernsel.kernels.objects import Mixed, Points, Reading, numbered

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from kernsel import _core
    from kernsel.kernels.algebra import Columns, Power, Product, Sum

__all__ = ["DEEPEST", "Kernel"]

# How many kernels may lie within each other: what is done with a kernel walks through it by recursion, as copy, pickle and repr
# do, and must fit Python's limit of a thousand calls and stacks of 256 kB.
DEEPEST = 100


class Kernel(ABC):
    """A positive semidefinite function of two points, k(x, z).

    Kernels are combined by ``+``, ``*`` and ``**``, with each other and with positive numbers. The parameters of a kernel
    are the arguments of its constructor, as in scikit-learn, and so are `theta`, `bounds`, `hyperparameters` and the rest
    of what scikit-learn's kernels offer. Sums and products can have any number of operands, as in ``sum(list_of_kernels)``; at
    most 100 kernels can lie within each other, as in ``Exp(Normalize(Linear()))``, where there are 3.
    """

    requires_vector_input = True  # scikit-learn asks
    _sees_points: ClassVar[bool] = True
    _depth: int = 1  # kernels within each other, this one included
    _infix: ClassVar[bool] = False  # is it written with a sign between kernels?
    _always_shown: ClassVar[tuple[str, ...]] = ()  # when printed for people, even where it has its default

    @abstractmethod
    def build(self) -> _core.Kernel:
        """Make the same kernel in the C++ core."""

    @abstractmethod
    def _check(self) -> None:
        """Raise if the parameters do not make a kernel."""

    @abstractmethod
    def own(self) -> Iterator[tuple[Hyperparameter, Any]]:
        """Yield the hyperparameters from left to right in the expression, fixed ones included, with their values."""

    @abstractmethod
    def with_values(self, values: Iterator[Any]) -> Self:
        """Return a copy with values for all hyperparameters, fixed ones included, in the order of `own`."""

    def core_order(self) -> list[int]:
        """Return which number of `own` each hyperparameter of the core is."""
        return list(range(sum(hyperparameter.n_elements for hyperparameter, _ in self.own())))

    def resolve(self, data: Data) -> Kernel:
        """Return a kernel whose "auto" parameters and names of columns are set from the data."""
        del data
        return self

    def _divisible(self) -> bool:
        """Tell whether all positive powers of this kernel are kernels."""
        return False

    def _of_features(self) -> bool:
        """Tell whether this is a function of a distance, or of an inner product, with one length scale or none."""
        return False

    def _of_inner_product(self) -> bool:
        return False

    def _children(self) -> list[Kernel]:
        """Return the kernels that this one is made of."""
        return []

    def for_objects(self) -> bool:
        """Tell whether points have parts that are no numbers."""
        return any(child.for_objects() for child in self._children())

    def reading(self) -> Reading | None:
        """Return how points become numbers, of a kernel that is bound to a set of objects."""
        return next((found for child in self._children() if (found := child.reading()) is not None), None)

    def bound_to(self, reading: Reading) -> Kernel:
        """Return the same kernel of points that are numbers, those of their objects included."""
        if self._sees_points and any(pool is not None for pool in reading.pools):
            names = [str(name) for name, pool in zip(reading.names, reading.pools, strict=True) if pool is None]
            cure = f"give it columns: .on({list(dict.fromkeys(names))!r})" if names else "expected a kernel of objects"
            raise ValueError(f"kernel: {self} is one of numbers, and the points are objects; {cure}")
        return self

    def alternatives(self) -> list[Kernel]:
        """Return the kernels that this one stands for, if parameters have several values to choose from."""
        return [self]

    def replaced(self, **attributes: Any) -> Self:
        """Return a copy with other attributes, which are known to be right."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **attributes)
        return other

    def _measured(self) -> int:
        """Return how many kernels lie within each other, this one included, from what is known of its parts."""
        return 1

    def _check_depth(self) -> None:
        """Raise if more kernels lie within each other than may."""
        depth = self._measured()
        if depth > DEEPEST:
            raise ValueError(
                f"kernel: {depth} kernels would lie within each other, and at most {DEEPEST} may; sums and products of any "
                "length count as one if each bracket is on the left, ((a + b) + c) + d, as sum([a, b, c, d]) makes them"
            )
        self._depth = depth

    def ready(self, X: Any, Z: Any = None) -> tuple[Kernel, Any, Any]:
        """Return the kernel as it can be built, and points as arrays."""
        kernel: Kernel = self
        if self.for_objects() or isinstance(X, Mixed):
            kernel, X, Z = numbered(self, X, Z)
        Z = _others(X, Z)
        kernel, X = kernel.on_points(X)
        return kernel, X, Z

    def on_points(self, X: Any) -> tuple[Kernel, Any]:
        """Return the kernel with all set that follows from the points alone: columns for names, outputs of maps."""
        names = getattr(X, "columns", None)
        if names is None:
            return (self._seeing(X, None) if self.must_see_points() else self), X
        X = np.asarray(X)
        return self._seeing(X, [str(name) for name in names]), X

    def must_see_points(self) -> bool:
        """Tell whether the kernel must see the points before it is built, even if they have no names."""
        return any(child.must_see_points() for child in self._children())

    def _seeing(self, X: Any, names: Sequence[str] | None) -> Kernel:
        del X, names
        return self

    def for_data(self, X: Points, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Kernel:
        """Return the kernel with all that is "auto" set from data, values and bounds: what estimators do when they are fitted.

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
        if self.for_objects() or isinstance(X, Mixed):
            kernel, X, _ = numbered(self, X, None)
        names = getattr(X, "columns", None)
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2:
            raise ValueError(f"X: expected shape (n, d), got {points.shape}")
        targets = None if y is None else np.asarray(y, dtype=np.float64)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return kernel.resolve(Data(points, targets, weights, None if names is None else [str(name) for name in names]))

    def __call__(self, X: Points, Z: Points | None = None, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the matrix k(X, X), or k(X, Z); see :func:`kernsel.gram`."""
        kernel, X, Z = self.ready(X, Z)
        core = kernel.build()
        return core.gram(X, out) if Z is None else core.cross_gram(X, Z, out)

    def diag(self, X: Points) -> NDArray[Any]:
        """Return the diagonal of k(X, X), shape (n,), in O(n)."""
        kernel, X, _ = self.ready(X)
        return kernel.build().diagonal(X)

    def matmul(self, X: Points, Z: Points, V: ArrayLike) -> NDArray[Any]:
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
        kernel, X, Z = self.ready(X, Z)
        return kernel.build().multiply(X, Z, V)

    def pullback(
        self, X: Points, W: ArrayLike, Z: Points | None = None, *, wrt: Literal["theta", "X"] = "theta"
    ) -> NDArray[Any]:
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
        kernel, X, others = self.ready(X, Z)
        if wrt == "X" and self.for_objects():
            raise ValueError('wrt: expected "theta": a kernel of objects has no derivatives in the points, got "X"')
        core = kernel.build()
        if wrt == "X":
            return core.pullback_points(X, W, others)
        if wrt != "theta":
            raise ValueError(f'wrt: expected "theta" or "X", got {wrt!r}')
        return kernel.in_theta(core.pullback(X, W, others))

    def in_theta(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient in `theta` for one in the hyperparameters of the core."""
        # Each number of a hyperparameter belongs to one of theta; tied ones to the same; fixed ones to none.
        places = np.array([at + i if at >= 0 else -1 for at, h, _ in self.layout() for i in range(h.n_elements)], dtype=np.intp)
        own = np.empty(len(gradient))
        own[self.core_order()] = gradient
        free = places >= 0
        return np.bincount(places[free], weights=own[free]).astype(np.float64)

    def layout(self) -> list[tuple[int, Hyperparameter, Any]]:
        """Return for each of `own` where it begins in `theta`, -1 if it is fixed."""
        begun = 0
        ties: dict[str, tuple[int, Hyperparameter, Any]] = {}
        layout = []
        for h, value in self.own():
            at = -1 if h.fixed else begun
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
            if at == begun:
                begun += h.n_elements
            layout.append((at, h, value))
        return layout

    def _free(self) -> list[tuple[Hyperparameter, Any]]:
        """Return the hyperparameters of `theta`, each once."""
        seen, free = set(), []
        for at, h, value in self.layout():
            if at >= 0 and at not in seen:
                seen.add(at)
                free.append((h, value))
        return free

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """The hyperparameters in the order of `theta`, fixed ones included, tied ones once."""
        seen, result = set(), []
        for at, h, _ in self.layout():
            if at < 0 or at not in seen:
                result.append(h)
            seen.add(at)
        return result

    @property
    def n_dims(self) -> int:
        """Number of hyperparameters that are not fixed, those of each column counted."""
        return sum(h.n_elements for h, _ in self._free())

    @property
    def theta(self) -> NDArray[np.float64]:
        """The hyperparameters that are not fixed, from left to right in the expression.

        Logarithms of those that are positive; those that may be negative as they are.
        """
        values = [h.on_scale(h.numbers(value)) for h, value in self._free()]
        return np.concatenate(values) if values else np.zeros(0)

    @property
    def bounds(self) -> NDArray[np.float64]:
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
        everything: list[Any] = []
        for at, h, value in self.layout():
            if at < 0:
                everything.append(value)
                continue
            part = theta[at : at + h.n_elements]
            with np.errstate(over="ignore"):  # what that gives is an error of its own
                part = np.exp(part) if h.log else part
            if not np.isfinite(part).all() or (h.log and (part == 0).any()):
                what = "logarithms of positive, finite numbers" if h.log else "finite numbers"
                raise ValueError(f"theta: expected {what} for {h.name}, got {theta[at : at + h.n_elements]}")
            everything.append(part.reshape(np.shape(value)) if np.ndim(value) else float(part[0]))
        return self.with_values(iter(everything))

    def log_prior(self) -> tuple[float, NDArray[np.float64]]:
        """Return the sum of the log densities of all priors, and its gradient in `theta`.

        Each prior is a density of the hyperparameter itself, which is positive. Hyperparameters without one, and fixed
        ones, count nothing.

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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, those of parts as ``part__name``."""
        params: dict[str, Any] = {}
        for name in signature(type(self)).parameters:
            value = getattr(self, name)
            params[name] = value
            if deep and isinstance(value, Kernel):
                params.update({f"{name}__{key}": item for key, item in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of parts as ``part__name``."""
        before = {name: getattr(self, name) for name in signature(type(self)).parameters}
        try:
            for name, value in sorted(params.items(), key=lambda item: item[0].count("__")):  # wholes before their parts
                head, _, rest = name.partition("__")
                setattr(self, head, self._with_parameter(name.split("__") if rest else [head], value))
            self._check()
        except BaseException:
            for name, value in before.items():
                setattr(self, name, value)
            raise
        return self

    def _with_parameter(self, path: list[str], value: Any) -> Any:
        """Return what the first parameter of a path becomes with a new value at its end; the path may be long, in long sums."""
        wholes: list[Kernel] = [self]
        for i, name in enumerate(path):
            valid = list(signature(type(wholes[-1])).parameters)
            if name not in valid:
                raise ValueError(f"{type(wholes[-1]).__name__} has no parameter {name!r}; it has {', '.join(valid)}")
            part = getattr(wholes[-1], name)
            if i + 1 < len(path) and not isinstance(part, Kernel):
                raise ValueError(f"{name}: has no parameters of its own, so no {'__'.join(path[i:])!r}")
            wholes.append(part)
        for name, whole in zip(path[:0:-1], wholes[-2:0:-1], strict=True):
            value = whole.replaced(**{name: value})
            value._check()
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
            return self  # where sum() of several begins
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

    def __rmatmul__(self, outer: Any) -> Kernel:
        from kernsel.kernels.algebra import as_kernel
        from kernsel.kernels.composition import composed

        return NotImplemented if isinstance(outer, Real) or (left := as_kernel(outer)) is None else composed(left, self)

    def __pow__(self, exponent: int) -> Power:
        from kernsel.kernels.algebra import Power

        return Power(self, exponent)

    # NumPy numbers and arrays on the left give way to __radd__ and __rmul__.
    __array_ufunc__ = None

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Kernel):
            return False
        return all(_equal(getattr(self, name), getattr(other, name)) for name in signature(type(self)).parameters)

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
        for name, parameter in signature(type(self)).parameters.items():
            value, default = getattr(self, name), parameter.default
            if self._said(name, default) or not _same(value, default):
                shown.append(f"{name}={text(value)}")
        return shown

    def _said(self, name: str, default: Any) -> bool:
        """Tell whether an argument is shown even if it has its default."""
        return not (name.endswith("_bounds") or isinstance(default, bool) or default is None)

    def __sklearn_clone__(self) -> Self:
        return deepcopy(self)

    @staticmethod
    def _short_of(kernel: Kernel) -> str:
        return kernel._short()

    def _short(self) -> str:
        """Return the expression for people: numbers to three digits, no bounds."""
        arguments: list[str] = []
        for name, parameter in signature(type(self)).parameters.items():
            value, default = getattr(self, name), parameter.default
            by_default = _same(value, default) and name not in self._always_shown
            if name.endswith("_bounds") or (by_default and (arguments or not self._said(name, default))):
                continue
            label = "" if not arguments and name == next(iter(signature(type(self)).parameters)) else f"{name}="
            arguments.append(label + short(value))
        return self._text(arguments)


def _others(X: Any, Z: Any) -> Any:
    """Return the other points as an array, if their columns are those of X."""
    if Z is None:
        return None
    names, others = getattr(X, "columns", None), getattr(Z, "columns", None)
    if names is not None and others is not None and list(names) != list(others):
        raise ValueError(f"Z: expected the columns {', '.join(map(str, names))}, as X has, got {', '.join(map(str, others))}")
    return np.asarray(Z)


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b) if isinstance(a, Kernel | Parameter) else np.array_equal(a, b)


def _same(value: Any, default: Any) -> bool:
    return type(plain(value)) is type(default) and bool(plain(value) == default)


def text(value: Any) -> str:
    """Return a number or an array so that Python reads it back."""
    return 'float("inf")' if isinstance(value, float) and value == np.inf else repr(plain(value))


def short(value: Any) -> str:
    """Return a value to three digits."""
    value = plain(value.value if isinstance(value, Parameter) else value)
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list | tuple):
        many = len(value) > 8
        return f"[{', '.join(short(item) for item in value[: 6 if many else 8])}{', ...' if many else ''}]"
    return str(value._short()) if isinstance(value, Kernel) else getattr(value, "__name__", repr(value))

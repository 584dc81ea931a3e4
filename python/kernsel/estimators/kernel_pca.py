"""Kernel principal components: the directions of largest variance among the images of points, and coordinates along them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.documentation import LinksToItsPage
from kernsel._base.memory import require_memory
from kernsel._data.allowed import FLAG, number, require, whole
from kernsel._data.kernel import kernel_or_name
from kernsel._data.points import in_parts, new_points
from kernsel._data.training import TrainingSet, dense, training_set
from kernsel.kernels import RBF, Kernel
from kernsel.kernels.automatic import Data
from kernsel.kernels.objects import Points
from kernsel.kernels.pairwise import pairwise_kernel, row_kernel

__all__ = ["KernelPCA"]

_MATRICES = 3  # of n x n numbers: the kernel matrix, its eigenvectors and LAPACK's memory
_NEGATIVE = 1e-5  # of the largest eigenvalue; a kernel whose matrix has eigenvalues below minus that is not a kernel

_ALLOWED = {
    "n_components": (whole(1) | None).said("a whole number from 1 on, or None for all"),
    "alpha": number("positive"),
    "fit_inverse_transform": FLAG,
    "remove_zero_eig": FLAG,
}


class KernelPCA(LinksToItsPage, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Principal components of the images of points in the space of a kernel.

    The coordinates of a point x along the components are ::

        t_c(x) = sum_i v_ic (k(x, x_i) - m_i) / sqrt(l_c),    m_i = mean_j k(x_j, x_i)

    where l_c and v_c are the largest eigenvalues and their eigenvectors of the centred kernel matrix H K H, H = I - 1/n. At the
    training points they are v_ic sqrt(l_c), and uncorrelated. Any other point has coordinates by the same formula, without the
    matrix of all pairs. Eigenvalues and eigenvectors are LAPACK's, by a reduction to tridiagonal form: 4 n^3 / 3 operations and
    three matrices of n^2 numbers, and for the eigenvectors of c components 2 n^2 c more.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        As in :class:`kernsel.KernelRidge`: None and "auto" are ``RBF("auto")``, with length scales from the spread of each
        column; scikit-learn's names are used with `gamma`, `degree` and `coef0`; with "precomputed", X is the kernel matrix; a
        function is called with two points.
    n_components : int or None
        The number of components, at most n; None for all whose eigenvalue is not zero.
    alpha : float
        The regularization of the map back, see `inverse_transform`.
    fit_inverse_transform : bool
        Whether to fit the map back.
    gamma : float or None
        The parameter gamma of a kernel given by name; None is 1 / d.
    degree, coef0 : float
        The parameters of "poly" and "sigmoid".
    kernel_params : dict, optional
        Keyword arguments for a kernel that is a function.
    remove_zero_eig : bool
        Whether components whose eigenvalue is zero, up to rounding, are removed also if `n_components` is given.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalues l, in descending order: n times the variance of each coordinate.
    eigenvectors_ : ndarray of shape (n, n_components)
        The eigenvectors v, each with a positive entry of largest size.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of each component in the variance of all images, l_c / trace(H K H).
    means_ : ndarray of shape (n,)
        The means m of the columns of the kernel matrix.
    X_fit_ : ndarray of shape (n, d)
        The training points, or their kernel matrix if it was given.
    X_transformed_fit_ : ndarray of shape (n, n_components)
        Their coordinates, if the map back was fitted.
    dual_coef_ : ndarray of shape (n, d)
        The coefficients of the map back, if it was fitted.
    kernel_back_ : Kernel
        Its kernel.
    kernel_ : Kernel or "precomputed"
        The kernel in use, with its "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Examples
    --------
    Two rings, which no line separates: of the quadratic functions the third has the distance from the origin.

    >>> import numpy as np, kernsel as ks
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 3 * ring])
    >>> pca = ks.KernelPCA(ks.kernels.Polynomial(2, 0.0), n_components=3).fit(X)
    >>> t = pca.transform(X)[:, 2]
    >>> bool(t[:60].max() < t[60:].min())
    True
    >>> pca.explained_variance_ratio_.round(2).tolist()
    [0.36, 0.36, 0.28]
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        remove_zero_eig: bool = False,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.remove_zero_eig = remove_zero_eig

    def fit(self, X: Points, y: object = None) -> Self:
        """Compute the components.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed; or n objects, for a kernel on objects
        y : None
            Not used.

        Returns
        -------
        self : KernelPCA
        """
        del y
        require(self, _ALLOWED)
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ValueError(
                'fit_inverse_transform: expected False with kernel="precomputed", which has no points to map back to'
            )
        given = training_set(
            self, self._kernel_or_name(), X, None, named=self._named, accept_sparse=("csr", "csc"), targets=False
        ).resolved()
        n = len(given.X)
        require_memory(8 * _MATRICES * n**2, f"the eigenvectors of {n} points need", "; fit to some of the points")
        self.kernel_, self.X_fit_ = given.kernel, given.X
        self._decompose(given)
        for name in ("dual_coef_", "kernel_back_", "X_transformed_fit_"):
            self.__dict__.pop(name, None)
        if self.fit_inverse_transform:
            self._fit_map_back(given)
        return self

    def _decompose(self, given: TrainingSet) -> None:
        """Set the eigenvalues, the eigenvectors and what `transform` needs of them."""
        K = np.array(given.matrix())
        n = len(K)
        means = K.mean(axis=0)
        K -= means
        K -= K.mean(axis=1, keepdims=True)
        total = float(np.trace(K))
        some = None if self.n_components is None or self.n_components >= n else [n - self.n_components, n - 1]
        # The transposed matrix is the same one, in the order of LAPACK, which so needs no copy.
        values, vectors = linalg.eigh(K.T, subset_by_index=some, overwrite_a=True, check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        if values[-1] < -_NEGATIVE * max(values[0], 0.0):
            raise ValueError(
                f"kernel: {self.kernel!r} is not positive semidefinite: its centred matrix has an eigenvalue {values[-1]:.3g}, "
                f"and {values[0]:.3g} is the largest"
            )
        values = np.where(values > n * np.finfo(np.float64).eps * max(values[0], 0.0), values, 0.0)
        if self.n_components is None or self.remove_zero_eig:
            vectors, values = vectors[:, values > 0], values[values > 0]
        largest = np.abs(vectors).argmax(axis=0)
        self.eigenvalues_ = np.ascontiguousarray(values)
        self.eigenvectors_ = np.ascontiguousarray(vectors * np.where(vectors[largest, np.arange(len(values))] < 0, -1.0, 1.0))
        self.explained_variance_ratio_ = values / total if total > 0 else np.zeros(len(values))
        self.means_ = means

    def _weights(self) -> tuple[Matrix, Vector]:
        """Return the coefficients of the kernel in the coordinates, shape (n, n_components), and what is subtracted."""
        roots = np.sqrt(self.eigenvalues_)
        weights = np.divide(self.eigenvectors_, roots, out=np.zeros_like(self.eigenvectors_), where=roots > 0)
        weights -= weights.mean(axis=0)  # they are centred but for rounding, which then does not see the mean of k(x, .)
        return weights, self.means_ @ weights

    def transform(self, X: Points) -> Matrix:
        """Return the coordinates of points, in O(m n) kernel evaluations.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) if the kernel is precomputed

        Returns
        -------
        T : ndarray of shape (m, n_components)
        """
        check_is_fitted(self)
        if (parts := in_parts(self.kernel_, X)) is not None:
            return np.concatenate([self.transform(part) for part in parts])
        X = dense(new_points(self, self.kernel_, X, dtype=np.float64, accept_sparse=("csr", "csc")))
        weights, offset = self._weights()
        if not weights.shape[1]:
            return np.zeros((len(X), 0))
        images = X @ weights if isinstance(self.kernel_, str) else self.kernel_.matmul(X, self.X_fit_, weights)
        return np.asarray(images - offset)

    def fit_transform(self, X: Points, y: object = None) -> Matrix:
        """Compute the components and return the coordinates of the training points, v_ic sqrt(l_c).

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed; or n objects, for a kernel on objects
        y : None
            Not used.

        Returns
        -------
        T : ndarray of shape (n, n_components)
        """
        self.fit(X, y)
        return np.asarray(self.eigenvectors_ * np.sqrt(self.eigenvalues_))

    def inverse_transform(self, T: ArrayLike) -> Matrix:
        """Return points whose coordinates are near the given ones: the kernel ridge regression of points on coordinates.

        Its kernel is that of the fit, with "auto" parameters from the coordinates, and its regularization `alpha`.

        Parameters
        ----------
        T : array-like of shape (m, n_components)

        Returns
        -------
        X : ndarray of shape (m, d)
        """
        check_is_fitted(self)
        if not hasattr(self, "dual_coef_"):
            raise ValueError("fit_inverse_transform: expected True in the fit, got False, so that there is no map back")
        coordinates = np.asarray(check_array(T, dtype=np.float64, input_name="T"))
        if coordinates.shape[1] != len(self.eigenvalues_):
            raise ValueError(
                f"T: expected {len(self.eigenvalues_)} columns, one for each component, got {coordinates.shape[1]}"
            )
        return np.asarray(self.kernel_back_.matmul(coordinates, self.X_transformed_fit_, self.dual_coef_))

    def _fit_map_back(self, given: TrainingSet) -> None:
        T = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
        kernel = self._kernel_or_name()
        if isinstance(kernel, str):
            kernel = pairwise_kernel(kernel, given.X.shape[1], self.gamma, self.degree, self.coef0)
        if isinstance(given.kernel, Kernel) and given.kernel.reading() is not None:
            raise ValueError(f"fit_inverse_transform: expected False for points that are objects, of {kernel!r}, got True")
        try:
            self.kernel_back_ = kernel.resolve(Data(T))
            L = self.kernel_back_.build().cholesky(T, np.full(len(T), self.alpha))
        except ValueError as error:
            raise ValueError(
                f"fit_inverse_transform: the map back evaluates the kernel at the {T.shape[1]} coordinates, which {kernel!r} "
                f'does not allow; give one for any number of columns, such as RBF("auto"). {error}'
            ) from None
        self.X_transformed_fit_ = T
        self.dual_coef_ = np.asarray(L.solve(given.X))

    def _kernel_or_name(self) -> Kernel | str:
        """Return the kernel that the parameter `kernel` stands for, or its name."""
        return kernel_or_name(self.kernel, auto=RBF("auto"), function=partial(row_kernel, options=self.kernel_params))

    def _named(self, name: str, X: Matrix) -> Kernel:
        """Return the kernel that has this name in scikit-learn."""
        return pairwise_kernel(name, X.shape[1], self.gamma, self.degree, self.coef0)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = True
        return tags

"""Gaussian process classification whose kernel is chosen by the evidence or by leave-one-out probabilities."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Seed, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel._base.memory import require_memory_of_points
from kernsel._data.allowed import require
from kernsel._data.kernel import kernel_of
from kernsel._data.points import in_parts, new_points
from kernsel._data.together import checked_groups
from kernsel._data.training import training_set
from kernsel._search import Budget
from kernsel._search.own_optimizer import Optimizer
from kernsel._search.progress import CallbackSupport, watched, with_callbacks
from kernsel.estimators.classification.binary import BinaryProcess, Settings
from kernsel.estimators.classification.links import Link, link_named
from kernsel.estimators.classification.parameters import (
    ALLOWED,
    AUTO,
    NONE,
    criterion_of,
    labels_of,
    require_leaving_groups_out,
    require_sampling,
    require_softmax,
)
from kernsel.estimators.classification.several import KernelsOfProcesses, MultinomialProcess, OneAgainstAnother, OneAgainstRest
from kernsel.estimators.fitted import FittedModel, Prediction, ShownData, TakesGroups
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points
from kernsel.kernels.written import KernelLike

__all__ = ["GaussianProcessClassifier"]


class GaussianProcessClassifier(TakesGroups, FittedModel, CallbackSupport, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian process classification.

    For two classes, a latent function f is a Gaussian process of covariance k, and the probability of the second class at a
    point is p(f), where p is the logistic function, probit or another likelihood. The posterior of f is not Gaussian. It is
    sampled, or approximated by a Gaussian, for which ::

        P(y = 1 | z) = E p(f(z)),    f(z) normal, of mean k(z, X) a and variance k(z, z) - k(z, X) (K + S^-1)^-1 k(X, z)

    with weights a and precisions S of the approximation. All hyperparameters that are not fixed are chosen by a criterion. A
    search takes 10 to 30 evaluations of it, each with a few n^3 operations.

    Parameters
    ----------
    kernel : Kernel, "auto", str or None
        "auto" is a constant times ``Matern("auto", nu=2.5)``, one length scale for each column. None is scikit-learn's
        default, ``1.0 * RBF(1.0)``, fixed. Kernels of scikit-learn are accepted, and text such as ``"2 * RBF + Linear"``,
        where parameters that the text does not give are "auto".
    optimizer : {"auto", "l-bfgs-b", "fmin_l_bfgs_b"}, callable or None
        "auto" is Newton's method with the information of the sites for "lml", and a quasi-Newton method that begins with it for
        "loo"; the other two names stand for a quasi-Newton method. None leaves the kernel as it is. A function
        f(objective, theta, bounds) returns the best theta and its value, as in scikit-learn.
    n_restarts_optimizer : int
        The number of random starts of the search, besides the starts that are derived from the data.
    max_iter_predict : int
        Has no effect: iterations for the posterior end when they have converged, mostly after about 6, and warn if they have
        not.
    warm_start : bool
        Whether `log_marginal_likelihood` starts from the posterior that it has found last. The search for hyperparameters
        always does.
    copy_X_train : bool
        False keeps a reference to X instead of a copy, if X is an array of float64.
    random_state : int, RandomState instance or None
        Determines the starts of the search and the draws; None is one fixed choice. The result does not depend on the number of
        threads.
    multi_class : {"one_vs_rest", "one_vs_one", "multinomial"}
        For more than two classes. "one_vs_rest" is a process for each class against all others; "one_vs_one" is a process for
        each pair of classes, whose probabilities are coupled; "multinomial" is a process for each class with the softmax of all
        as likelihood, by Laplace's approximation with one kernel for all classes.
    n_jobs : int or None
        The number of threads that fit the processes of several classes.
    inference : {"laplace", "ep", "mcmc"}
        "laplace" is Laplace's approximation. "ep" is expectation propagation, which is more accurate and takes several times as
        long. "mcmc" draws from the exact posterior by elliptical slice sampling, for the hyperparameters that Laplace's
        approximation chooses; probabilities are averaged over all draws.
    link : {"logistic", "probit"} or Link
        The likelihood of two classes, :class:`kernsel.likelihoods.Bernoulli`. Any other is an object of a subclass of
        :class:`kernsel.estimators.classification.links.Link`.
    criterion : {"auto", "lml", "loo"}
        "lml" is the approximate log marginal likelihood, or evidence. "loo" is the sum of the log probabilities of all labels,
        each predicted from all other points, or from all other groups. If classes are far apart, the evidence by Laplace's
        approximation favours amplitudes that are too small, and so probabilities too close to each other; "loo" or "ep" then
        predicts better. "auto" is "loo" for the kernel "auto", and otherwise "lml", as in scikit-learn. "multinomial" allows
        "lml" only.
    hyperparameters : {"optimize", "sample"}
        With ``inference="mcmc"``, "sample" draws hyperparameters together with the latent values, from the posterior that
        priors and what ``criterion="evidence"`` of :class:`kernsel.GaussianProcessRegressor` expects of them give, and
        averages probabilities over 100 of the draws, each of which takes n^2 / 2 numbers. A draw takes some 30 n^3 operations.
        `kernel_` is then still that of Laplace's approximation.
    n_samples, n_burn, n_chains : int
        For "mcmc": the number of draws that each chain keeps, of draws before them that are discarded, and of chains.
    max_evaluations : int
        The largest number of evaluations of the criterion, for each process.
    max_seconds : float or None
        The largest duration of the search, for each process. The best hyperparameters that it has found by then are used.
    verbose : int
        1 shows the progress of the search.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    kernel_ : Kernel, or sklearn.gaussian_process.kernels.CompoundKernel
        The kernel with the hyperparameters that were chosen; a list of kernels if there are several binary processes.
    base_estimator_ : object
        The process of two classes, or an object that combines several, with `estimators_` if these are binary processes.
    log_marginal_likelihood_value_ : float
        The approximate log marginal likelihood; the mean over binary processes, if there are several. With "mcmc" nan, because
        it does not follow from draws of the posterior; `log_marginal_likelihood` has Laplace's for given hyperparameters.
    criterion_value_ : float
        The value of the criterion, with "mcmc" by Laplace's approximation, which chose the hyperparameters; the mean over
        binary processes, if there are several. Larger is better.
    selection_ : Choice or list of Choice
        The report of each search: evaluations, where each start led, which hyperparameters ended at a bound.
    n_evaluations_ : int
        The number of evaluations of the criterion on all points, in all searches.
    at_bounds_ : list of str
        Hyperparameters that ended at a bound, in any of the searches.
    loo_log_probability_ : ndarray of shape (n,) or (n, n_classes)
        The log probability of each label, predicted from all other points, or from all other groups; with "one_vs_rest" in each
        binary process, and with "mcmc" by Laplace's approximation.
    effective_sample_size_, r_hat_ : ndarray of shape (n,)
        With "mcmc", the effective sample size and R-hat of each latent value; lists of arrays if there are several processes.
    draws_ : dict of str to ndarray of shape (n_chains, n_samples)
        With ``hyperparameters="sample"``, the draws of each hyperparameter by its name; a list if there are several processes.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.linspace(0, 10, 30).reshape(-1, 1)
    >>> gpc = ks.GaussianProcessClassifier(inference="ep").fit(X, np.where(np.sin(X[:, 0]) > 0, "up", "down"))
    >>> gpc.predict([[1.5], [4.5]])
    array(['up', 'down'], dtype='<U4')
    >>> bool(gpc.predict_proba([[1.5]])[0, 1] > 0.9)
    True
    """

    strengths: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        kernel: KernelLike | None = "auto",
        *,
        optimizer: str | Optimizer | None = "auto",
        n_restarts_optimizer: int = 0,
        max_iter_predict: int = 100,
        warm_start: bool = False,
        copy_X_train: bool = True,
        random_state: Seed = None,
        multi_class: Literal["one_vs_rest", "one_vs_one", "multinomial"] = "one_vs_rest",
        n_jobs: int | None = None,
        inference: Literal["laplace", "ep", "mcmc"] = "laplace",
        link: str | Link = "logistic",
        criterion: Literal["auto", "lml", "loo"] = "auto",
        hyperparameters: Literal["optimize", "sample"] = "optimize",
        n_samples: int = 1000,
        n_burn: int = 200,
        n_chains: int = 4,
        max_evaluations: int = 1000,
        max_seconds: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter_predict = max_iter_predict
        self.warm_start = warm_start
        self.copy_X_train = copy_X_train
        self.random_state = random_state
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.inference = inference
        self.link = link
        self.criterion = criterion
        self.hyperparameters = hyperparameters
        self.n_samples = n_samples
        self.n_burn = n_burn
        self.n_chains = n_chains
        self.max_evaluations = max_evaluations
        self.max_seconds = max_seconds
        self.verbose = verbose

    @with_callbacks  # type: ignore[untyped-decorator]
    @with_one_blas_thread
    def fit(self, X: Points, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Choose the hyperparameters and find the posterior of the latent functions.

        Parameters
        ----------
        X : array-like of shape (n, d); or n objects, for a kernel on objects
        y : array-like of shape (n,)
            Labels of two or more classes, numbers or text.
        groups : array-like of shape (n,), optional
            Labels of points that are left out together: the criterion "loo" and `loo_log_probability_` predict each label from
            the points of all other groups. Not with "multinomial".

        Returns
        -------
        self : GaussianProcessClassifier
        """
        require(self, ALLOWED)
        if self.hyperparameters == "sample":
            require_sampling(self)
        given = training_set(self, kernel_of(self.kernel, auto=AUTO, none=NONE, points=X), X, y, labels=True)
        kernel, points = given.kernel_and_points()
        points = points.copy() if self.copy_X_train else points
        classes, codes = labels_of(given.y)
        count = len(classes)
        together = checked_groups(groups, len(points))
        if together is not None:
            require_leaving_groups_out(self, count)
        require_memory_of_points(len(points), 4)

        with watched(self, self.verbose, self.max_evaluations) as tell:
            settings = Settings(
                kernel=kernel,
                link=link_named(self.link),
                inference=self.inference,
                criterion=criterion_of(self, count),
                optimizer=self.optimizer,
                n_restarts=self.n_restarts_optimizer,
                n_samples=self.n_samples,
                n_burn=self.n_burn,
                n_chains=self.n_chains,
                names=given.names,
                random_state=self.random_state,
                hyperparameters=self.hyperparameters,
                groups=together,
                budget=Budget(self.max_evaluations, np.inf if self.max_seconds is None else self.max_seconds, tell),
            )
            base: BinaryProcess | OneAgainstRest | OneAgainstAnother | MultinomialProcess
            if count == 2:
                base = BinaryProcess(points, np.where(codes == 1, 1.0, -1.0), settings)
            elif self.multi_class == "one_vs_rest":
                base = OneAgainstRest(points, codes, count, settings, self.n_jobs)
            elif self.multi_class == "one_vs_one":
                base = OneAgainstAnother(points, codes, count, settings, self.n_jobs)
            else:
                require_softmax(self)
                base = MultinomialProcess(points, codes, count, settings)
        self.classes_ = classes
        self.n_classes_ = count
        self.base_estimator_: Any = base  # a BinaryProcess for two classes, which has more attributes than the others
        parts = self.processes()
        self.log_marginal_likelihood_value_ = np.mean([part.log_marginal_likelihood_value_ for part in parts])
        self.report_choices()
        for part in parts:
            if part.choice_.interrupt is not None:
                raise part.choice_.interrupt
        return self

    def report_choices(self) -> None:
        """Set the attributes that report on the searches and the sampling."""
        parts = self.processes()
        choices = [part.choice_ for part in parts]
        self.selection_ = choices[0] if len(parts) == 1 else choices
        self.n_evaluations_ = sum(choice.n_evaluations for choice in choices)
        self.at_bounds_ = sorted({name for choice in choices for name in choice.at_bounds})
        for name in ("effective_sample_size", "r_hat"):
            self.__dict__.pop(f"{name}_", None)
            if self.inference == "mcmc":
                figures = [part.of_chains(name) for part in parts]
                setattr(self, f"{name}_", figures[0] if len(parts) == 1 else figures)
        self.__dict__.pop("_loo", None)

    def processes(self) -> list[Any]:
        """Return the list of the fitted processes."""
        return list(getattr(self.base_estimator_, "estimators_", [self.base_estimator_]))

    @property
    def kernel_(self) -> Kernel | KernelsOfProcesses:
        """The kernel with the hyperparameters that were chosen; a CompoundKernel of scikit-learn if there are several."""
        check_is_fitted(self, "classes_")
        parts = self.processes()
        return parts[0].kernel_ if len(parts) == 1 else KernelsOfProcesses([part.kernel_ for part in parts])

    @property
    def loo_log_probability_(self) -> Vector:
        """The logarithm of the probability of each label, predicted from all other points, shape (n,) or (n, n_classes)."""
        check_is_fitted(self, "classes_")
        if self.n_classes_ > 2 and self.multi_class != "one_vs_rest":
            raise AttributeError(f"loo_log_probability_: not known for multi_class={self.multi_class!r}")
        if not hasattr(self, "_loo"):
            columns = [part.loo_log_probability() for part in self.processes()]
            self._loo: Vector = columns[0] if len(columns) == 1 else np.column_stack(columns)
        return self._loo

    @property
    def draws_(self) -> dict[str, Vector] | list[dict[str, Vector]]:
        """The draws of the hyperparameters, shape (n_chains, n_samples) each; a list if there are several processes."""
        check_is_fitted(self, "classes_")
        if self.hyperparameters != "sample":
            raise AttributeError('draws_: no hyperparameters were drawn; expected hyperparameters="sample"')
        found = [part.sampled_.drawn.values for part in self.processes()]
        return found[0] if len(found) == 1 else found

    @property
    def criterion_value_(self) -> float:
        """The value of the criterion, the mean over binary processes if there are several; larger is better."""
        check_is_fitted(self, "classes_")
        if criterion_of(self, self.n_classes_) == "lml":
            values = [getattr(part, "process_", None) for part in self.processes()]
            return float(np.mean([value.value for value in values if value] or self.log_marginal_likelihood_value_))
        return float(np.mean([np.sum(part.loo_log_probability()) for part in self.processes()]))

    def predict(self, X: Points) -> NDArray[np.generic]:
        """Return the most probable class at points.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        labels : ndarray of shape (m,)
            Computed in O(n) for each point with two classes and without "mcmc"; otherwise at the cost of `predict_proba`.
        """
        check_is_fitted(self, "classes_")
        if (several := in_parts(self._kernel(), X)) is not None:
            return np.concatenate([self.predict(part) for part in several])
        Z = self._points(X)
        if self.n_classes_ == 2 and self.inference != "mcmc":
            second = self.base_estimator_.mean(Z) >= 0
        else:
            return np.asarray(self.classes_[np.argmax(self._probabilities(Z), axis=1)])
        return np.asarray(self.classes_[second.astype(np.intp)])

    def predict_proba(self, X: Points) -> Vector:
        """Return the probabilities of all classes at points, in O(n^2) for each point and process.

        Points are processed in blocks, so that memory does not grow with their number.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        probabilities : ndarray of shape (m, n_classes)
            The columns are in the order of `classes_`.
        """
        check_is_fitted(self, "classes_")
        if (several := in_parts(self._kernel(), X)) is not None:
            return np.concatenate([self.predict_proba(part) for part in several])
        return self._probabilities(self._points(X))

    @with_one_blas_thread
    def _probabilities(self, Z: Vector) -> Vector:
        probability = self.base_estimator_.probability(Z)
        return np.column_stack([1 - probability, probability]) if self.n_classes_ == 2 else np.asarray(probability)

    @with_one_blas_thread
    def latent(self, X: Points, return_std: bool = False) -> Vector | tuple[Vector, Vector]:
        """Return the mean of the latent functions at points and, on request, their standard deviation.

        Parameters
        ----------
        X : array-like of shape (m, d)
        return_std : bool
            Also return the standard deviation.

        Returns
        -------
        mean : ndarray of shape (m,), or (m, processes) if there are several
            A column for each class, or with "one_vs_one" for each pair of classes.
        std : ndarray of the same shape
        """
        Z = self._points(X)
        parts = self.processes()
        if not return_std:
            means = [part.mean(Z) for part in parts]
            return np.asarray(means[0] if len(parts) == 1 else np.column_stack(means))
        both = [part.mean_and_variance(Z) for part in parts]
        if len(parts) == 1:
            return both[0][0], np.sqrt(both[0][1])
        return np.column_stack([mean for mean, _ in both]), np.sqrt(np.column_stack([variance for _, variance in both]))

    def latent_mean_and_variance(self, X: Points) -> tuple[Vector, Vector]:
        """Return the mean and the variance of the latent function of two classes, under scikit-learn's name for the method.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        mean, variance : ndarray of shape (m,)
        """
        check_is_fitted(self, "classes_")
        if self.n_classes_ > 2:
            raise ValueError(
                "Returning the mean and variance of the latent function f is only supported for binary classification, "
                f"received {self.n_classes_} classes. `latent` gives those of all processes."
            )
        mean, std = self.latent(X, return_std=True)
        return mean, std**2

    @with_one_blas_thread
    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> np.float64 | tuple[np.float64, Vector]:
        """Return the approximate log marginal likelihood of the labels; the mean over processes if there are several.

        Parameters
        ----------
        theta : array-like of shape (n_dims,), optional
            Hyperparameters in the order and transformation of `kernel_.theta`; if there are several processes, possibly those
            of one process, used for all. By default those that were chosen.
        eval_gradient : bool
            Also return the derivatives with respect to theta.
        clone_kernel : bool
            False sets the hyperparameters of `kernel_` to theta.

        Returns
        -------
        value : float
        gradient : ndarray of the shape of theta
        """
        check_is_fitted(self, "classes_")
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return np.float64(self.log_marginal_likelihood_value_)
        theta = np.asarray(theta, dtype=np.float64)
        parts = self.processes()
        options = {"clone_kernel": clone_kernel, "warm_start": self.warm_start}
        if len(parts) == 1:
            alone: np.float64 | tuple[np.float64, Vector] = parts[0].log_marginal_likelihood(theta, eval_gradient, **options)
            return alone
        sizes = [part.kernel_.n_dims for part in parts]
        shared = theta.shape == (sizes[0],)
        if not shared and theta.shape != (sum(sizes),):
            raise ValueError(f"theta: expected {sizes[0]} or {sum(sizes)} numbers, got shape {theta.shape}")
        thetas = [theta] * len(parts) if shared else np.split(theta, np.cumsum(sizes)[:-1])
        found = [part.log_marginal_likelihood(own, eval_gradient, **options) for part, own in zip(parts, thetas, strict=True)]
        if not eval_gradient:
            return np.float64(np.mean(found))
        gradients = [gradient for _, gradient in found]
        gradient = np.mean(gradients, axis=0) if shared else np.concatenate(gradients) / len(parts)
        return np.float64(np.mean([value for value, _ in found])), gradient

    def kernel_and_points(self) -> tuple[Kernel, Vector]:
        """Return the kernel and the training points of two classes."""
        return self._kernel(), self.base_estimator_.X_train_

    def kept_data(self) -> tuple[Vector, Vector]:
        """Return the training points of two classes, and their targets: 1 for the second class, 0 for the first."""
        return self.base_estimator_.X_train_, (self.base_estimator_.y_train_ > 0).astype(np.float64)

    def shown_data(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ShownData:
        """Return the training data of two classes, with the targets 0 and 1, see `FittedModel`."""
        second = None if y is None else (np.asarray(y) == self.classes_[1]).astype(np.float64)
        return super().shown_data(X, second, output)

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return the probability of the second of two classes at points, and its band, see `FittedModel`."""
        del noisy, output
        mean = np.asarray(self.predict_proba(X)[:, 1])
        if level is None:
            return Prediction(mean)
        latent, std = self.latent(X, return_std=True)
        half = float(stats.norm.isf((1 - level) / 2)) * std
        lower, upper = (np.exp(self.base_estimator_.link.log_density(f)) for f in (latent - half, latent + half))
        return Prediction(mean, lower, upper, std, "{level} of the probability", "latent standard deviation")

    def _kernel(self) -> Kernel:
        """Return the kernel of the first process; the kernels of all processes read points in the same way."""
        kernel: Kernel = self.processes()[0].kernel_
        return kernel

    def _points(self, X: Points) -> Vector:
        check_is_fitted(self, "classes_")
        return np.asarray(new_points(self, self._kernel(), X, dtype=np.float64, ensure_2d=True))

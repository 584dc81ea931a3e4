"""Gaussian process regression whose hyperparameters are chosen by any criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.gaussian_process import kernels as sk
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Indices, Seed, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel._data.allowed import function, is_auto, number, one_of, require, whole
from kernsel._data.folds import is_splits
from kernsel._data.kernel import kernel_of
from kernsel._data.mean import Mean, mean_at
from kernsel._data.noise import variances
from kernsel._data.rows import is_of_rows, row_source
from kernsel._data.together import LearntOnce, checked_groups, learnt_once
from kernsel._data.training import require_squares, training_set
from kernsel._data.trend import Trend, require_trend_of_objects, trend_matrix
from kernsel._search import Budget, Selection, choose, explained, require_few_if_interrupted
from kernsel._search.checks import checked
from kernsel._search.choice import generator_of
from kernsel._search.layout import Layout
from kernsel._search.own_optimizer import Optimizer
from kernsel._search.plan import Plan, plan_for
from kernsel._search.progress import CallbackSupport, remark, watched, with_callbacks
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel._solve.landmark_posterior import LandmarkPosterior
from kernsel._solve.refined_posterior import RefinedPosterior
from kernsel.approximations import Vecchia, Wish
from kernsel.criteria import Criterion, Evidence, Likelihood
from kernsel.criteria.base import Loss
from kernsel.criteria.names import criterion_named, name_of
from kernsel.estimators.fitted import TakesGroups
from kernsel.estimators.outliers import LEAST_POINTS, OUTLIERS, given_rows
from kernsel.estimators.process_data import require_function, require_no_weights, require_variances
from kernsel.estimators.process_fit import ProcessData, ProcessFit, fit_despite_outliers
from kernsel.estimators.process_of_functionals import (
    fit_to_functionals,
    require_no_noise_of_others,
    require_values_only,
)
from kernsel.estimators.process_of_observations import fit_to_observations
from kernsel.estimators.process_of_parts import all_rows_choose, state_of_parts
from kernsel.estimators.process_of_rows import state_of_rows
from kernsel.estimators.process_predictions import N_TARGETS
from kernsel.estimators.process_sampling import Sampling, sample_normal
from kernsel.estimators.process_state import ProcessState
from kernsel.estimators.process_updates import ProcessUpdates
from kernsel.estimators.rows_everywhere import take_columns
from kernsel.estimators.rows_in_memory import rows_in_memory
from kernsel.kernels import RBF, ConstantKernel, Kernel, Matern
from kernsel.kernels.amplitudes import finds_noise as kernel_finds_noise
from kernsel.kernels.amplitudes import has_noise, with_amplitudes
from kernsel.kernels.automatic import Data
from kernsel.kernels.objects import Points
from kernsel.kernels.written import KernelLike
from kernsel.likelihoods import Likelihood as Observed
from kernsel.likelihoods.named import likelihood_of
from kernsel.linalg.jitter import least_jitter

__all__ = ["GaussianProcessRegressor"]


_AUTO = ConstantKernel("auto") * Matern("auto", nu=2.5, product=True)
_NONE = ConstantKernel(1.0, (1e-5, 1e5)) * RBF(1.0, (1e-5, 1e5))  # scikit-learn's default
_ALLOWED = {
    "n_targets": N_TARGETS,
    "scale": one_of("auto", "shared", "each"),
    "optimizer": (function("auto", "newton", "l-bfgs-b", "fmin_l_bfgs_b") | None).said(
        '"auto", "newton", "l-bfgs-b", a function or None'
    ),
    "n_restarts_optimizer": whole(0),
    "max_evaluations": whole(1),
    "verbose": whole(0),
    "max_seconds": number("positive", infinite=True) | None,
    "shrinkage": (number("positive") | "auto" | None).said('"auto", a positive number or None'),
    "outliers": OUTLIERS,
    "inference": one_of("auto", "laplace", "ep", "mcmc"),
    "hyperparameters": one_of("optimize", "sample"),
    "n_draws": (whole(1) | None).said("a whole number from 1 on, or None"),
}


class GaussianProcessRegressor(TakesGroups, ProcessUpdates, CallbackSupport, MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian process regression, also known as kriging.

    The model is y = h(x) beta + f(x) + noise, where f is a Gaussian process of covariance k and beta is unknown. The posterior
    mean and variance at a point z are ::

        mean(z) = h(z) beta + k(z, X) c,    c = K~^-1 (y - H beta),    K~ = k(X, X) + diag(alpha + noise)
        var(z) = k(z, z) - k(z, X) K~^-1 k(X, z) + r'(H'K~^-1 H)^-1 r,    r = h(z) - H'K~^-1 k(X, z)

    All hyperparameters that are not fixed, and the noise if it is "auto", are chosen by a criterion. A search usually takes 30
    to 50 evaluations of the criterion; each costs about n^3 operations and needs memory for n^2 / 2 numbers.

    Parameters
    ----------
    kernel : Kernel, "auto", str or None
        "auto" is ``ConstantKernel("auto") * Matern("auto", nu=2.5, product=True)``, one length scale for each column, as in
        kriging; in a data frame, columns of texts have a factor :class:`kernsel.kernels.Exchangeable` each. Other text, such as
        ``"RBF"`` or ``"2 * RBF + Linear"``, leaves to the data what it does not give: its parameters are "auto", and so are the
        amplitudes of its terms. With "auto" and text, the trend is a constant and the noise is estimated, unless they are
        given. A kernel that is an object is taken as it is, without noise and trend unless they are given;
        ``selection_.not_sought`` tells what was then not looked for. Kernels of scikit-learn are accepted; None is
        scikit-learn's default, ``ConstantKernel(1.0) * RBF(1.0)``.
    alpha : float, array-like of shape (n,), or "auto"
        Added to the diagonal of the kernel matrix, as in scikit-learn: known noise variances, or a small number that makes the
        matrix positive definite in spite of rounding. "auto" adds the least that rounding requires, `jitter_`, if no noise is
        given.
    optimizer : {"auto", "newton", "l-bfgs-b", "fmin_l_bfgs_b"}, callable or None
        "auto" is a trust-region Newton method for likelihoods, and a quasi-Newton method (L-BFGS-B) for other criteria.
        "l-bfgs-b" is the quasi-Newton method for all criteria; "fmin_l_bfgs_b" is scikit-learn's name for it. None leaves the
        kernel as it is. A function f(objective, theta, bounds) returns the best theta and its value, as in scikit-learn.
    n_restarts_optimizer : int
        The number of random starts of the search, besides the starts that are derived from the data.
    normalize_y : bool
        Fit to y after subtracting its mean and dividing by its standard deviation. A trend usually serves better. Other
        transforms of y, such as the logarithm, are a `likelihood`: "log_normal", "box_cox", "warped".
    copy_X_train : bool
        False keeps a reference to X instead of a copy, if X is an array of float64.
    n_targets : int or None
        The number of outputs of the process before it is fitted.
    random_state : int, RandomState instance or None
        Determines the random starts of the search, and the subset of the points on which it begins if there are many. None is
        one fixed choice. The result does not depend on the number of threads.
    criterion : str, Criterion or callable
        The criterion that chooses the hyperparameters, see :mod:`kernsel.criteria`.
    trend : {"auto", "constant", "linear", "quadratic"}, callable or None
        The functions h. "auto" is "constant" for a kernel that is "auto" or text, and otherwise no trend.
    noise : float, array-like of shape (n,), "auto" or None
        Noise variances. "auto" is one variance for all points, estimated together with the hyperparameters. None is "auto" for
        a kernel that is "auto" or text without noise, and otherwise zero; the kernel may then have a WhiteKernel.
    mean : callable or None
        A mean of the process that is known, such as the prediction of a model of the physics: a function of points of shape
        (n, d) that returns (n,) or (n, n_targets), for example the method `predict` of another fitted model. It is subtracted
        from the targets and added to predictions; what is left has the trend and the process. It is for normal noise. Models
        with a function are kept by pickle or joblib.
    scale : {"auto", "shared", "each"}
        For several outputs: "shared" gives all the same covariance, "each" multiplies it by a variance that is estimated for
        each output (`scale_`), so that they may have any units. "auto" is "each" if a likelihood chooses, no noise variances
        are given, and the kernel has an amplitude that is to be found, and otherwise "shared". Outputs are independent of each
        other; :class:`kernsel.RelatedOutputsRegressor` learns how they are related.
    shrinkage : "auto", float or None
        Whether the length scales of a kernel are expected to be alike: log l_j = log u_j + c + d_j for column j, where u_j is
        its standard deviation, c is common to all columns and d_j is normal of standard deviation `shrinkage`. 0.1 is almost
        one length scale for all columns, 4 hardly any expectation, None none. One length scale for each column overfits if
        there are many columns, and one for all misses what only some of them tell. With "auto", for a kernel with "auto"
        hyperparameters, the data choose: "evidence" takes the number for which they are the most probable (the integral over
        the hyperparameters, see :class:`kernsel.criteria.Evidence`), and other likelihoods do so if they are then e^8 times as
        probable as for 4 (e^4 times with less than 10 points for each column), with up to 50 points for each column; for
        criteria that are not likelihoods it is None.
    outliers : "auto", array-like of int or None
        Whether a few targets that are grossly wrong, such as typing errors, are kept from ruling the fit. "auto" looks for
        them after the search, if the noise is to be found and there is one output. Rows (15 % at most) are outliers if, after
        a fit without them, they are farther from what the others predict than normal noise has it (five of its standard
        deviations at least); if they double the squared error of what is predicted for the others, judged by left-out
        residuals; and if they do not predict each other and are not neighbours, as on a peak of the function or where the
        noise is larger.
        The hyperparameters are then chosen without them, and they have noise variances of their own, by which they hardly
        count; see `outliers_`. Otherwise, and with None, all rows count alike. An array has the numbers of rows that are known
        to be outliers. Only where a residual is gross does this take further searches. Where something is approximated, they
        are not looked for.
    approximation : "auto", Vecchia, Nystrom or None
        None is exact: n^2 / 2 numbers of memory and n^3 operations for each evaluation of the criterion. With
        :class:`kernsel.Vecchia`, hyperparameters are chosen by nearest neighbours, after an exact search on 2000 points, and
        new points are predicted from their nearest ones; with :class:`kernsel.Nystrom`, which is for much noise, both by the
        function's values at landmarks; its `refine` iterates from there to the means of all points. "auto" is exact as long as
        that is estimated to take a minute (or `max_seconds`, if that is longer) and fits into half of the memory that is
        available; beyond, it approximates the choice of the hyperparameters, and the predictions if these would take a minute,
        too. `selection_.approximation` says which, and how good it is. Outliers are looked for where nothing is approximated.
    likelihood : str, Likelihood, list of these, or None
        What observations are given the function f, see :mod:`kernsel.likelihoods`: counts ("poisson", "negative_binomial",
        "binomial"), positive numbers ("gamma"), numbers between 0 and 1 ("beta"), real numbers with outliers ("student_t"),
        quantiles (``AsymmetricLaplace(0.9)``) and others. Targets that are normal after a transform have "log_normal",
        "box_cox", "yeo_johnson", ``LogitNormal(lower, upper)`` or "normal_scores", whose densities are those of y. A list is of
        several, of which the one is taken for which the criterion is best (a log likelihood less 1 for each parameter);
        "warped" is the list of normal noise and of the transforms with a parameter that y may have. None is normal noise.
        Parameters of the likelihood that are "auto" are found together with the kernel's. With a likelihood, `predict` returns
        the mean of observations; `predict_latent` that of f, which for counts is the logarithm of their rate;
        `predict_quantiles` intervals; the criterion is "lml", the approximate marginal likelihood, or "loo_log_density"; and
        there is neither `noise` nor a treatment of outliers.
    inference : {"auto", "laplace", "ep", "mcmc"}
        How the posterior of f is approximated by a normal distribution, given a likelihood: Laplace's method takes the
        curvature at its mode, and expectation propagation ("ep") matches means and variances, which is more precise for
        classes and slower. "auto" is Laplace's method, but for likelihoods with a kink. "mcmc" draws from the exact posterior
        of f by elliptical slice sampling, for the hyperparameters that "auto" chooses: 4 chains of 1000 draws, over which
        predictions are averaged. A draw takes about 20 n^2 operations, and it is with the whole kernel matrix only.
    hyperparameters : {"optimize", "sample"}
        "optimize" chooses the best ones. "sample" draws them from their posterior (the parameters of the likelihood and the
        noise, too), and predictions are averaged over the draws: their standard deviations and quantiles are then not too
        small where few data leave hyperparameters uncertain. The density is the marginal likelihood times what
        ``criterion="evidence"`` expects of them and priors; with a likelihood, "laplace" or "ep" approximates the marginal
        likelihood, and "mcmc" draws f together with them from the exact posterior. Four chains of a gradient-based sampler
        (NUTS) take 4,000 to 50,000 evaluations of the likelihood with its gradient, and "mcmc" as many of some n^3 operations.
        `max_seconds` ends a search, and sampling by NUTS after the round of draws in which it is over.
        Predictions, samples, quantiles and densities are those of the draws; `kernel_`, `noise_` and left-out residuals are
        those of the best hyperparameters.
    n_draws : int or None
        The number of draws of hyperparameters that predictions average over, 100 by default, of all that were drawn: each has
        a posterior of its own, which takes n^2 / 2 numbers, and predictions take as many times as long. With
        ``inference="mcmc"`` alone, the number of draws of f, 4000 by default.
    max_evaluations : int
        The largest number of evaluations of the criterion.
    max_seconds : float or None
        The largest duration of the search. The best hyperparameters that it has found by then are used, or those that the data
        propose if the first evaluation of the criterion is not finished by then.
    verbose : int
        1 shows the progress of the search.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the hyperparameters that were chosen.
    X_train_, y_train_ : ndarray
        The training points and targets. The targets are normalized if `normalize_y` is set. If a noise is found, rows that are
        copies of others are no training points: they tell nothing new, and make noise look like a function. All attributes are
        then those of a fit without the copies; `selection_.remarks` says how many there are, and `selection_.rows` which rows
        of X the n training points are. Equal rows with different targets are measurements that were repeated, and stay.
    alpha_ : ndarray of shape (n,) or (n, n_targets)
        The coefficients c.
    beta_ : ndarray of shape (q,) or (q, n_targets)
        The coefficients of the trend.
    noise_ : float or ndarray of shape (n,)
        The noise variance, estimated or given, without `alpha` and `jitter_`; with weights, that of a row of weight
        one. A criterion such as "profiled_lml" determines kernel and noise only up to a common factor; a given noise, and
        `alpha`, are then multiplied by the best factor.
    jitter_ : float
        The number that ``alpha="auto"`` has added to the diagonal of the kernel matrix.
    outliers_ : ndarray of int
        The training points that were found to be outliers. `noise_` is that of all others, and of new observations; the
        criterion and its value are of all others, too. ``selection_.far`` names the largest.
    scale_ : ndarray of shape (n_targets,)
        The factor of the kernel and the noise for each output; ones if they share one scale.
    criterion_value_ : float
        The value of the criterion at the end of the search; nan if the trend alone explains y. With ``optimizer=None`` and a
        criterion that is not a likelihood, it is evaluated on first access.
    log_marginal_likelihood_value_ : float
        The log marginal likelihood of the chosen hyperparameters, summed over outputs.
    n_evaluations_ : int
        The number of evaluations of the criterion on all points.
    slope_noise_, average_noise_ : ndarray of shape (d,), float
        The noise variances of slopes along each column and of averages that were found, nan where none was; only if `fit` was
        given slopes or averages. `X_train_`, `y_train_` and left-out residuals are then those of the values, each predicted
        from all else.
    likelihood_ : Likelihood
        The likelihood with the parameters that were found; only if one was given.
    selection_ : kernsel._search.Selection
        The report of the search: evaluations, where each start led, which hyperparameters ended at a bound, which ones the
        data do not determine, and what was not looked for.
    draws_ : dict of str to ndarray of shape (chains, draws)
        With ``hyperparameters="sample"``, the draws of each hyperparameter; `to_arviz` returns them for ArviZ.
    r_hat_, effective_sample_size_ : dict
        How well chains of draws agree, by the name of the hyperparameter, and "f" for those of the latent values: the
        rank-normalized split R-hat, and the number of independent draws whose mean is as accurate. `fit` warns if these are
        above 1.01 (for "f" 1.05) or below 100 for each chain.
    loo_log_density_ : ndarray of shape (n,)
        The log density of each observation given all others.
    loo_residuals_, loo_std_ : ndarray of shape (n,) or (n, n_targets)
        The error of the prediction of each point from all others, and its standard deviation. Equal rows are left out together;
        or groups, if `fit` was told any.
    left_out_together_ : ndarray of int of shape (n,)
        The number of the group with which each point is left out; all different if each is left out alone.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
    >>> gp = ks.GaussianProcessRegressor("auto", noise=0.0).fit(X, np.sin(X[:, 0]))
    >>> mean, std = gp.predict([[1.5]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.5)) < 0.01 and std[0] < 0.02)
    True

    Noise that was found is part of the standard deviation, which is then that of a new observation:

    >>> y = np.sin(X[:, 0]) + 0.1 * np.cos(50 * X[:, 0])
    >>> gp = ks.GaussianProcessRegressor("RBF").fit(X, y)
    >>> (_, of_observation), (_, of_function) = (gp.predict([[1.5]], return_std=True, noisy=noisy) for noisy in (None, False))
    >>> bool(np.isclose(of_observation[0] ** 2, of_function[0] ** 2 + gp.noise_))
    True

    Slopes are data, too, and are predicted; so are averages over boxes:

    >>> at = np.linspace(0, 6, 5).reshape(-1, 1)
    >>> gp = ks.GaussianProcessRegressor("RBF", noise=0.0).fit(at, np.sin(at[:, 0]), slopes=(at, np.cos(at)))
    >>> bool(abs(gp.predict([[0.7]])[0] - np.sin(0.7)) < 0.01)
    True
    >>> mean, std = gp.predict_averages([[0.0]], [[np.pi]], return_std=True)
    >>> bool(abs(mean[0] - 2 / np.pi) < 0.01)
    True

    Counts, with intervals of new ones:

    >>> counts = np.random.default_rng(0).poisson(np.exp(1 + np.sin(X[:, 0])))
    >>> gp = ks.GaussianProcessRegressor(likelihood="poisson").fit(X, counts)
    >>> gp.predict_quantiles([[1.5]], [0.05, 0.95]).shape
    (1, 2)
    """

    strengths: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        kernel: KernelLike | None = "auto",
        *,
        alpha: float | ArrayLike | Literal["auto"] = "auto",
        optimizer: str | Optimizer | None = "auto",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: Seed = None,
        criterion: str | Criterion | Loss = "lml",
        trend: Trend = "auto",
        noise: float | ArrayLike | Literal["auto"] | None = None,
        mean: Mean = None,
        scale: Literal["auto", "shared", "each"] = "auto",
        shrinkage: float | Literal["auto"] | None = "auto",
        outliers: Literal["auto"] | ArrayLike | None = "auto",
        approximation: Wish = "auto",
        likelihood: str | Observed | Sequence[str | Observed] | None = None,
        inference: Literal["auto", "laplace", "ep", "mcmc"] = "auto",
        hyperparameters: Literal["optimize", "sample"] = "optimize",
        n_draws: int | None = None,
        max_evaluations: int = 1000,
        max_seconds: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state
        self.criterion = criterion
        self.trend = trend
        self.noise = noise
        self.mean = mean
        self.scale = scale
        self.shrinkage = shrinkage
        self.outliers = outliers
        self.approximation = approximation
        self.likelihood = likelihood
        self.inference = inference
        self.hyperparameters = hyperparameters
        self.n_draws = n_draws
        self.max_evaluations = max_evaluations
        self.max_seconds = max_seconds
        self.verbose = verbose

    @with_callbacks  # type: ignore[untyped-decorator]
    @with_one_blas_thread
    def fit(
        self,
        X: Points | None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        noise: float | ArrayLike | None = None,
        sample_weight: float | ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        trials: ArrayLike | None = None,
        slopes: tuple[ArrayLike, ArrayLike] | None = None,
        averages: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        slope_noise: float | ArrayLike | Literal["auto"] | None = None,
        average_noise: float | ArrayLike | Literal["auto"] | None = None,
    ) -> Self:
        """Choose the hyperparameters and condition the process on the data.

        `groups`, `noise`, `sample_weight`, `exposure` and `trials` are metadata of the rows: cross-validation takes those of
        the training rows, with scikit-learn's metadata routing after ``set_fit_request(noise=True)``, see
        :func:`kernsel.nested_cv`.

        Parameters
        ----------
        X : array-like of shape (n, d); or n objects, for a kernel on objects
            Also rows that are read in blocks: a source (:func:`kernsel.row_source`), the path of a Parquet or .npy file, a
            dataset of pyarrow, or a collection of Dask, like y: an array, or a data frame.
            Some of its rows, drawn at random, choose hyperparameters and landmarks (:class:`kernsel.Nystrom`, which "auto"
            then stands for); all rows are then read where they are, and the fitted model keeps sums over them instead.
            With :class:`kernsel.Vecchia` all rows are brought to this machine first, since it is from the nearest of them that
            new points are predicted; likelihoods and leave-one-out densities of all rows of a collection of Dask with more than
            50,000 choose the hyperparameters where these are, from what 50,000 of them choose here.
        y : array-like of shape (n,) or (n, n_targets); or the name of a column of a file or dataset, or None for a source
        groups : array-like of shape (n,), optional
            A label for each point: the points of a group are left out together, by criteria that leave points out and in
            `loo_residuals_`. By default rows that are equal are left out together.
        noise : float or array-like of shape (n,), optional
            The noise variances of these targets, as of the parameter `noise`, which is then None: what belongs to the rows is
            given with the rows. No other noise is then looked for; where there is more, the kernel has a WhiteKernel.
        sample_weight : float or array-like of shape (n,), optional
            The noise of a row, given (`noise` and `alpha`) or found, is divided by its weight: a target of weight w is known as
            well as the mean of w measurements. `noise_` is that of weight one. Rows of weight zero are left out, and
            ``selection_.rows`` says which stay. Outliers are not looked for among rows with weights.
        exposure, trials : float or array-like of shape (n,), optional
            For likelihoods of counts: the time, area or population that each count is of; the number of trials of which each y
            is the number of successes.
        slopes : pair of array-like of shape (m, d), optional
            Points, and the partial derivatives of the function at these along each column; nan where one is not observed. X and
            y may be None if there are slopes or averages; with slopes alone "auto" is no trend. With either the process is
            exact, of one output, and its kernel one that :class:`kernsel.kernels.Functionals` lists; each observed derivative
            is one more row of the kernel matrix.
        averages : tuple of array-like of shape (m, d), (m, d) and (m,), optional
            Lower and upper ends of boxes, and the averages of the function over these.
        slope_noise : float, array-like of shape (d,) or (m, d), "auto" or None
            The noise variances of `slopes`. "auto" finds one for each column, `slope_noise_`. None is "auto" if the noise of
            the values is found, and otherwise zero.
        average_noise : float, array-like of shape (m,), "auto" or None
            Those of `averages`, in the same way; "auto" finds one, `average_noise_`.

        Returns
        -------
        self : GaussianProcessRegressor

        Raises
        ------
        ValueError
            If the noise is given twice, here and as a parameter; or noise or weights are for observations of a likelihood, or
            for rows that are read in blocks.
        KeyboardInterrupt
            If the search is interrupted. The process is fitted with the best hyperparameters found by then. With more than 2000
            points that would take seconds, so only `selection_` is set; its kernel and noise can be used to fit a process with
            ``optimizer=None``.
        """
        self._require_noise_once(noise)
        if self.mean is not None:
            self._require_mean_may_be_given(X)
        if slopes is not None or averages is not None:
            require_values_only(groups=groups, sample_weight=sample_weight, exposure=exposure, trials=trials)
            state = fit_to_functionals(
                self,
                X,
                y,
                noise,
                slopes=slopes,
                averages=averages,
                slope_noise=slope_noise,
                average_noise=average_noise,
            )
            self.restore(state)
            return self
        require_no_noise_of_others(slope_noise=slope_noise, average_noise=average_noise)
        if X is None:
            raise ValueError("X: expected points, got None; only with slopes or averages there may be none")
        require_no_weights(X, self.likelihood, noise, sample_weight)
        if is_of_rows(X) and self.likelihood is not None:
            raise ValueError(
                "X: rows that are read in blocks have normal noise; give arrays, and approximation=kernsel.Nystrom()"
            )
        if is_of_rows(X) and self.hyperparameters == "sample":
            raise ValueError("X: hyperparameters are sampled for arrays, not for rows that are read in blocks")
        if is_of_rows(X) and isinstance(self.approximation, Vecchia):
            source = row_source(X, y)
            X, y, _ = rows_in_memory(X, y)
            if groups is None and all_rows_choose(self, source, np.shape(y)[0]):
                state, whole = state_of_parts(self, source, X, y)
                take_columns(self, whole)
                self.restore(state)
                return self
        if is_of_rows(X):
            state, some = state_of_rows(self, X, y, groups)
            take_columns(self, some)
            self.restore(state)
            return self
        sizes = {"exposure": exposure, "trials": trials}
        if self.likelihood is not None:
            if y is None:
                raise ValueError("y: expected observations, got None")
            self.restore(fit_to_observations(self, X, y, groups, sizes))
            return self
        self._require_no_sizes(sizes)
        if self.inference == "mcmc":
            raise ValueError('inference: normal noise needs none; "mcmc" is for a likelihood')
        given = training_set(self, self._prior_kernel(X), X, y, sample_weight)
        kernel, X = given.kernel_and_points()
        if kernel.reading() is not None:
            require_trend_of_objects(self.trend)
            if self.mean is not None:
                raise ValueError("mean: expected None for points that are objects; subtract it from y")
        y = given.y
        self._check(y)
        criterion = self._criterion()
        told = checked_groups(groups, len(y))
        self._require_optimizer(criterion)
        targets = given.targets
        if self.mean is not None:
            targets = targets - mean_at(self.mean, X, targets.shape[1])
        known, unknown = self._variances(len(y), noise)
        weights, kept = given.weights_used, np.arange(len(y))[given.used]
        if weights is not None:
            self._require_no_outliers_told()
        used = kept if len(kept) < len(y) else None
        if used is not None:
            X, targets, known = X[used], targets[used], _numbers_of(known, used)
            told = None if told is None else told[used]
        samples = self.hyperparameters == "sample"
        if samples:
            self._require_sampling(criterion, targets.shape[1])
            if weights is not None:
                raise ValueError('sample_weight: expected None with hyperparameters="sample", which divides no noise')
        once = None
        if not _has_folds_of_rows(criterion):
            once = self._learnt_once(kernel, X, targets, known, weights, told, finds_noise=unknown)
        if once is None:
            X = X.copy() if self.copy_X_train else X
        else:
            X, targets, known, kept = X[once.kept], targets[once.kept], _numbers_of(known, once.kept), kept[once.kept]
            told = None if told is None else told[once.kept]
            weights = None if weights is None else weights[once.kept]
        n = len(X)
        mean = targets.mean(axis=0) if self.normalize_y else np.zeros(targets.shape[1])
        spread = targets.std(axis=0) if self.normalize_y else np.ones(targets.shape[1])
        spread = np.where(spread > 10 * np.finfo(float).eps * np.abs(mean), spread, 1.0)
        targets = (targets - mean) / spread
        trend = self._trend()
        plan = plan_for(
            None if samples else self.approximation,
            kernel,
            criterion,
            n,
            searches=self.optimizer is not None,
            max_seconds=self.max_seconds,
            may_refine=True,
            columns=X.shape[1],
        )
        each = self._has_own_scales(criterion, kernel, X, targets, known)
        if each:
            criterion = _of_own_scales(criterion)
        if self.scale == "each":
            require_variances(targets, trend_matrix(trend, X))

        try:
            if not unknown and not np.any(known):
                resolved = partial(kernel.resolve, Data(X, targets, None, self.feature_names()))
                require_function(resolved, X, targets)
            seen = targets[:, ~explained(targets, trend_matrix(trend, X))] if each else targets
            search = partial(self._select, criterion, kernel, plan)
            selection = search(ProcessData(X, seen if seen.size else targets, known, unknown, trend, told, weights=weights))
        except np.linalg.LinAlgError as error:
            raise self._singular(kernel, error) from error
        selection = replace(selection, not_sought=self._not_sought(criterion, kernel, noise))
        if self.verbose and selection.not_sought:
            remark(f"{type(self).__name__}: {selection.said_of_not_sought}")
        if selection.interrupt is not None:
            for name in ("posterior_", "kernel_"):
                self.__dict__.pop(name, None)
            self.selection_: Selection = selection
            require_few_if_interrupted(selection.interrupt, n)
        data = ProcessData(X, targets, known, unknown, trend, told, plan.posterior, weights)
        told_outliers = not isinstance(self.outliers, str)
        treats_outliers = (told_outliers or not plan.approximates) and not samples and self._treats_outliers(data, selection)

        def fitted(data: ProcessData) -> ProcessFit:
            first = data.conditioned(selection)
            if not treats_outliers:
                return first
            rows = given_rows(self.outliers, len(y)) if told_outliers else None
            rows = rows if rows is None or once is None else once.places(rows)
            return fit_despite_outliers(data, first, search, rows)

        try:
            fit = fitted(data)
            plan, posterior, check = checked(plan, fit.posterior)
            if plan.posterior is None and data.approximation is not None:
                fit = fitted(replace(data, approximation=None))
                posterior = fit.posterior
            if isinstance(posterior, LandmarkPosterior) and posterior.approximation.refine:
                posterior = RefinedPosterior.of(posterior)
        except np.linalg.LinAlgError as error:
            raise self._singular(selection.kernel, error) from error
        said = plan.said(n, check)
        if isinstance(posterior, RefinedPosterior):
            said = f"{said} Means: {posterior.solution}"
            posterior.solution.warn("noise")
        selection = replace(fit.selection, approximation=said)
        selection = selection if once is None else selection.of_rows(once)
        selection = selection if used is None else selection.among(used)
        factor = selection.scale
        if self.verbose and selection.approximation:
            remark(f"{type(self).__name__}: {selection.approximation}")
        if self.verbose and selection.far is not None:
            remark(f"{type(self).__name__}: {selection.said_of_far}")
        value: float | None = selection.value
        if selection.ended == "seconds" and np.isnan(selection.value) and not isinstance(criterion, Evidence):
            value = None  # the time was over within the first evaluation
        if self.optimizer is None and not explained(targets, posterior.H).all():
            at_once = posterior.core_of(criterion, told).sees == "products"
            value = posterior.value_of(criterion) if at_once else None

        sampled = None
        if samples:
            if explained(targets, posterior.H).all():
                raise ValueError('hyperparameters: expected "optimize", since the trend alone explains y')
            drawn = sample_normal(kernel, data, selection, self.sampling())
            sampled = replace(drawn, offset=float(mean[0]), factor=float(spread[0]))

        of_noise = None if unknown else self.noise if noise is None else noise
        noise_given: float | Vector = np.zeros(()) if of_noise is None else variances("noise", of_noise, len(y)) * factor
        alpha_given: float | Vector = np.zeros(()) if isinstance(self.alpha, str) else self._numbers("alpha", len(y)) * factor
        noise_given, alpha_given = _numbers_of(noise_given, kept), _numbers_of(alpha_given, kept)
        self.restore(
            ProcessState(
                posterior=posterior,
                kernel=posterior.kernel,
                selection=selection,
                criterion_value=value,
                noise=fit.noise if unknown else noise_given if np.ndim(noise_given) else float(noise_given),
                alpha=np.asarray(alpha_given),
                jitter=fit.jitter,
                outliers=fit.outliers,
                offset=mean,
                factor=spread,
                one_output=y.ndim == 1 or y.shape[1] == 1,
                restricted=isinstance(criterion, Likelihood) and criterion.restricted,
                groups=told,
                sampled=sampled,
            )
        )
        if selection.interrupt is not None:
            raise selection.interrupt
        return self

    @cached_property
    def criterion_value_(self) -> float:
        """The value of the criterion for the hyperparameters that `fit` has chosen or was given.

        It follows from the search, or from the factorization if there was no search. Some criteria need more of the inverse of
        the kernel matrix than a likelihood does (its diagonal, or the blocks of groups of points), and take as long as the fit
        itself: without a search they are evaluated on first access.
        """
        check_is_fitted(self, "kernel_")
        return self.posterior_.value_of(self._criterion_used, self._groups)

    def state(self) -> ProcessState:
        """Return the state of the fitted process, from which `restore` makes an equal one."""
        check_is_fitted(self, "kernel_")
        return ProcessState(
            posterior=self.posterior_,
            kernel=self.kernel_,
            selection=self.selection_,
            criterion_value=self.criterion_value_,
            noise=self.noise_,
            alpha=self._alpha_known,
            jitter=self.jitter_,
            outliers=self.outliers_,
            offset=self._y_train_mean,
            factor=self._y_train_std,
            one_output=self._flat,
            restricted=self._restricted,
            groups=self._groups,
            observed=self._observed,
            sampled=self._sampled,
        )

    def likelihood_given(self) -> Observed:
        """Return the likelihood that the parameter `likelihood` stands for."""
        return likelihood_of(self.likelihood)

    def restore(self, state: ProcessState) -> None:
        """Set all fitted attributes from a state that `state` has returned."""
        self.selection_ = state.selection
        criterion = self._criterion()
        several = isinstance(criterion, Likelihood) and state.posterior.y.shape[1] > 1
        chosen_each = several and getattr(state.selection.criterion, "scale", "known") == "each"
        self._own_scales = self.scale == "each" or (self.scale == "auto" and chosen_each)
        self._criterion_used = _of_own_scales(criterion) if self._own_scales else criterion
        self.kernel_ = state.kernel
        self.__dict__.pop("criterion_value_", None)
        if state.criterion_value is not None:
            self.criterion_value_ = state.criterion_value
        self.noise_, self._alpha_known, self.jitter_ = state.noise, state.alpha, state.jitter
        self.outliers_ = state.outliers
        self.n_evaluations_ = state.selection.n_evaluations
        self._y_train_mean, self._y_train_std = state.offset, state.factor
        self._flat, self._restricted, self._groups = state.one_output, state.restricted, state.groups
        self.posterior_ = state.posterior
        self._observed = state.observed
        self._sampled = state.sampled
        self._set_fitted()

    def _set_fitted(self) -> None:
        """Set the attributes that follow from the factorization."""
        posterior = self.posterior_
        n, m = posterior.n_rows, posterior.y.shape[1]
        freedom = n - posterior.H.shape[1] if self._restricted else n
        self.scale_ = np.ones(m)
        if self._own_scales:
            each = posterior.squares() / max(freedom, 1)
            known = explained(posterior.y, posterior.H) if len(posterior.y) else np.zeros(m, dtype=bool)
            self.scale_ = np.where((each > 0) & ~known, each, 1.0)
        self.X_train_ = posterior.X if self._observed is None else self._observed.points
        self.y_train_ = self._shaped(posterior.y)
        for name in ("slope_noise_", "average_noise_"):
            self.__dict__.pop(name, None)
        if isinstance(posterior, FunctionalPosterior):
            self.X_train_, self.y_train_ = posterior.points, self._shaped(posterior.y[: posterior.n_values])
            self.slope_noise_, self.average_noise_ = posterior.slope_noise, posterior.average_noise
        self.__dict__.pop("alpha_", None)
        if posterior.exact:
            self.alpha_ = self._shaped(posterior.weights)
        self.beta_ = self._shaped(posterior.beta)
        self.__dict__.pop("likelihood_", None)
        if self._observed is not None:
            self.likelihood_ = self._observed.likelihood
            self.y_train_ = self._observed.observations.y
            self.log_marginal_likelihood_value_ = self._observed.value
        else:
            self.log_marginal_likelihood_value_ = posterior.log_likelihood(self.scale_, restricted=self._restricted)
        self.__dict__.pop("_points_left_out", None)

    def _evaluate_criterion(self) -> None:
        """Evaluate `criterion_value_` before the data change: the attribute is the value for the data of `fit`."""
        self.__dict__["criterion_value_"] = self.criterion_value_

    def feature_names(self) -> list[str] | None:
        """Return the names of the columns, if X had any."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _prior_kernel(self, X: object = None) -> Kernel:
        """Return the kernel that the parameter `kernel` stands for, for points X."""
        if self.n_restarts_optimizer and isinstance(self.kernel, sk.Kernel):
            with np.errstate(invalid="ignore", divide="ignore"):
                finite = np.isfinite(self.kernel.bounds).all()
            if not finite:
                raise ValueError("Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite.")
        kernel = kernel_of(self.kernel, auto=_AUTO, none=_NONE, points=X)
        return with_amplitudes(kernel) if isinstance(self.kernel, str) else kernel

    def _criterion(self) -> Criterion:
        criterion = criterion_named(self.criterion, {})
        if self.scale == "each" and not isinstance(criterion, Likelihood):
            raise ValueError('scale: "each" is for likelihoods, which tell the variance of each output')
        return criterion

    def sampling(self) -> Sampling:
        """Return what `fit` draws, and how much."""
        return Sampling(
            hyperparameters=self.hyperparameters == "sample",
            latent=self.inference == "mcmc",
            n_draws=self.n_draws,
            rng=generator_of(0 if self.random_state is None else self.random_state),
            seconds=np.inf if self.max_seconds is None else self.max_seconds,
            shrinkage=self.shrinkage,
            names=self.feature_names(),
        )

    def _require_sampling(self, criterion: Criterion, outputs: int) -> None:
        """Raise ValueError for parameters that do not go with draws."""
        if outputs > 1:
            raise ValueError(f'y: expected one output with hyperparameters="sample", got {outputs}; fit each by itself')
        samples = self.hyperparameters == "sample"
        if samples and not isinstance(self.optimizer, str):
            raise ValueError('optimizer: expected "auto" with draws of hyperparameters, which begin where a search ends')
        if samples and not isinstance(criterion, Likelihood):
            raise ValueError(
                f'criterion: draws are of the posterior of a likelihood, such as "lml"; got "{name_of(criterion)}"'
            )
        if self.approximation is not None and not is_auto(self.approximation):
            raise ValueError(f"approximation: expected None with draws, got {self.approximation!r}")
        if not isinstance(self.outliers, str) and self.outliers is not None:
            raise ValueError('outliers: expected None with hyperparameters="sample"; likelihood="student_t" is robust')
        if self.scale != "auto":
            raise ValueError(f'scale: expected "auto" with hyperparameters="sample", got {self.scale!r}')

    def _require_optimizer(self, criterion: Criterion) -> None:
        """Raise ValueError if nothing would compute the integral that the criterion is."""
        if criterion.integrates and not isinstance(self.optimizer, str):
            raise ValueError(
                'optimizer: expected "auto", "newton" or "l-bfgs-b", which compute the integral that the criterion '
                f'"{name_of(criterion)}" is, got {self.optimizer!r}; "reml" takes any optimizer'
            )

    def _has_own_scales(self, criterion: Criterion, kernel: Kernel, X: Vector, targets: Vector, known: float | Vector) -> bool:
        """Tell whether the criterion estimates a scale for each output, see the parameter `scale`."""
        if self.scale != "auto":
            return self.scale == "each"
        if targets.shape[1] == 1 or not isinstance(criterion, Likelihood) or np.any(known) or self.optimizer is None:
            return False
        resolved = kernel.resolve(Data(X, targets, None, self.feature_names())).on_points(X)[0]
        return Layout(resolved).amplitudes() is not None

    def opened_by_kernel(self) -> dict[str, object]:
        """Return what is looked for because of the kernel, see :func:`kernsel.estimators.fitted.opened_by_kernel`."""
        opened: dict[str, object] = {}
        if isinstance(self.kernel, str) and self.noise is None and not has_noise(self._prior_kernel()):
            opened["noise"] = "auto"
        if isinstance(self.kernel, str) and is_auto(self.trend):
            opened["trend"] = "constant"
        return opened

    def _not_sought(self, criterion: Criterion, kernel: Kernel, noise: object = None) -> list[str]:
        """Return what a search leaves out, without having been told to, because the kernel is an object."""
        if isinstance(self.kernel, str) or self.optimizer is None:
            return []
        left_out = {
            "noise": self.noise is None and noise is None and is_auto(self.alpha) and not has_noise(kernel),
            "trend": is_auto(self.trend) and not self.normalize_y,
            "amplitude": with_amplitudes(kernel, needed=criterion.sees_scale) != kernel,
        }
        return [name for name, is_left_out in left_out.items() if is_left_out]

    def _trend(self) -> Trend:
        if is_auto(self.trend):
            return "constant" if isinstance(self.kernel, str) else None
        if self.trend is not None and not callable(self.trend) and not isinstance(self.trend, str):
            raise ValueError(
                'trend: expected "auto", "constant", "linear", "quadratic", a function of points or None, '
                f"got {type(self.trend).__name__}; numbers at the training points would say nothing of others"
            )
        return self.trend

    def _require_mean_may_be_given(self, X: object) -> None:
        """Raise for fits that know no mean."""
        if self.likelihood is not None:
            raise ValueError("mean: is of normal noise; with a likelihood, the trend may be a function of the points")
        if self.hyperparameters == "sample":
            raise ValueError('mean: expected None with hyperparameters="sample"; subtract it from y')
        if is_of_rows(X):
            raise ValueError("mean: expected None for rows that are read in blocks; subtract it from y, or give arrays")

    def _require_noise_once(self, noise: object) -> None:
        """Raise if noise variances are given to `fit` and as a parameter."""
        if noise is None:
            return
        if self.noise is not None:
            raise ValueError(
                f"noise: given to fit and as the parameter noise={self.noise!r:.60}; expected one of them: with noise=None, "
                "fit takes the variances of its rows, and a WhiteKernel in the kernel finds one that is added to them"
            )
        if isinstance(noise, str):
            raise ValueError(f"noise: fit expects variances, got {noise!r}; the parameter noise={noise!r} finds them")

    def _require_no_outliers_told(self) -> None:
        """Raise if outliers are given for rows with weights."""
        if self.outliers is not None and not isinstance(self.outliers, str):
            raise ValueError(
                f'outliers: expected "auto" or None for rows with a sample_weight, got {self.outliers!r:.60}; rows that are '
                "wrong may have a small weight, or none"
            )

    def _variances(self, n: int, noise: ArrayLike | None = None) -> tuple[float | Vector, bool]:
        """Return the known variances, `alpha` plus noise, and whether a noise variance is to be estimated as well.

        The noise is the parameter, or was given to `fit`.
        """
        unknown = noise is None and ("noise" in self.opened_by_kernel() or isinstance(self.noise, str))
        known: float | Vector = 0.0
        for name, value in (("alpha", self.alpha), ("noise", self.noise if noise is None else noise)):
            if is_auto(value) or (name == "noise" and value is None):
                continue
            known = known + variances(name, value, n)
        return known, unknown

    def _learnt_once(
        self,
        kernel: Kernel,
        X: Vector,
        targets: Vector,
        known: float | Vector,
        weights: Vector | None,
        groups: Indices | None,
        *,
        finds_noise: bool,
    ) -> LearntOnce | None:
        """Return the rows that are learnt from if a noise is found; None if that is all."""
        if self.optimizer is None or not (finds_noise or kernel_finds_noise(kernel)):
            return None
        rows = X if np.ndim(known) == 0 else np.column_stack([X, known])  # rows of other variances are other measurements
        rows = rows if weights is None else np.column_stack([rows, weights])
        return learnt_once(rows, targets, groups)

    def _check(self, y: Vector) -> None:
        require(self, _ALLOWED)
        targets = 1 if y.ndim == 1 else y.shape[1]
        if self.n_targets is not None and targets != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. "
                f"Got {targets} != {self.n_targets}."
            )
        require_squares(y)

    def _select(
        self,
        criterion: Criterion,
        kernel: Kernel,
        plan: Plan,
        data: ProcessData,
    ) -> Selection:
        """Return the result of the search, or with ``optimizer=None`` the kernel as it is."""
        X, targets = data.X, data.targets
        if self.optimizer is None:
            return _as_it_is(criterion, kernel, data, self.alpha, self.feature_names())
        with watched(self, self.verbose, self.max_evaluations) as tell:
            return choose(
                criterion,
                kernel,
                X,
                targets,
                noise=data.known,
                finds_noise=data.finds_noise,
                jitter=None if isinstance(self.alpha, str) else 0.0,
                trend=data.trend,
                sample_weight=data.weights,
                groups=data.groups,
                names=self.feature_names(),
                optimizer={"fmin_l_bfgs_b": "l-bfgs-b"}.get(str(self.optimizer), self.optimizer),
                n_restarts=self.n_restarts_optimizer,
                random_state=self.random_state,
                shrinkage=self.shrinkage,
                approximation=plan.search,
                budget=Budget(self.max_evaluations, np.inf if self.max_seconds is None else self.max_seconds, tell),
            )

    def _treats_outliers(self, data: ProcessData, selection: Selection) -> bool:
        """Tell whether outliers are looked for, see the parameter `outliers`."""
        searched = data.finds_noise and self.optimizer is not None and selection.ended == "converged"
        enough = len(data.X) >= LEAST_POINTS and data.targets.shape[1] == 1 and data.weights is None
        return self.outliers is not None and searched and enough

    def _singular(self, kernel: Kernel, error: Exception) -> np.linalg.LinAlgError:
        shown = self.kernel if isinstance(self.kernel, sk.Kernel) else kernel
        return np.linalg.LinAlgError(
            f"The kernel, {shown}, is not returning a positive definite matrix. Try gradually increasing the 'alpha' parameter "
            f"of your GaussianProcessRegressor estimator. Also: {error}"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def _numbers_of(values: float | Vector, rows: Indices) -> float | Vector:
    """Return one number, or those of some rows."""
    return values if np.ndim(values) == 0 else np.asarray(values)[rows]


def _has_folds_of_rows(criterion: Criterion) -> bool:
    """Tell whether a criterion has a fold for each of the rows that `fit` is given, which tells what copies are."""
    folds: Any = getattr(criterion, "folds", None)
    test: Any = getattr(criterion, "test", None)
    if np.ndim(test):
        return True
    return is_splits(folds) or (not hasattr(folds, "split") and np.ndim(folds) == 1)


def _of_own_scales(criterion: Criterion) -> Criterion:
    """Return a likelihood with a scale for each output in place of one that all share."""
    assert isinstance(criterion, Likelihood)
    return replace(criterion, scale="each")


def _as_it_is(criterion: Criterion, kernel: Kernel, given: ProcessData, alpha: object, names: list[str] | None) -> Selection:
    """Return the selection for ``optimizer=None``: the kernel without a search, its "auto" parameters set from the data."""
    X, known, unknown = given.X, given.known, given.finds_noise
    data = Data(X, given.targets, given.weights, names)
    resolved = kernel.resolve(data).on_points(X)[0]
    noise = float(np.mean(data.proposal("noise").start)) if unknown else np.nan
    noiseless = isinstance(alpha, str) and not unknown and not np.any(known)
    jitter = least_jitter(len(X), float(np.mean(resolved.diag(X[:1000])))) if noiseless else 0.0
    return Selection(resolved, noise, jitter, criterion, float("nan"))

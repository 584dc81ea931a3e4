from collections.abc import Callable
from typing import Any, Literal, NotRequired, Self, TypedDict, type_check_only

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Neighbours, seed, terms, inducing points, landmarks, whether rows are in order, and features (column, scale, period).
_Neighbors = tuple[int, int, list[int], int, list[float], bool, list[tuple[int, float, float]]]

def version() -> str: ...
def compiler() -> str: ...
def eigen_version() -> str: ...
def openmp_version() -> str: ...
def isa() -> str: ...
def isa_levels() -> list[str]: ...
def isa_compiled() -> list[str]: ...
def num_threads() -> int: ...
def set_num_threads(arg0: int, /) -> None: ...
def available_memory() -> int: ...
def columns_at_a_time(n: int) -> int: ...
def tile_product_rate(single: bool = False) -> float: ...

class _Cholesky:
    def __init__(self, L: ArrayLike) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[np.floating]: ...
    @property
    def nbytes(self) -> int: ...
    def solve(self, b: ArrayLike) -> NDArray[np.float64]: ...
    def solve_lower(self, b: ArrayLike) -> NDArray[np.float64]: ...
    def inverse_quadratic(self, b: ArrayLike) -> float | NDArray[np.float64]: ...
    def logdet(self) -> float: ...
    def inverse(self) -> NDArray[np.float64]: ...
    def inverse_diagonal(self) -> NDArray[np.float64]: ...
    def lower(self) -> NDArray[np.float64]: ...
    def sandwich(self, g: ArrayLike) -> NDArray[np.float64]: ...
    def append(self, a: ArrayLike, alpha: float) -> None: ...
    def remove(self, i: int) -> None: ...

class CholeskyFloat32(_Cholesky): ...
class CholeskyFloat64(_Cholesky): ...

def cholesky(A: ArrayLike, noise: ArrayLike) -> CholeskyFloat32 | CholeskyFloat64: ...

class Kernel:
    @property
    def theta(self) -> list[float]: ...
    def __add__(self, other: Self, /) -> Kernel: ...
    def __mul__(self, other: Self, /) -> Kernel: ...
    def __rmul__(self, factor: float, /) -> Kernel: ...
    def gram(self, X: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]: ...
    def cross_gram(self, X: ArrayLike, Z: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]: ...
    def diagonal(self, X: ArrayLike) -> NDArray[np.float64]: ...
    @property
    def json(self) -> str | None: ...
    @property
    def adjustable(self) -> bool: ...
    def noise(self, X: ArrayLike) -> NDArray[np.float64]: ...
    def multiply(self, X: ArrayLike, Z: ArrayLike, V: ArrayLike) -> NDArray[np.float64]: ...
    def pullback(self, X: ArrayLike, W: ArrayLike, Z: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def pullback_points(self, X: ArrayLike, W: ArrayLike, Z: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def cholesky(self, X: ArrayLike, noise: ArrayLike) -> CholeskyFloat32 | CholeskyFloat64: ...

def rbf(length_scale: list[float]) -> Kernel: ...
def exponential(length_scale: list[float]) -> Kernel: ...
def matern(nu: float, length_scale: list[float]) -> Kernel: ...
def rational_quadratic(alpha: float, length_scale: list[float]) -> Kernel: ...
def periodic(length_scale: float, period: list[float]) -> Kernel: ...
def product_matern(nu: float, length_scale: list[float]) -> Kernel: ...
def cosine(period: list[float]) -> Kernel: ...
def wendland(smoothness: int, length_scale: list[float]) -> Kernel: ...
def spectral_mixture(weights: list[float], length_scales: list[list[float]], periods: list[list[float]]) -> Kernel: ...
def dot_product(sigma: float, length_scale: list[float]) -> Kernel: ...
def polynomial(offset: float, degree: int, length_scale: list[float]) -> Kernel: ...
def sigmoid(offset: float, length_scale: list[float]) -> Kernel: ...
def radial_pair(length_scale: list[float]) -> Kernel: ...
def quadratic_form(B: list[float], rows: int) -> Kernel: ...
def arc_cosine(order: int, offset: float, length_scale: list[float]) -> Kernel: ...
def brownian() -> Kernel: ...
def constant(value: float) -> Kernel: ...
def white(noise: float) -> Kernel: ...
def noise(level: float, variances: Callable[..., ArrayLike]) -> Kernel: ...
def precomputed(K: ArrayLike) -> Kernel: ...
def function(
    value: Callable[..., ArrayLike],
    pullback: Callable[..., ArrayLike | None],
    theta: list[float],
    name: str,
    diagonal: Callable[..., ArrayLike] | None = None,
) -> Kernel: ...
def compose(outer: Kernel, inner: Kernel) -> Kernel: ...
def exp(kernel: Kernel) -> Kernel: ...
def pow(kernel: Kernel, exponent: float) -> Kernel: ...  # noqa: A001
def series(coefficients: list[float], kernel: Kernel) -> Kernel: ...
def on(kernel: Kernel, columns: list[int]) -> Kernel: ...
def normalize(kernel: Kernel) -> Kernel: ...
def warp(kernel: Kernel, function: Callable[..., ArrayLike], derivative: Callable[..., ArrayLike] | None) -> Kernel: ...
def transform(
    kernel: Kernel, outputs: int, phi: Callable[..., ArrayLike], derivative: Callable[..., ArrayLike] | None
) -> Kernel: ...
def project(kernel: Kernel, B: list[float], outputs: int) -> Kernel: ...

class Criterion:
    @property
    def sees(self) -> Literal["products", "diagonal", "blocks"]: ...
    @property
    def request(self) -> dict[str, bool]: ...  # what of a fit it depends on

class Workspace:
    def neighbors(self, left_out: bool = ...) -> NDArray[np.int32] | None: ...
    def products(self) -> NDArray[np.float64] | None: ...
    def landmarks(self) -> NDArray[np.float64] | None: ...

class NystromSums:  # made of nothing, or of the parts that are its attributes
    def __init__(self, *state: object) -> None: ...
    def add(self, other: NystromSums) -> None: ...
    def subtract(self, other: NystromSums) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def missing(self) -> float: ...
    @property
    def log_noise(self) -> float: ...
    @property
    def moments(self) -> NDArray[np.float64]: ...  # D'N^-1 D, all entries one after the other
    @property
    def products(self) -> NDArray[np.float64]: ...
    @property
    def squares(self) -> NDArray[np.float64]: ...
    @property
    def trend(self) -> NDArray[np.float64]: ...

class NystromPartialSums:
    def __init__(self, *state: object) -> None: ...
    def add(self, other: NystromPartialSums) -> None: ...
    @property
    def products(self) -> NDArray[np.float64]: ...  # all entries one after the other, as the next ones
    @property
    def moments(self) -> NDArray[np.float64]: ...
    @property
    def missing(self) -> NDArray[np.float64]: ...

class NystromBlocks:
    @staticmethod
    def begin(kernel: Kernel, landmarks: ArrayLike, trend: int) -> NystromBlocks: ...
    def add(self, X: ArrayLike, y: ArrayLike, noise: ArrayLike, trend: ArrayLike) -> NystromSums: ...
    def features(self, X: ArrayLike, count: int) -> NDArray[np.float64]: ...
    def solve(self, sums: NystromSums) -> None: ...
    @property
    def log_det(self) -> float: ...
    @property
    def log_det_trend(self) -> float: ...
    @property
    def squares(self) -> NDArray[np.float64]: ...
    @property
    def trend_coefficients(self) -> NDArray[np.float64]: ...  # (q, outputs), by columns
    def show(
        self, X: ArrayLike, y: ArrayLike, noise: ArrayLike, trend: ArrayLike, diagonal: bool, missing: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...  # None for what is not asked for
    def set_totals(self, squares: list[float], log_det: float, log_det_trend: float, missing: float) -> None: ...
    def add_partials(
        self,
        X: ArrayLike,
        y: ArrayLike,
        noise: ArrayLike,
        trend: ArrayLike,
        c: ArrayLike | None,
        precision: ArrayLike | None,
        missing: ArrayLike | None,
    ) -> NystromPartialSums: ...
    def solve_partials(self, sums: NystromPartialSums) -> None: ...
    def pull(
        self,
        X: ArrayLike,
        y: ArrayLike,
        noise: ArrayLike,
        trend: ArrayLike,
        c: ArrayLike | None,
        precision: ArrayLike | None,
        missing: ArrayLike | None,
        of_noise: ArrayLike | None,
        parameters: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...  # the derivatives in the hyperparameters, and in N_i
    def pull_landmarks(self, parameters: int) -> NDArray[np.float64]: ...
    def predict(
        self, X: ArrayLike, trend: ArrayLike, outputs: int, variances: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

def solve_by_conjugate_gradients(
    kernel: Kernel,
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    noise: NDArray[np.float64],
    trend: object,
    count: int,
    approximation: tuple[Literal["landmarks"], int, int, int, bool, list[float]],
    tolerance: float,
    most: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], int, float]: ...
def features_of(kernel: Kernel, X: ArrayLike) -> list[tuple[int, float, float]]: ...
def in_features(X: ArrayLike, features: list[tuple[int, float, float]]) -> NDArray[np.float64]: ...
def choose_landmarks(
    kernel: Kernel, X: ArrayLike, approximation: tuple[Literal["landmarks"], int, int, int, bool, list[float]]
) -> NDArray[np.float64]: ...

@type_check_only
class Evaluation(TypedDict):
    value: float
    scale: float
    effective_dof: float
    log_det: float
    log_det_trend: float
    squares: NDArray[np.float64]  # y'c of each output
    beta: NDArray[np.float64]  # (q,) or (q, m)
    dual_coef: NDArray[np.float64] | None  # (n,) or (n, m); None where an approximation does not need it
    noise: NDArray[np.float64]  # (n,)
    precision: NDArray[np.float64]  # (n,); None for a criterion that does not see the diagonal
    gradient: NDArray[np.float64]  # by the parameters of the kernel; None if it was not asked for
    noise_gradient: NDArray[np.float64]  # (n,); None if it was not asked for
    points_gradient: NDArray[np.float64] | None  # (n, d); None if it was not asked for
    landmarks_gradient: NDArray[np.float64] | None  # (m, d); None if it was not asked for, or if there are no landmarks

def likelihood(restricted: bool, scale: str) -> Criterion: ...
def leave_out(
    loss: str,
    width: float,
    function: Callable[..., ArrayLike] | None,
    sum: bool,  # noqa: A002
    profiled: bool,
    groups: list[int] = ...,
    count: int = ...,
) -> Criterion: ...
def joint_log_density(groups: list[int], count: int) -> Criterion: ...
def generalized_cross_validation() -> Criterion: ...
def unbiased_risk(variance: list[float]) -> Criterion: ...
def linear(
    squares: list[float],
    log_det: float,
    residual: ArrayLike | None,
    variance: ArrayLike | None,
    groups: list[int] = ...,
    count: int = ...,
    products: ArrayLike | None = ...,
) -> Criterion: ...
def apply(criterion: Criterion, rows: int, fit: dict[str, Any]) -> dict[str, Any]: ...
def evaluate(
    criterion: Criterion,
    kernel: Kernel,
    X: ArrayLike,
    y: ArrayLike,
    noise: ArrayLike,
    trend: ArrayLike,
    weights: ArrayLike | None,
    gradient: bool,
    workspace: Workspace,
    approximation: _Neighbors | tuple[str, int, int, int, bool, list[float]] | None = ...,
    points: bool = ...,
) -> Evaluation: ...

@type_check_only
class Derivatives(TypedDict):
    value: float
    gradient: NDArray[np.float64]  # by the parameters of the kernel
    noise_gradient: NDArray[np.float64]  # (n,)
    information: NDArray[np.float64] | None  # (p + 1, p + 1), the noise last; None without an unknown noise

def differentiate(
    criterion: Criterion,
    X: ArrayLike,
    y: ArrayLike,
    noise: ArrayLike,
    trend: ArrayLike,
    weights: ArrayLike | None,
    workspace: Workspace,
    unknown_noise: ArrayLike | None = ...,
) -> Derivatives: ...

@type_check_only
class AnyPosterior:  # what all have; there is no such class
    def mean(self, X: ArrayLike) -> NDArray[np.float64]: ...
    def variance(self, X: ArrayLike) -> NDArray[np.float64]: ...
    def covariance(self, X: ArrayLike) -> NDArray[np.float64]: ...
    def mean_gradient(self, X: ArrayLike) -> NDArray[np.float64]: ...
    def variance_gradient(self, X: ArrayLike) -> NDArray[np.float64]: ...
    def leave_one_out(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    def value(self, criterion: Criterion) -> float: ...
    def append(self, X: NDArray[np.float64], y: NDArray[np.float64], noise: NDArray[np.float64]) -> None: ...
    def remove(self, i: int) -> None: ...
    def set_kernel(self, kernel: Kernel) -> None: ...
    @property
    def X(self) -> NDArray[np.float64]: ...  # noqa: N802
    @property
    def y(self) -> NDArray[np.float64]: ...
    @property
    def noise(self) -> NDArray[np.float64]: ...
    @property
    def beta(self) -> NDArray[np.float64]: ...

class Posterior(AnyPosterior):
    @staticmethod
    def condition(
        kernel: Kernel,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        noise: NDArray[np.float64],
        trend: object,
        count: int,
    ) -> Posterior: ...
    @staticmethod
    def restore(
        kernel: Kernel,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        noise: NDArray[np.float64],
        trend: object,
        count: int,
        weights: NDArray[np.float64],
        beta: NDArray[np.float64],
        factor: NDArray[np.float64],
    ) -> Posterior: ...
    @staticmethod
    def latent(
        kernel: Kernel,
        X: NDArray[np.float64],
        weights: NDArray[np.float64],
        factor: CholeskyFloat32 | CholeskyFloat64,
        root: list[float],
    ) -> Posterior: ...
    @staticmethod
    def of_root(
        kernel: Kernel, X: NDArray[np.float64], weights: NDArray[np.float64], root: NDArray[np.float64]
    ) -> Posterior: ...
    def lower(self) -> NDArray[np.float64]: ...
    @property
    def log_det(self) -> float: ...
    @property
    def log_det_trend(self) -> float: ...
    @property
    def basis(self) -> NDArray[np.float64]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...

class VecchiaPosterior(AnyPosterior):
    @staticmethod
    def condition(
        kernel: Kernel,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        noise: NDArray[np.float64],
        trend: object,
        count: int,
        approximation: _Neighbors,
        predicting: int,
    ) -> VecchiaPosterior: ...
    @staticmethod
    def restore(
        kernel: Kernel,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        noise: NDArray[np.float64],
        trend: object,
        count: int,
        approximation: _Neighbors,
        predicting: int,
        coefficients: NDArray[np.float64],
        triangle: list[float],
    ) -> VecchiaPosterior: ...
    def predict(self, X: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @property
    def coefficients(self) -> NDArray[np.float64]: ...
    @property
    def landmarks(self) -> NDArray[np.float64]: ...
    @property
    def triangle(self) -> list[float]: ...

class NystromPosterior(AnyPosterior):
    @staticmethod
    def condition(
        kernel: Kernel,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        noise: NDArray[np.float64],
        trend: object,
        count: int,
        approximation: tuple[str, int, int, int, bool, list[float]],
    ) -> NystromPosterior: ...
    @staticmethod
    def restore(
        kernel: Kernel,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        noise: NDArray[np.float64],
        trend: object,
        count: int,
        approximation: tuple[str, int, int, int, bool, list[float]],
        sums: NystromSums,
    ) -> NystromPosterior: ...
    def predict(self, X: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @property
    def landmarks(self) -> NDArray[np.float64]: ...
    @property
    def landmark_weights(self) -> NDArray[np.float64]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def squares(self) -> list[float]: ...
    @property
    def log_det(self) -> float: ...
    @property
    def log_det_trend(self) -> float: ...
    @property
    def sums(self) -> NystromSums: ...

class Statistics:
    def __init__(self, X: ArrayLike, y: ArrayLike, weights: list[float]) -> None: ...
    @property
    def ranges(self) -> NDArray[np.float64]: ...
    @property
    def spacings(self) -> NDArray[np.float64]: ...
    @property
    def spreads(self) -> NDArray[np.float64]: ...
    @property
    def sizes(self) -> NDArray[np.float64]: ...
    @property
    def relevance(self) -> NDArray[np.float64]: ...
    @property
    def variance(self) -> float: ...
    def propose(self, rule: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...

@type_check_only
class LeastSquares(TypedDict):
    rank: int
    leverage: NDArray[np.float64]  # (n,)
    coefficients: NDArray[np.float64]  # (d, m)
    residuals: NDArray[np.float64]  # (n, m)
    left_out: NDArray[np.float64]  # (n, m)
    press: NDArray[np.float64]  # (m,)

def least_squares(A: ArrayLike, b: ArrayLike, ridge: float, free: ArrayLike) -> LeastSquares: ...

@type_check_only
class ChoiceOfRule(TypedDict):
    outcome: str
    alpha: float
    norm: float
    wanted: float
    least: float

class RegularizationPath:
    def __init__(self, state: NDArray[np.float64]) -> None: ...
    @property
    def points(self) -> int: ...
    @property
    def targets(self) -> int: ...
    @property
    def trend_columns(self) -> int: ...
    @property
    def largest_alpha(self) -> float: ...
    @property
    def eigenvalues(self) -> NDArray[np.float64]: ...
    def default_alphas(self) -> NDArray[np.float64]: ...
    def values(self, alphas: ArrayLike, leave_out: bool) -> dict[str, NDArray[np.float64]]: ...
    def best(self, rule: str, alphas: ArrayLike, curve: ArrayLike, tau: float) -> ChoiceOfRule: ...
    def dual_coef(self, alpha: float) -> NDArray[np.float64]: ...
    def leave_groups_out(
        self, groups: NDArray[np.int64], count: int, log_density: bool, alphas: ArrayLike
    ) -> NDArray[np.float64]: ...
    def target(self, k: int) -> RegularizationPath: ...

def landmark_path(
    kernel: Kernel,
    approximation: tuple[object, ...],
    X: ArrayLike,
    y: ArrayLike,
    trend: ArrayLike,
    weights: ArrayLike | None,
    sigma: float,
    mean_of_errors: bool,
) -> tuple[RegularizationPath, NDArray[np.float64]]: ...
def path_with_rows(
    path: RegularizationPath,
    kernel: Kernel,
    landmarks: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    trend: ArrayLike,
    weights: ArrayLike | None,
) -> RegularizationPath: ...
def path_of_sums(
    blocks: NystromBlocks,
    sums: NystromSums,
    weights: float,
    inverse_weights: float,
    sigma: float,
    mean_of_errors: bool,
    bound: bool,
) -> RegularizationPath: ...
def left_out_of_block(
    path: RegularizationPath,
    blocks: NystromBlocks,
    X: ArrayLike,
    y: ArrayLike,
    trend: ArrayLike,
    weights: ArrayLike | None,
    alphas: list[float],
) -> NDArray[np.float64]: ...
def left_out_along_path(path: RegularizationPath, alphas: list[float]) -> NDArray[np.float64]: ...
def landmark_coef(path: RegularizationPath, alpha: float, landmarks: int) -> NDArray[np.float64]: ...
def path(
    matrix: ArrayLike,
    features: bool,
    y: ArrayLike,
    trend: ArrayLike,
    weights: ArrayLike | None,
    sigma: float,
    mean_of_errors: bool,
    rounding: float,
    decompose: Callable[..., None],
) -> RegularizationPath | tuple[float, float]: ...

@type_check_only
class Trial(TypedDict):
    x: NDArray[np.float64]
    value: float  # that is minimized
    criterion: float
    gradient: NDArray[np.float64]
    information: NDArray[np.float64]

@type_check_only
class Found(TypedDict):
    x: NDArray[np.float64]
    theta: NDArray[np.float64]
    amplitude: float
    noise: float
    jitter: float
    scale: float
    criterion: float
    profiled: bool
    noise_at_bound: bool
    spread: float
    evidence: float
    gradient: NDArray[np.float64]
    information: NDArray[np.float64] | None  # None if there was nothing to find
    free: list[int]
    ended: str
    evaluations: int
    evaluations_of_some: int
    of_starts: NDArray[np.float64]
    interrupt: NotRequired[BaseException | None]  # of `run`

@type_check_only
class Optimum(Trial):
    ended: str
    interrupt: BaseException | None
    evaluations: int
    evaluations_of_some: int
    of_starts: NDArray[np.float64]
    curvature: NDArray[np.float64]

class Search:
    def __init__(
        self,
        kernel: Kernel,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        trend: NDArray[np.float64],
        weights: list[float],
        noise: dict[str, object],
        criterion: Callable[[NDArray[np.intp]], Criterion],
        scale_free: Callable[[NDArray[np.intp]], Criterion] | None,
        same_for_any_points: bool,
        space: dict[str, object],
        make: Callable[[list[float]], Kernel] | None,
        prior: Callable[[list[float]], tuple[float, list[float]]] | None,
        options: dict[str, object],
    ) -> None: ...
    @property
    def starts(self) -> list[NDArray[np.float64]]: ...
    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def evaluate(self, x: list[float], order: int) -> Trial: ...
    def finish(self, x: list[float]) -> Found: ...
    def run(self) -> Found: ...

def minimize(
    all: Callable[[NDArray[np.float64], bool], tuple[float, ArrayLike] | tuple[float, ArrayLike, ArrayLike] | None],  # noqa: A002
    some: Callable[[NDArray[np.float64], bool], tuple[float, ArrayLike] | None] | None,
    lower: list[float],
    upper: list[float],
    starts: list[list[float]],
    options: dict[str, object],
) -> Optimum: ...
def starting_points(
    anchors: list[tuple[str, int, int, bool, Statistics]],
    theta: list[float],
    variance: float,
    noise: bool,
    random: int,
    shift: float,
) -> list[NDArray[np.float64]]: ...
def least_jitter(n: int) -> float: ...

most_raises: int

@type_check_only
class SupportFit(TypedDict):
    a: NDArray[np.float64]  # (n,)
    intercept: float
    primal: float
    gap: float
    iterations: int
    rounds: int
    rows: int
    converged: bool
    indefinite: bool

class SupportSolver:
    def __init__(self, kernel: Kernel, X: ArrayLike, megabytes: float) -> None: ...
    def solve(
        self,
        y: ArrayLike,
        bounds: list[float],
        epsilon: float,
        intercept: bool,
        start: list[float],
        tolerance: float,
        iterations: int,
        shrinking: bool,
        working_set: int,
    ) -> SupportFit: ...

def tangents(kernel: Kernel, X: ArrayLike, v: ArrayLike) -> NDArray[np.float64]: ...

class Sequences:
    def __init__(self, tokens: NDArray[np.int32], offsets: NDArray[np.int64]) -> None: ...

def spectrum(
    X: Sequences, Z: Sequences | None, diagonal: bool, length: int, mismatches: int, alphabet: int
) -> NDArray[np.float64]: ...
def subsequences(
    X: Sequences, Z: Sequences | None, diagonal: bool, length: int, decay: float, derivative: bool
) -> NDArray[np.float64]: ...
def log_alignments(
    X: Sequences,
    Z: Sequences | None,
    diagonal: bool,
    beta: float,
    gap_open: float,
    gap_extend: float,
    match: float,
    mismatch: float,
    scores: ArrayLike | None,
    derivative: bool,
) -> NDArray[np.float64]: ...

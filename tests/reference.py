"""What every operation of the core means: slow, obvious NumPy, in double precision.

The tests compare the core with these functions; where they disagree, the core is wrong.
"""

import itertools
from types import SimpleNamespace

import numpy as np
from scipy import integrate, optimize, special, stats


def cholesky(A):
    """Return L with L L' = A, or raise with the first row whose pivot is not positive."""
    A = np.asarray(A, dtype=float)
    n = len(A)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            rest = A[i, j] - L[i, :j] @ L[j, :j]
            if i == j:
                if not rest > 0:
                    raise ArithmeticError(i, rest)
                L[i, i] = np.sqrt(rest)
            else:
                L[i, j] = rest / L[j, j]
    return L


def solve_lower(L, b):
    x = np.array(b, dtype=float)
    for i in range(len(L)):
        x[i] = (x[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def solve(L, b):
    x = solve_lower(L, b)
    for i in reversed(range(len(L))):
        x[i] = (x[i] - L[i + 1 :, i] @ x[i + 1 :]) / L[i, i]
    return x


def logdet(L):
    return 2 * sum(np.log(L[i, i]) for i in range(len(L)))


def inverse(L):
    return solve(L, np.eye(len(L)))


def inverse_diagonal(L):
    return np.diag(inverse(L))


def sandwich(L, g):
    P = inverse(L)
    return P @ np.diag(g) @ P


def append(A, a, alpha):
    return np.block([[A, np.reshape(a, (-1, 1))], [np.reshape(a, (1, -1)), np.full((1, 1), alpha)]])


def remove(A, i):
    return np.delete(np.delete(A, i, axis=0), i, axis=1)


def rbf(length_scale):
    """Return k(x, z) as a function of two points."""
    return lambda x, z, same: np.exp(-0.5 * np.sum(((x - z) / length_scale) ** 2))


def constant(value):
    return lambda x, z, same: value


def white(noise):
    return lambda x, z, same: noise if same else 0.0


def add(a, b):
    return lambda x, z, same: a(x, z, same) + b(x, z, same)


def multiply(a, b):
    return lambda x, z, same: a(x, z, same) * b(x, z, same)


def gram(k, X, Z=None):
    """Return k on all pairs; without Z, a pair of equal indices is a point against itself."""
    X = np.asarray(X, dtype=float)
    others = X if Z is None else np.asarray(Z, dtype=float)
    K = np.empty((len(X), len(others)))
    for i in range(len(X)):
        for j in range(len(others) if Z is not None else i + 1):
            K[i, j] = k(X[i], others[j], Z is None and i == j)
    return K if Z is not None else np.tril(K) + np.tril(K, -1).T


def central_differences(f, t, step=1e-5):
    """Return df/dt_p for each entry of t, f scalar, and an estimate of the error of each."""
    t = np.asarray(t, dtype=float)
    gradient, error = np.empty(len(t)), np.empty(len(t))
    for p in range(len(t)):

        def along(h, p=p):
            moved = t.copy()
            moved[p] += h
            return f(moved)

        narrow = (along(step) - along(-step)) / (2 * step)
        wide = (along(2 * step) - along(-2 * step)) / (4 * step)
        gradient[p] = (4 * narrow - wide) / 3
        error[p] = abs(narrow - wide) + 4 * np.finfo(float).eps * max(abs(along(step)), abs(along(-step)), 1e-300) / step
    return gradient, error


def kernel_ridge(K, y, alpha, weights=None):
    """Return the coefficients c that minimize sum_i w_i (y - K c)_i^2 + alpha c'Kc, by the weighted normal equations."""
    w = np.ones(len(K)) if weights is None else np.asarray(weights, dtype=float)
    used = w > 0
    c = np.zeros_like(np.asarray(y, dtype=float))
    A = K[np.ix_(used, used)] + np.diag(alpha / w[used])
    c[used] = np.linalg.solve(A, np.asarray(y, dtype=float)[used])
    return c


def distance(x, z, length_scale):
    return np.sqrt(np.sum(((x - z) / length_scale) ** 2))


def exponential(length_scale):
    return lambda x, z, same: np.exp(-distance(x, z, length_scale))


def matern32(length_scale):
    return lambda x, z, same: (1 + 3**0.5 * distance(x, z, length_scale)) * np.exp(-(3**0.5) * distance(x, z, length_scale))


def matern52(length_scale):
    def k(x, z, same):  # noqa: ARG001
        a = 5**0.5 * distance(x, z, length_scale)
        return (1 + a + a**2 / 3) * np.exp(-a)

    return k


def rational_quadratic(alpha, length_scale):
    return lambda x, z, same: (1 + distance(x, z, length_scale) ** 2 / (2 * alpha)) ** -alpha


def periodic(length_scale, period):
    return lambda x, z, same: np.exp(-2 * np.sin(np.pi * distance(x, z, period)) ** 2 / length_scale**2)


def related(K, B, d, Y, H, cross, among, h):
    """Return what is known of outputs of covariance B (x) K and noise d, from the matrix of all points and outputs.

    Numbers are in the order of columns of Y: all of the first output, then all of the second.
    """
    n, m = Y.shape
    whole = np.kron(B, K) + np.kron(np.diag(d), np.eye(n))
    y, trend, of_new = Y.T.ravel(), np.kron(np.eye(m), H), np.kron(np.eye(m), h)
    P = np.linalg.inv(whole)
    G = np.linalg.inv(trend.T @ P @ trend)
    beta = G @ trend.T @ P @ y
    r = y - trend @ beta
    without = P - P @ trend @ G @ trend.T @ P
    C = np.kron(B, cross)
    rest = of_new - C @ P @ trend
    covariance = np.kron(B, among) - C @ P @ C.T + rest @ G @ rest.T
    k = len(cross)
    return SimpleNamespace(
        log_likelihood=-0.5 * (r @ P @ r + np.linalg.slogdet(whole)[1] + n * m * np.log(2 * np.pi)),
        mean=(of_new @ beta + C @ P @ r).reshape(m, k).T,
        covariance=covariance.reshape(m, k, m, k).transpose(1, 0, 3, 2),
        residuals=(without @ y / np.diag(without)).reshape(m, n).T,
        variances=(1 / np.diag(without)).reshape(m, n).T,
    )


def exchangeable_levels(m, correlation):
    """Return the kernel matrix of the levels 0, ..., m - 1."""
    return np.array([[1.0 if i == j else correlation for j in range(m)] for i in range(m)])


def grouped_levels(groups, within, between):
    value = lambda i, j: 1.0 if i == j else within if groups[i] == groups[j] else within * between  # noqa: E731
    return np.array([[value(i, j) for j in range(len(groups))] for i in range(len(groups))])


def correlations(B):
    return B / np.sqrt(np.outer(np.diag(B), np.diag(B)))


def ordered_levels(k, gaps):
    """Return the matrix of a kernel of points on a line at the sums of gaps."""
    return gram(k, np.concatenate([[0.0], np.cumsum(gaps)])[:, None])


def polynomial(offset, degree, length_scale):
    return lambda x, z, same: (offset + np.sum(x * z / np.square(length_scale))) ** degree


def power(k, exponent):
    return lambda x, z, same: k(x, z, same) ** exponent


def exp(k):
    return lambda x, z, same: np.exp(k(x, z, same))


def series(coefficients, k):
    return lambda x, z, same: sum(c * k(x, z, same) ** i for i, c in enumerate(coefficients))


def on(k, columns):
    return lambda x, z, same: k(x[columns], z[columns], same)


def product(one_column, length_scale):
    """Return the product over the columns of kernels of one column each."""

    def k(x, z, same):
        scales = np.broadcast_to(length_scale, np.shape(x))
        return np.prod([one_column(scale)(x[i : i + 1], z[i : i + 1], same) for i, scale in enumerate(scales)])

    return k


def cosine(period):
    return lambda x, z, same: np.cos(2 * np.pi * np.sum((x - z) / period))


def wendland(smoothness, length_scale):
    def k(x, z, same):  # noqa: ARG001
        r, j = distance(x, z, length_scale), len(x) // 2 + smoothness + 1
        polynomial = [1.0, 1 + (j + 1) * r, 1 + (j + 2) * r + (j + 1) * (j + 3) / 3 * r**2][smoothness]
        return max(1 - r, 0.0) ** (j + smoothness) * polynomial

    return k


def matern(nu, length_scale):
    def k(x, z, same):  # noqa: ARG001
        a = np.sqrt(2 * nu) * distance(x, z, length_scale)
        return 2 ** (1 - nu) / special.gamma(nu) * a**nu * special.kv(nu, a) if a > 0 else 1.0

    return k


def spectral_mixture(weights, length_scale, periodicity):
    parts = [multiply(rbf(scale), cosine(period)) for scale, period in zip(length_scale, periodicity, strict=True)]
    return lambda x, z, same: sum(w * part(x, z, same) for w, part in zip(weights, parts, strict=True))


def sigmoid(offset, length_scale):
    return lambda x, z, same: np.tanh(offset + np.sum(x * z / np.square(length_scale)))


def radial_pair(length_scale):
    def k(x, z, same):  # noqa: ARG001
        x, z = x / length_scale, z / length_scale
        return x @ z + (x @ x) * (z @ z)

    return k


def arc_cosine(order, offset, length_scale):
    def k(x, z, same):  # noqa: ARG001
        x, z = (np.append(p / length_scale, np.sqrt(offset)) for p in (x, z))
        u, v = np.linalg.norm(x), np.linalg.norm(z)
        t = 2 * np.arctan2(np.linalg.norm(x / u - z / v), np.linalg.norm(x / u + z / v))
        rest = np.pi - t
        J = [rest, np.sin(t) + rest * np.cos(t), 3 * np.sin(t) * np.cos(t) + rest * (1 + 2 * np.cos(t) ** 2)][order]
        return (u * v) ** order * J / np.pi

    return k


def brownian():
    return lambda x, z, same: np.prod(np.where(x * z > 0, np.minimum(np.abs(x), np.abs(z)), 0.0))


def quadratic_form(B):
    return lambda x, z, same: (B @ x) @ (B @ z)


def noise(level, variance):
    return lambda x, z, same: level * variance(x) if same else 0.0


def normalize(k):
    return lambda x, z, same: k(x, z, same) / np.sqrt(k(x, x, True) * k(z, z, True))


def warp(k, f):
    return lambda x, z, same: f(x) * k(x, z, same) * f(z)


def transform(k, phi):
    return lambda x, z, same: k(phi(x), phi(z), same)


def averaged(m, x, z):
    """The average of m(s - t) for s in the interval x and t in the interval z, where m may have a kink at zero."""
    if x[1] > x[0]:
        kinks = [end for end in z if x[0] < end < x[1]]
        inner = [*x, *kinks]
        return sum(
            integrate.quad(lambda s: averaged(m, (s, s), z), a, b, epsabs=0, epsrel=1e-11)[0]
            for a, b in itertools.pairwise(sorted(inner))
        ) / (x[1] - x[0])
    if z[1] > z[0]:
        ends = sorted([*z, *([x[0]] if z[0] < x[0] < z[1] else [])])
        parts = (integrate.quad(lambda t: m(x[0] - t), a, b, epsabs=0, epsrel=1e-12)[0] for a, b in itertools.pairwise(ends))
        return sum(parts) / (z[1] - z[0])
    return m(x[0] - z[0])


def slope_covariance(k, x, z, i, j, step):
    """d^2 k / dx_i dz_j by central differences of the fourth order; None for i or j takes no derivative in that argument."""

    def along(f, column):
        if column is None:
            return lambda u: f(u)
        e = step * np.eye(len(x))[column]
        return lambda u: (8 * (f(u + e) - f(u - e)) - f(u + 2 * e) + f(u - 2 * e)) / (12 * step)

    return along(lambda s: along(lambda t: k(s, t), j)(np.asarray(z)), i)(np.asarray(x))


def kumaraswamy(x, a, b, lower, upper):
    """Columns warped by 1 - (1 - u^a)^b in u = (x - lower) / (upper - lower); straight lines continue it from .01 and .99."""
    place = (x - lower) / (upper - lower)
    u = np.minimum(np.maximum(place, 0.01), 0.99)
    slope = a * b * u ** (a - 1) * (1 - u**a) ** (b - 1)
    return lower + (upper - lower) * (1 - (1 - u**a) ** b + slope * (place - u))


def predict_without(K, noise, H, y, left_out):
    """Return mean and covariance of y at the points left out, by a fit of all others: kriging with trend H, from scratch."""
    n = len(K)
    kept = np.setdiff1d(np.arange(n), left_out)
    A = K[np.ix_(kept, kept)] + np.diag(noise[kept])
    P = np.linalg.inv(A)
    k = K[np.ix_(kept, left_out)]
    covariance = K[np.ix_(left_out, left_out)] + np.diag(noise[left_out]) - k.T @ P @ k
    if not H.shape[1]:
        return k.T @ P @ y[kept], covariance
    G = np.linalg.inv(H[kept].T @ P @ H[kept])
    beta = G @ H[kept].T @ P @ y[kept]
    R = H[left_out].T - H[kept].T @ P @ k
    return H[left_out] @ beta + k.T @ P @ (y[kept] - H[kept] @ beta), covariance + R.T @ G @ R


def smoother(K, noise, H):
    """Return A with fitted values A y: each column is the fit of a unit vector."""
    P = np.linalg.inv(K + np.diag(noise))
    if H.shape[1]:
        P = P - P @ H @ np.linalg.inv(H.T @ P @ H) @ H.T @ P
    return np.eye(len(K)) - noise[:, None] * P


def criterion(name, K, noise, H, y, folds=None, sigma=None, smoothing=None, scale="shared"):
    """Return the value of a criterion by refitting, or by its definition as a density; K has no noise, y is (n, m)."""
    n, m = y.shape
    C = K + np.diag(noise)
    if "lml" in name or "reml" in name:
        q = H.shape[1] if "reml" in name else 0
        _, log_det = np.linalg.slogdet(C)
        beta = np.linalg.lstsq(*(np.linalg.solve(np.linalg.cholesky(C), B) for B in (H, y)), rcond=None)[0]
        rest = y - H @ beta
        squares = np.sum(rest * np.linalg.solve(C, rest), axis=0)
        value = -0.5 * m * (log_det + (n - q) * np.log(2 * np.pi))
        if q:
            value -= 0.5 * m * (np.linalg.slogdet(H.T @ np.linalg.solve(C, H))[1] - np.linalg.slogdet(H.T @ H)[1])
        if "profiled" not in name:
            return value - 0.5 * squares.sum()
        variances = squares / (n - q) if scale == "each" else np.full(m, squares.mean() / (n - q))
        return value - 0.5 * (n - q) * np.sum(np.log(variances) + 1)
    if name == "gcv":
        A = smoother(K, noise, H)
        rest = y - A @ y
        trace = np.trace(np.eye(n) - A)
        units = noise / noise.mean()
        return np.mean([n * np.sum(r**2 / units) / trace**2 for r in rest.T])
    if name == "risk":
        A, S = smoother(K, noise, H), np.broadcast_to(np.square(sigma), (n,))
        return np.sum((y - A @ y) ** 2) + m * np.sum(2 * S * np.diag(A) - S)
    if name == "profiled_loo_log_density":
        parts = [predict_without(K, noise, H, y, np.array([i])) for i in range(n)]
        r = y - np.array([mean[0] for mean, _ in parts])
        v = np.array([covariance[0, 0] for _, covariance in parts])[:, None]
        return np.sum(stats.norm.logpdf(r, scale=np.sqrt(v * np.mean(r**2 / v))))
    if name == "holdout":
        mean, _ = predict_without(K, noise, H, y, folds)
        return np.mean((y[folds] - mean) ** 2)
    groups = [np.array([i]) for i in range(n)] if folds is None else [np.flatnonzero(folds == f) for f in np.unique(folds)]
    total = 0.0
    for left_out in groups:
        mean, covariance = predict_without(K, noise, H, y, left_out)
        r = y[left_out] - mean
        if name in ("loo", "kfold"):
            total += np.sum(r**2) / (n * m)
        elif name in ("loo_log_density", "kfold_log_density"):
            total += sum(stats.multivariate_normal.logpdf(column, cov=covariance) for column in r.T)
        elif name == "loo_crps":
            s = np.sqrt(covariance[0, 0])
            total += sum(crps(z, s) for z in r[0]) / (n * m)
        else:
            total += np.sum(np.sqrt(r**2 + smoothing**2)) / (n * m)
    return total


def crps(r, s):
    """Return the integral of (Phi(t / s) - [t > r])^2 over t."""
    square = lambda t, above: (special.ndtr(t / s) - above) ** 2  # noqa: E731
    below, above = ((-np.inf, r), 0), ((r, np.inf), 1)
    return sum(integrate.quad(square, *ends, args=(side,), epsabs=1e-13, epsrel=1e-13)[0] for ends, side in (below, above))


def kriging(K, cross, own, H, h, y):
    """Return mean and covariance of a process at other points by the kriging system: weights w with H'w = h, of least variance.

    K (n, n) with all noise, cross (n, m), own (m, m), the trend's functions H (n, q) and h (m, q), y (n, outputs).
    """
    n, q = H.shape
    system = np.block([[K, H], [H.T, np.zeros((q, q))]])
    weights = np.linalg.solve(system, np.vstack([cross, h.T]))
    w, multipliers = weights[:n], weights[n:]
    covariance = own - w.T @ cross - cross.T @ w + w.T @ K @ w
    return w.T @ y, (covariance + covariance.T) / 2, multipliers


def gp_classifier(K, y, log_density, nodes=14):
    """Return log evidence, posterior mean and covariance of the latent values f of N(0, K), given labels y = +-1.

    The integral over whitened values v, f = F v with K = F F', by a product Gauss-Hermite rule: nodes^n of them, so for few
    points, centred at the mode and scaled by the curvature there, both of which need not be exact. Errors of the log evidence
    seen, with 14 / 20 nodes: for variances of 1, 1e-9 / 1e-12; of 4, 3e-6 / 3e-8; of 25, 1e-3 / 1e-4.
    """
    e, Q = np.linalg.eigh(K)
    F = Q * np.sqrt(np.maximum(e, 0))
    n = len(K)
    log_joint = lambda v: np.sum(log_density(y * (v @ F.T)), axis=-1) - 0.5 * np.sum(v * v, axis=-1)  # noqa: E731
    mode = optimize.minimize(lambda v: -log_joint(v), np.zeros(n), method="BFGS").x
    s, h = y * (F @ mode), 1e-3
    curvature = (2 * log_density(s) - log_density(s + h) - log_density(s - h)) / h**2
    C = np.linalg.cholesky(np.linalg.inv(np.eye(n) + F.T @ (curvature[:, None] * F)))
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    others = np.array(list(itertools.product(range(nodes), repeat=n - 1)), dtype=int).reshape(-1, n - 1)
    top, total, first, second = log_joint(mode), 0.0, np.zeros(n), np.zeros((n, n))
    for i in range(nodes):
        u = np.column_stack([np.full(len(others), x[i]), x[others]])
        v = mode + u @ C.T
        mass = w[i] * np.prod(w[others], axis=1) * np.exp(log_joint(v) - top + 0.5 * np.sum(u * u, axis=1))
        f = v @ F.T
        total += mass.sum()
        first += mass @ f
        second += f.T @ (mass[:, None] * f)
    mean = first / total
    log_evidence = top + np.log(total * np.prod(np.diag(C))) - n / 2 * np.log(2 * np.pi)
    return log_evidence, mean, second / total - np.outer(mean, mean)


def gp_classifier_without(K, y, log_density, nodes=14):
    """Return the probability of each label, given all others: a ratio of evidences."""
    whole, n = gp_classifier(K, y, log_density, nodes)[0], len(K)
    rest = [np.delete(np.arange(n), i) for i in range(n)]
    return np.exp([whole - gp_classifier(K[np.ix_(r, r)], y[r], log_density, nodes)[0] if n > 1 else whole for r in rest])


def support_vectors(K, y, C, epsilon, intercept=True):
    """Return a, b that minimize a'Ka / 2 + sum_i C_i max(|y - K a - b|_i - epsilon, 0).

    Bounds that no coefficient comes near may as well be lower: so they are raised only as far as needed.
    """
    C = np.broadcast_to(np.asarray(C, dtype=float), (len(K),))
    most = np.abs(y).max() / np.diag(K).min()
    while True:
        bound = np.minimum(C, most)
        a, b = boxed(K, y, -bound, bound, epsilon, intercept)
        if most >= C.max() or np.abs(a).max() < 0.1 * most:
            return a, b
        most *= 10.0


def boxed(K, y, lower, upper, epsilon, intercept, total=0.0):
    """Minimize a'Ka / 2 - a'y + epsilon |a|_1 for lower <= a <= upper, and sum a = total if there is an intercept.

    An interior point method in x: a = S x - s, 0 <= x <= 1.
    """
    used = np.flatnonzero(upper > lower)
    low, high = lower[used], upper[used]
    # Both parts of a; without epsilon, nothing keeps them apart.
    S, s = (np.hstack([np.diag(high), np.diag(low)]), 0.0 * low) if epsilon else (np.diag(high - low), -low)
    most = max(high.max(), -low.min())
    n, K_used = S.shape[1], K[np.ix_(used, used)]
    H, g = S.T @ K_used @ S, epsilon * np.abs(S).sum(axis=0) - S.T @ (y[used] + K_used @ s)
    unit = np.abs(g).max() or np.abs(H).max()
    H, g, A, right = H / unit, g / unit, S.sum(axis=0)[None, :] / most, np.array([(s.sum() + total) / most])
    if not intercept:
        A, right = A[:0], right[:0]
    x, b, low, high = np.full(n, 0.5), np.zeros(len(A)), np.ones(n), np.ones(n)
    for _ in range(100):
        rest = np.append(-(H @ x + g + A.T @ b - low + high), right - A @ x)
        mu = (low @ x + high @ (1 - x)) / (2 * n)
        if mu < 1e-17 or x.min() == 0.0 or x.max() == 1.0:
            break
        M = np.block([[H + np.diag(low / x + high / (1 - x)), A.T], [A, np.zeros((len(A), len(A)))]])
        scale = 1 / np.sqrt(np.append(np.diag(M)[:n], np.ones(len(A))))
        M = M * np.outer(scale, scale) + 1e-14 * np.eye(len(M))

        def newton(
            below, above, M=M, scale=scale, rest=rest, x=x, low=low, high=high
        ):  # towards low x = below, high (1 - x) = above
            below, above = below - low * x, above - high * (1 - x)
            d = scale * np.linalg.solve(M, scale * (rest + np.append(below / x - above / (1 - x), np.zeros(len(A)))))
            dx = d[:n]
            dlow, dhigh = (below - low * dx) / x, (above + high * dx) / (1 - x)
            ratios = [-d / v for v, d in ((x, dx), (1 - x, -dx), (low, dlow), (high, dhigh))]
            return dx, d[n:], dlow, dhigh, min(1.0, 0.99 / max(1e-300, np.max(ratios)))

        dx, db, dlow, dhigh, t = newton(0.0, 0.0)
        ahead = ((low + t * dlow) @ (x + t * dx) + (high + t * dhigh) @ (1 - x - t * dx)) / (2 * n)
        centre = mu * (ahead / mu) ** 3
        dx, db, dlow, dhigh, t = newton(centre - dlow * dx, centre + dhigh * dx)
        x, b, low, high = x + t * dx, b + t * db, low + t * dlow, high + t * dhigh
    a = np.zeros(len(K))
    a[used] = S @ x - s
    return a, float(b[0] * unit / most) if intercept else 0.0


def support_objectives(K, y, C, epsilon, a, b):
    """Return the primal and the dual objective."""
    return machine_objectives(K, y, np.negative(C), C, epsilon, a, b)


def machine_objectives(K, y, lower, upper, epsilon, a, b, total=0.0):
    """Return the primal and the dual objective of a machine with these bounds."""
    f = K @ a
    over, under = np.maximum(y - f - b - epsilon, 0.0), np.maximum(f + b - y - epsilon, 0.0)
    primal = a @ f / 2 + np.sum(upper * over - np.asarray(lower) * under) + b * total
    return primal, a @ y - a @ f / 2 - epsilon * np.abs(a).sum()


def transport_plan(a, b, x, y):
    """Return the optimal plan between weights a of points x and b of y, by a linear program of all pairs."""
    C = np.sum((x[:, None] - y) ** 2, axis=2)
    n, m = C.shape
    A = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    scale = max(n, m)
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = optimize.linprog(C.ravel() / C.max(), A_eq=A, b_eq=scale * np.append(a, b), method="highs-ds", options=options)
    assert found.success
    return found.x.reshape(n, m) / scale


def spectrum(s, t, length, mismatches, alphabet):
    """Add up, over all words, the products of how often they are in s and t, but for so many letters."""

    def count(word, text):
        places = [text[i : i + length] for i in range(len(text) - length + 1)]
        known = [place for place in places if all(letter in alphabet for letter in place)]
        return sum(sum(a != b for a, b in zip(word, place, strict=True)) <= mismatches for place in known)

    return sum(count(word, s) * count(word, t) for word in itertools.product(alphabet, repeat=length))


def subsequences(s, t, length, decay, alphabet):
    """Add up decay^(what they span) over all pairs of equal subsequences, and that times what they span."""

    def spans(text):
        found = {}
        for places in itertools.combinations(range(len(text)), length):
            word = tuple(text[i] for i in places)
            if all(letter in alphabet for letter in word):
                found.setdefault(word, []).append(places[-1] - places[0] + 1)
        return found

    first, second = spans(s), spans(t)
    both = [a + b for word, some in first.items() for a in some for b in second.get(word, [])]
    return sum(decay**span for span in both), sum(span * decay**span for span in both)


def local_alignments(s, t, score, beta, gap_open, gap_extend):
    """Add up exp(beta score) over all sets of pairs that go up in both strings, with gaps between them; and the empty set."""

    def gap(tokens):
        return gap_open + (tokens - 1) * gap_extend if tokens else 0.0

    total = 1.0
    for pairs in range(1, min(len(s), len(t)) + 1):
        for first in itertools.combinations(range(len(s)), pairs):
            for second in itertools.combinations(range(len(t)), pairs):
                value = sum(score(s[i], t[j]) for i, j in zip(first, second, strict=True))
                for places in (first, second):
                    value -= sum(gap(b - a - 1) for a, b in itertools.pairwise(places))
                total += np.exp(beta * value)
    return total


def subsequences_by_rows(s, t, length, decay):
    """Compute the same as `subsequences`, for arrays of numbers, by a dynamic program on rows of NumPy."""
    same = s[:, None] == t[None, :]
    ends = same * decay**2
    for _ in range(length - 1):
        sums = np.zeros((len(s) + 1, len(t) + 1))
        powers = decay ** np.arange(len(t))
        for i in range(len(s)):
            row = np.convolve(ends[i], powers)[: len(t)]
            sums[i + 1, 1:] = decay * sums[i, 1:] + row
        ends = same * decay**2 * sums[:-1, :-1]
    return ends.sum()


def log_local_alignments(s, t, score, beta, gap_open, gap_extend):
    """Compute the logarithm of the same as `local_alignments`, of strings of any length, all sums in logarithms."""
    shape = (len(s) + 1, len(t) + 1)
    pair, first, second = (np.full(shape, -np.inf) for _ in range(3))
    for i, j in itertools.product(range(1, shape[0]), range(1, shape[1])):
        before = [state[i - 1, j - 1] for state in (pair, first, second)]
        pair[i, j] = beta * score(s[i - 1], t[j - 1]) + np.logaddexp.reduce([0.0, *before])
        first[i, j] = np.logaddexp(pair[i - 1, j] - beta * gap_open, first[i - 1, j] - beta * gap_extend)
        opened = np.logaddexp(pair[i, j - 1], first[i, j - 1]) - beta * gap_open
        second[i, j] = np.logaddexp(opened, second[i, j - 1] - beta * gap_extend)
    return np.logaddexp.reduce([0.0, *pair.ravel()])


def expected_of_logarithm(x, middle, width, far=False):
    """Return the log density that is expected of a hyperparameter's logarithm; a Cauchy variable may be far from its middle."""
    z = (x - middle) / width
    return -np.log(np.pi * width * (1 + z**2)) if far else -(z**2) / 2 - np.log(2 * np.pi) / 2 - np.log(width)


def expected_alike(x, middle, spread, width):
    """Return the log density of log l_j = middle_j + c + d_j: c normal of standard deviation `width`, the d_j of `spread`.

    With an infinite width, it is the density of what is orthogonal to c alone.
    """
    d, k = np.asarray(x) - middle, len(x)
    if np.isfinite(width):
        covariance = spread**2 * np.eye(k) + width**2 * np.ones((k, k))
    else:
        apart = np.linalg.svd(np.ones((1, k)))[2][1:]  # orthonormal directions, in which the mean does not change
        d, covariance = apart @ d, spread**2 * np.eye(k - 1)
    determinant = np.linalg.slogdet(2 * np.pi * covariance)[1]
    return -d @ np.linalg.solve(covariance, d) / 2 - determinant / 2


def second_derivatives(f, x, step=1e-3):
    """Return the matrix of the second derivatives of f, a scalar, by central differences."""
    moves = step * np.eye(len(x))
    H = [[f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b) for a in moves] for b in moves]
    return np.array(H) / (4 * step**2)


def laplace(f, start):
    """Return the logarithm of the integral of exp(f), as if exp(f) were a normal density around its maximum near the start."""
    top = optimize.minimize(lambda x: -f(x), start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-11}).x
    return f(top) + len(top) / 2 * np.log(2 * np.pi) - np.linalg.slogdet(-second_derivatives(f, top))[1] / 2


def log_integral(f, lower, upper, count):
    """Return the logarithm of the integral of exp(f) over a box, at the end of which exp(f) vanishes, by a grid."""
    axes = [np.linspace(a, b, count) for a, b in zip(lower, upper, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    return special.logsumexp([f(x) for x in points]) + sum(np.log(axis[1] - axis[0]) for axis in axes)

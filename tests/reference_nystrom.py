"""What the Nystrom factor means: slow, obvious NumPy, in double precision, with dense n x n matrices.

Notation. Of n points X with outputs y (n, m), trend H (n, q; q may be zero) and noise N, and of landmarks Z, with `JITTER` on
the diagonal of k(Z, Z),

    Q = k(X, Z) K_ZZ^-1 k(Z, X),    e_i = k(x_i, x_i) - q_ii,    K~ = Q + diag(N),    P. = P - P H (H'PH)^-1 H'P,  P = K~^-1

Everything is what `reference` says of a process with the covariance Q, but for what is missing in it, e_i:

- it is added to the variances of predictions, of points that are left out and of new ones;
- half of sum_i e_i / N_i is subtracted from likelihoods, for each output, if they are the lower bound.

Points are left out by a fit of the others, from scratch. All functions of kernel values and noise are analytic, so that complex
steps give their derivatives: nothing is conjugated.
"""

import numpy as np

import reference
import reference_vecchia

JITTER = 1e-10  # of the diagonal of k(Z, Z), relative to it


def fit(K_XZ, K_ZZ, own, noise, H, y, groups=None):
    """Return all that criteria need, by name.

    K_XZ (n, p), K_ZZ (p, p) and own (n), the diagonal of k(X, X), are without noise; noise (n) is divided by weights. `groups`
    (n) are labels of points that are left out together; without them each point is left out alone.

    "quadratic" (m)             y'c of each output
    "c" (n, m)                  P. y
    "precision" (n)             the diagonal of P.
    "log_det", "log_det_trend"  log det K~, and log det H'PH - log det H'H
    "missing" (n)               e
    "beta" (q, m)               the coefficients of the trend
    "residual" (n, m), "variance" (n)
                                of points that are left out
    "density" (m)               the sum over groups of the joint log densities of points that are left out
    """
    n, m = y.shape
    Q, missing = approximation(K_XZ, K_ZZ, own)
    P = np.linalg.inv(Q + np.diag(noise))
    projected, beta, log_det_trend = P, np.zeros((0, m)), 0.0
    if H.shape[1]:
        M = H.T @ P @ H
        projected, beta = P - P @ H @ np.linalg.solve(M, H.T @ P), np.linalg.solve(M, H.T @ P @ y)
        log_det_trend = reference_vecchia.log_det(M) - reference_vecchia.log_det(H.T @ H)
    c = projected @ y
    residual, variance, density = np.zeros_like(c), np.zeros_like(c[:, 0]), np.zeros_like(c[0])
    labels = np.arange(n) if groups is None else np.asarray(groups)
    for label in np.unique(labels):
        I = np.flatnonzero(labels == label)  # noqa: E741
        mean, covariance = reference.predict_without(Q, noise, H, y, I)
        residual[I], S = y[I] - mean, covariance + np.diag(missing[I])
        variance[I] = np.diag(S)
        density += -0.5 * (
            reference_vecchia.log_det(2 * np.pi * S) + np.sum(residual[I] * np.linalg.solve(S, residual[I]), axis=0)
        )
    return {
        "quadratic": np.sum(y * c, axis=0),
        "c": c,
        "precision": np.diag(projected),
        "log_det": reference_vecchia.log_det(Q + np.diag(noise)),
        "log_det_trend": log_det_trend,
        "missing": missing,
        "beta": beta,
        **{"residual": residual, "variance": variance, "density": density, "noise": noise, "H": H, "y": y},
    }


def approximation(K_XZ, K_ZZ, own):
    """Return Q (n, n) and what is missing in its diagonal (n)."""
    Q = K_XZ @ np.linalg.solve(jittered(K_ZZ), K_XZ.T)
    return Q, own - np.diag(Q)


def jittered(K_ZZ):
    return K_ZZ + JITTER * np.diag(np.diag(K_ZZ))


def criterion(name, found, *, bound=True, weights=None, sigma=None, smoothing=None, scale="shared"):
    """Return the value of a criterion; the arguments are those of `reference_vecchia.criterion`."""
    if name == "kfold_log_density":
        return np.sum(found["density"])
    value = reference_vecchia.criterion(name, found, weights, sigma, smoothing, scale)[0]
    if bound and ("lml" in name or "reml" in name):
        value -= 0.5 * found["y"].shape[1] * np.sum(found["missing"] / found["noise"])
    return value


def path(K_XZ, K_ZZ, own, y, H, lambdas, weights=None):
    """Return for each lambda what `fit` finds with the noise lambda / weights, and the numbers of the L-curve besides.

    "residual_norm"  |W^(1/2) (y - f)| of the fitted values f = y - N c, W the weights
    "seminorm"       (c'Qc)^(1/2), both over all outputs
    "dof"            the sum of the leverages 1 - N_i P_ii
    """
    w = np.ones(len(y)) if weights is None else weights
    Q, _ = approximation(K_XZ, K_ZZ, own)
    values = []
    for each in lambdas:
        found = fit(K_XZ, K_ZZ, own, each / w, H, y)
        c = found["c"]
        rest = found["noise"][:, None] * c
        found["residual_norm"] = np.sqrt(np.sum(w[:, None] * rest**2))
        found["seminorm"] = np.sqrt(np.sum(c * (Q @ c)))
        found["dof"] = np.sum(1 - found["noise"] * found["precision"])
        values.append(found)
    return values


def predict(found, K_XZ, K_ZZ, cross, own, h):
    """Return means (k, m) and the joint covariance (k, k) of the process without noise at k new points.

    cross (k, p) is the kernel between new points and landmarks, own (k, k) that of new points, h (k, q) the trend there. Given
    u = f(Z), the process has the covariance own - Q between new points, of which the data say nothing.
    """
    K_ZZ = jittered(K_ZZ)
    of_cross, of_own = (cross @ np.linalg.solve(K_ZZ, A.T) for A in (K_XZ, cross))
    Q = K_XZ @ np.linalg.solve(K_ZZ, K_XZ.T)
    C = Q + np.diag(found["noise"])
    mean, covariance, _ = reference.kriging(C, of_cross.T, of_own, found["H"], h, found["y"])
    return mean, covariance + own - of_own


def slope(f, at, direction, step=1e-30):
    """Return the derivative of f, analytic, at a list of arrays along a list of directions, by a complex step."""
    return np.imag(f(*(a + 1j * step * d for a, d in zip(at, direction, strict=True)))) / step


def move(f, t, p, step=1e-3):
    """Return the derivatives of f, a list of arrays, in t_p, by central differences of fourth order.

    For kernels whose logarithmic parameters are moved: the error is step^4 / 30 times a fifth derivative, and eps / step.
    """
    unit = step * np.eye(len(t))[p]
    values = [f(t + places * unit) for places in (1, -1, 2, -2)]
    return [(8 * (a - b) - (c - d)) / (12 * step) for a, b, c, d in zip(*values, strict=True)]

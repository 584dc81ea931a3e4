"""Laplace's approximation and expectation propagation in slow and obvious NumPy, of which the core's must be equals."""

import numpy as np
from scipy import optimize, stats


def log_density(name, y, f, phi, size):
    """Return log p(y | f) at each point; phi are the parameters on the scale of the search."""
    if name == "poisson":
        return stats.poisson.logpmf(y, size * np.exp(f))
    if name == "bernoulli_logit":
        return -np.logaddexp(0.0, np.where(y > 0, -f, f))
    if name == "bernoulli_probit":
        return stats.norm.logcdf(np.where(y > 0, f, -f))
    if name == "student_t":
        return stats.t.logpdf(y, np.exp(phi[1]), f, np.exp(phi[0]))
    if name == "gaussian":
        return stats.norm.logpdf(y, f, np.exp(0.5 * phi[0]))
    raise ValueError(name)


def precision(name, y, f, phi, size, h=1e-4):
    """Return minus the second derivative in f, or for Student's t its expectation."""
    if name == "student_t":
        scale, df = np.exp(phi)
        return np.full(len(y), (df + 1) / ((df + 3) * scale**2))
    at = [log_density(name, y, f + step, phi, size) for step in (-2 * h, -h, 0.0, h, 2 * h)]
    return -(-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * h**2)


def mode(name, K, y, phi, size, H=None, start=None):
    """Return the latent values of the largest posterior density, f = K a + H b, with a flat prior for b."""
    H = np.zeros((len(y), 0)) if H is None else H
    L = np.linalg.cholesky(K)

    def negative(x):
        f = L @ x[: len(y)] + H @ x[len(y) :]
        return 0.5 * x[: len(y)] @ x[: len(y)] - log_density(name, y, f, phi, size).sum()

    first = np.zeros(len(y) + H.shape[1]) if start is None else start
    found = optimize.minimize(negative, first, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    return L @ found.x[: len(y)] + H @ found.x[len(y) :], found.x


def evidence(name, K, y, phi, size, H=None):
    """Return Laplace's approximation of log p(y), with the coefficients of a trend integrated over, and the sites."""
    f, _ = mode(name, K, y, phi, size, H)
    W = precision(name, y, f, phi, size)
    n, q = len(y), 0 if H is None else H.shape[1]
    rest = f
    P = np.linalg.inv(K)
    value = 0.0
    if q:
        beta = np.linalg.solve(H.T @ P @ H, H.T @ P @ f)
        rest = f - H @ beta
        S = np.linalg.inv(K + np.diag(1 / W))
        value -= 0.5 * np.linalg.slogdet(H.T @ S @ H)[1] - 0.5 * np.linalg.slogdet(H.T @ H)[1] - 0.5 * q * np.log(2 * np.pi)
    value += log_density(name, y, f, phi, size).sum() - 0.5 * rest @ P @ rest
    return value - 0.5 * np.linalg.slogdet(np.eye(n) + W[:, None] * K)[1], f, W


def cavity_moments(name, y, m, v, phi, size):
    """Return log E p(y | f), and the mean and the variance of f under p(y | f) N(f; m, v), by the trapezoidal rule."""
    x = np.linspace(-12.0, 12.0, 2401)
    f = m + np.sqrt(v) * x
    log = log_density(name, y, f, phi, size) - 0.5 * x**2
    p = np.exp(log - log.max())
    mean = p @ f / p.sum()
    log_mean = log.max() + np.log(p.sum() * (x[1] - x[0])) - 0.5 * np.log(2 * np.pi)
    return log_mean, mean, p @ (f - mean) ** 2 / p.sum()


def propagate(name, K, y, phi, size, H=None, sweeps=200):
    """Return log Z by expectation propagation, one site after the other, with the marginals and the log means of cavities."""
    n = len(y)
    H = np.zeros((n, 0)) if H is None else H
    prior = np.linalg.inv(K)
    prior = prior - prior @ H @ np.linalg.solve(H.T @ prior @ H, H.T @ prior) if H.shape[1] else prior
    tau, nu = np.full(n, 1e-2), np.zeros(n)
    for _ in range(sweeps):
        before = tau.copy(), nu.copy()
        for i in range(n):
            C = np.linalg.inv(prior + np.diag(tau))
            v = 1 / (1 / C[i, i] - tau[i])
            m = v * ((C @ nu)[i] / C[i, i] - nu[i])
            _, mean, variance = cavity_moments(name, y[i], m, v, phi, size[i])
            tau[i], nu[i] = 1 / variance - 1 / v, mean / variance - m / v
        if np.allclose(before, (tau, nu), rtol=1e-12, atol=1e-14):
            break
    z, all_ = nu / tau, K + np.diag(1 / tau)
    P = np.linalg.inv(all_)
    value = -0.5 * np.linalg.slogdet(all_)[1]
    if H.shape[1]:
        M = H.T @ P @ H
        P = P - P @ H @ np.linalg.solve(M, H.T @ P)
        value += 0.5 * np.linalg.slogdet(H.T @ H)[1] - 0.5 * np.linalg.slogdet(M)[1]
    value -= 0.5 * z @ P @ z + 0.5 * (n - H.shape[1]) * np.log(2 * np.pi)
    C = np.linalg.inv(prior + np.diag(tau))
    mean, variance = C @ nu, np.diag(C)
    v = 1 / (1 / variance - tau)
    m = v * (mean / variance - nu)
    log_means = np.array([cavity_moments(name, y[i], m[i], v[i], phi, size[i])[0] for i in range(n)])
    value += log_means.sum() - stats.norm.logpdf(z, m, np.sqrt(v + 1 / tau)).sum()
    return value, mean, variance, log_means

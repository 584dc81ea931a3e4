"""What the Vecchia factor means: slow, obvious NumPy, in double precision, with a loop over its small Gaussians.

Notation. Of n points with outputs y (n, m), trend H (n, q; q may be zero) and noise N, let K~ = K + diag(N). Each point i has a
set S_i of some other points, and i last. The rows and columns of K~ that belong to the set are K_S = L L', and

    v_i = L^-T e_last,    t_ik = v_i'y_S,k,    eta_i = H_S'v_i

so that t_ik is the residual of y_ik given the others of its set, divided by its standard deviation 1 / v_ii (v_ii is the last
entry of v_i). There are two kinds of sets:

predecessors
    the nearest points that come earlier in an order. They define P = sum v_i v_i' (each v_i in the rows of its set), the
    precision matrix of a Gaussian process that approximates K~^-1, with log det K~ = -2 sum log v_ii. Trend and likelihood are
    those of that process: M = sum eta_i eta_i' = H'PH, beta = M^-1 sum eta_i t_i', U = P H, t~_ik = t_ik - eta_i'beta_k.
others
    the nearest of all other points, or of those in other groups. Each point is predicted from its set as a new point is. Only
    the trend is estimated from the predecessors, by their process without the group I of the point, which may be {i} alone:
    M_-I = M - U_I'P_II^-1 U_I, beta_-I = beta - M^-1 U_I'P._II^-1 c_I. With e_i = U_I M^-1 eta_i, that is

        r_ik = (t_ik - eta_i'beta_k + e_i'P._II^-1 c_I,k) / v_ii
        s_i^2 = (1 + eta_i'M_-I^-1 eta_i) / v_ii^2 = (1 + eta_i'M^-1 eta_i + e_i'P._II^-1 e_i) / v_ii^2

    A shorter formula takes M_-i = M - eta_i eta_i' instead (`correction="point"`): with h_i = eta_i'M^-1 eta_i,

        r_ik = (t_ik - eta_i'beta_k) / (v_ii (1 - h_i)),    s_i^2 = 1 / (v_ii^2 (1 - h_i))

    But M is of other sets than eta_i: the difference need not be positive definite, and variances are negative where h_i > 1,
    which happens with linear and quadratic trends at outlying points, and often with landmarks and little noise. And the trend
    is estimated with the rest of the group.

If the sets contain all predecessors and all others, everything equals what `reference` computes from the dense matrix, for
groups too. With `correction="point"` it does so for points that are left out alone, and for groups if there are no trend and no
landmarks.

Landmarks ("full-scale") are in the same formulas. With K_XZ (n, p), K_ZZ (p, p) of landmarks Z, and Q = K_XZ K_ZZ^-1 K_ZX,

    y = K_XZ u + H b + e,    u of N(0, K_ZZ^-1),    e of N(0, K - Q + diag(N))

is the same process: so the sets are those of e, and K_XZ are further columns of a trend, whose coefficients have a prior. With
D = [K_XZ, H] in place of H, these differ: M = sum eta_i eta_i' + diag(K_ZZ, 0), y'c = sum t~_i^2 + u'K_ZZ u, and
log det K~ = -2 sum log v_ii + log det M_uu - log det K_ZZ. The rows of `beta` are u, then b. P is sum v_i v_i' here, too, that
is, the precision matrix of e. (A program would take F = K_XZ L^-T, K_ZZ = L L', whose prior is the identity, in place of K_XZ.)

All functions of K, noise and landmarks are analytic, so that complex steps give their derivatives: nothing is conjugated.
"""

import numpy as np
from scipy import special

# ---------------------------------------------------------------------------------------------------------------- neighbours
# Lists of neighbours are arrays (n, count) of indices, nearest first, -1 for none. Equally near points come by their index.


def nearest(x, candidates, count):
    """Return the `count` candidates (pairs of an index and a point) nearest to x."""
    ranked = sorted((float(np.sum((x - z) ** 2)), index) for index, z in candidates)
    indices = [index for _, index in ranked[:count]]
    return np.array(indices + [-1] * (count - len(indices)), dtype=int)


def nearest_others(X, count, groups=None):
    """Return the nearest of all other points, or of all points in other groups."""
    labels = np.arange(len(X)) if groups is None else np.asarray(groups)
    return np.array([nearest(x, [(j, X[j]) for j in np.flatnonzero(labels != labels[i])], count) for i, x in enumerate(X)])


def nearest_predecessors(X, order, count):
    """Return for each point the nearest of those that come before it in the order, in which point order[0] is first."""
    found = np.full((len(X), count), -1)
    for place, i in enumerate(order):
        found[i] = nearest(X[i], [(j, X[j]) for j in order[:place]], count)
    return found


def nearest_rows(Z, X, count):
    """Return for each new point the nearest rows of X."""
    return np.array([nearest(z, list(enumerate(X)), count) for z in Z])


def nearest_rows_and_predecessors(Z, X, count):
    """Return for each new point the nearest of the rows of X and of the new points before it, new point j with index n + j."""
    return np.array([nearest(z, list(enumerate(np.vstack([X, Z[:j]]))), count) for j, z in enumerate(Z)])


def own_set(i, neighbours):
    """Return the set of point i: its neighbours, and i last."""
    return np.array([j for j in neighbours[i] if j >= 0] + [i])


# ------------------------------------------------------------------------------------------------------------------- the fit


def last_of_inverse_factor(K_S):
    """Return v = L^-T e_last, K_S = L L': the last column of K_S^-1 over the root of its last entry."""
    column = np.linalg.solve(K_S, np.eye(len(K_S))[:, -1])
    return column / np.sqrt(column[-1])


def log_det(A):
    """Return the log determinant by elimination, for complex matrices too."""
    total = 0.0
    while len(A):
        total = total + np.log(A[0, 0])
        A = A[1:, 1:] - np.outer(A[1:, 0], A[0, 1:]) / A[0, 0]
    return total


def fit(K, noise, H, y, predecessors, others=None, landmarks=None, groups=None, correction="model"):
    """Return all that criteria need, by name; K (n, n) has no noise, landmarks are the pair of K_XZ (n, p) and K_ZZ.

    `groups` (n) are labels of points that are left out together, which must not be in each other's lists of `others`; without
    them, the trend of each point is estimated without that point alone.

    "quadratic" (m)             y'c of each output
    "c" (n, m)                  P (y - H beta)
    "precision" (n)             the diagonal of P. = P - U M^-1 U'
    "log_det", "log_det_trend"  log det K~, and log det H'PH - log det H'H
    "residual" (n, m), "variance" (n), "leverage" (n)
                                r, s^2 and h of points that are left out, if there are lists of `others`
    "beta", "M", "U", "t"       as above, of D = [K_XZ, H]; t (n, m) is t~
    "projected" (n, n)          P.
    """
    n, q = H.shape
    K_XZ, K_ZZ = (np.zeros((n, 0)), np.zeros((0, 0))) if landmarks is None else landmarks
    p = len(K_ZZ)
    C = K - K_XZ @ np.linalg.solve(K_ZZ, K_XZ.T) + np.diag(noise)
    D = np.hstack([K_XZ, H])
    prior = np.zeros((p + q, p + q), dtype=C.dtype)
    prior[:p, :p] = K_ZZ

    sets = [own_set(i, predecessors) for i in range(n)]
    vectors = [last_of_inverse_factor(C[np.ix_(S, S)]) for S in sets]
    M, right = prior.copy(), np.zeros((p + q, y.shape[1]), dtype=C.dtype)
    for S, v in zip(sets, vectors, strict=True):
        eta = D[S].T @ v
        M += np.outer(eta, eta)
        right += np.outer(eta, v @ y[S])
    beta = np.linalg.solve(M, right)
    rest = y - D @ beta

    t, c, U, P = (np.zeros(s, dtype=C.dtype) for s in (y.shape, y.shape, D.shape, (n, n)))
    determinant = 0.0
    for i, (S, v) in enumerate(zip(sets, vectors, strict=True)):
        t[i] = v @ rest[S]
        c[S] += np.outer(v, t[i])
        U[S] += np.outer(v, D[S].T @ v)
        P[np.ix_(S, S)] += np.outer(v, v)
        determinant -= 2 * np.log(v[-1])
    P -= U @ np.linalg.solve(M, U.T)
    found = {
        "quadratic": np.array([t[:, k] @ t[:, k] + beta[:, k] @ prior @ beta[:, k] for k in range(y.shape[1])]),
        "c": c,
        "precision": np.diag(P),
        "log_det": determinant + log_det(M[:p, :p]) - log_det(K_ZZ),
        "log_det_trend": log_det(M) - log_det(M[:p, :p]) - log_det(H.T @ H),
        **{"beta": beta, "M": M, "U": U, "t": t, "projected": P, "sets": sets, "vectors": vectors},
        **{"K": K, "noise": noise, "H": H, "y": y, "K_XZ": K_XZ, "K_ZZ": K_ZZ, "C": C, "D": D, "rest": rest},
    }
    if others is not None:
        labels = np.arange(n) if groups is None else np.asarray(groups)
        found |= left_out(found, others, labels, correction)
    return found


def left_out(found, others, labels, correction):
    """Return residuals and variances of points that are left out, and their leverages on the trend."""
    C, D, M, U, P, c, rest = (found[name] for name in ("C", "D", "M", "U", "projected", "c", "rest"))
    n = len(C)
    sets = [own_set(i, others) for i in range(n)]
    vectors = [last_of_inverse_factor(C[np.ix_(S, S)]) for S in sets]
    r, s2, h = (np.zeros(s, dtype=C.dtype) for s in (rest.shape, n, n))
    for i, (S, v) in enumerate(zip(sets, vectors, strict=True)):
        eta = D[S].T @ v
        h[i] = eta @ np.linalg.solve(M, eta)
        if correction == "point":
            r[i] = (v @ rest[S]) / (v[-1] * (1 - h[i]))
            s2[i] = 1 / (v[-1] ** 2 * (1 - h[i]))
            continue
        group = np.flatnonzero(labels == labels[i])
        e = U[group] @ np.linalg.solve(M, eta)
        weights = np.linalg.solve(P[np.ix_(group, group)], e)
        r[i] = (v @ rest[S] + weights @ c[group]) / v[-1]
        s2[i] = (1 + h[i] + weights @ e) / v[-1] ** 2
    kept = {"sets_left_out": sets, "vectors_left_out": vectors, "labels": labels, "correction": correction}
    return {"residual": r, "variance": s2, "leverage": h, **kept}


def precision_matrix(found):
    """Return P, the inverse of the matrix that stands for K~, landmarks included."""
    R = np.zeros_like(found["C"])  # the inverse of what stands for the covariance of e
    for S, v in zip(found["sets"], found["vectors"], strict=True):
        R[np.ix_(S, S)] += np.outer(v, v)
    F = found["K_XZ"]
    return R - R @ F @ np.linalg.solve(found["K_ZZ"] + F.T @ R @ F, F.T @ R)


# ------------------------------------------------------------------------------------------------------------------ criteria


def loss(name, r, v, smoothing):
    """Return the loss of residuals r of variances v, and its derivatives with respect to both."""
    if name == "squared":
        return r**2, 2 * r, 0 * r
    if name == "absolute":
        value = np.sqrt(r**2 + smoothing**2)
        return value, r / value, 0 * r
    if name == "log_density":
        return -0.5 * (np.log(2 * np.pi * v) + r**2 / v), -r / v, 0.5 * (r**2 / v - 1) / v
    s = np.sqrt(v)  # CRPS
    z = r / s
    both, density = special.erf(z / np.sqrt(2)), np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)  # 2 Phi - 1 and phi
    value = s * (z * both + 2 * density - 1 / np.sqrt(np.pi))
    return value, both, (2 * density - 1 / np.sqrt(np.pi)) / (2 * s)


LOSSES = {
    "loo": "squared",
    "kfold": "squared",
    "loo_log_density": "log_density",
    "loo_crps": "crps",
    "loo_absolute": "absolute",
}
LOSSES["profiled_loo_log_density"] = "log_density"


def criterion(name, found, weights=None, sigma=None, smoothing=None, scale="shared"):
    """Return the value of a criterion, and its partial derivatives by the names of the entries of `found`.

    Noise is divided by weights before `fit`, and points without weight are dropped. The losses of points that are left out and
    the squares of the risk are weighted here. `smoothing` is the width of the smoothed absolute value. "kfold" is "loo", with
    lists of neighbours in other groups. "noise" is the derivative with respect to N where it occurs in the formula itself.
    """
    y, c, noise, precision = (found[key] for key in ("y", "c", "noise", "precision"))
    n, m = y.shape
    w = np.ones(n) if weights is None else weights
    if name in ("lml", "reml", "profiled_lml", "profiled_reml"):
        restricted, Q = "reml" in name, found["quadratic"]
        freedom = n - found["H"].shape[1] if restricted else n
        slopes = {"log_det": -m / 2, "log_det_trend": -m / 2 if restricted else 0.0}
        value = -m / 2 * (freedom * np.log(2 * np.pi) + found["log_det"])
        if restricted:
            value -= m / 2 * found["log_det_trend"]
        if "profiled" not in name:
            return value - 0.5 * np.sum(Q), slopes | {"quadratic": np.full(m, -0.5)}
        s2 = Q / freedom if scale == "each" else np.sum(Q) / (freedom * m) * np.ones(m)
        return value - freedom / 2 * np.sum(np.log(s2) + 1), slopes | {"quadratic": -0.5 / s2}
    if name == "gcv":
        mean, square, trace = np.sum(noise) / n, np.sum(noise[:, None] * c**2), np.sum(noise * precision)
        factor = n / m * mean / trace**2  # c'Uc / (tr U P.)^2 with U = N / mean
        own = np.sum(c**2, axis=1) - 2 * square * precision / trace + square / (n * mean)
        slopes = {"c": 2 * noise[:, None] * c, "precision": -2 * square / trace * noise, "noise": own}
        return factor * square, {key: factor * slope for key, slope in slopes.items()}
    if name == "risk":
        S = np.broadcast_to(np.square(sigma), (n,))
        value = np.sum(w[:, None] * (noise[:, None] * c) ** 2) + m * np.sum(w * (2 * S * (1 - noise * precision) - S))
        own = 2 * w * (noise * np.sum(c**2, axis=1) - m * S * precision)
        return value, {"c": 2 * (w * noise**2)[:, None] * c, "precision": -2 * m * w * S * noise, "noise": own}
    r, v = found["residual"], found["variance"][:, None] * np.ones(m)
    total = 1.0 if "log_density" in name else np.sum(w) * m
    # At the best common factor of all variances, the log density does not change with that factor.
    best = np.sum(w[:, None] * r**2 / v) / (np.sum(w) * m) if "profiled" in name else 1.0
    value, of_r, of_v = loss(LOSSES[name], r, best * v, smoothing)
    slopes = {"residual": w[:, None] * of_r / total, "variance": w * np.sum(best * of_v, axis=1) / total}
    return np.sum(w[:, None] * value) / total, slopes


# ------------------------------------------------------------------------------------------------------------------ gradient


def symmetric(A):
    return (A + A.T) / 2


def pull(found, partials):
    """Return the derivatives of a criterion, given those with respect to the entries of `found`, zero where there are none.

    "K" (n, n), "K_XZ" and "K_ZZ" are the derivatives with respect to these matrices, so that a hyperparameter has the sum of
    their products with the matrices' derivatives; "noise" (n) that with respect to N. A set whose v changes the criterion by
    q'dv has W_S = -sym(K_S^-1 q v') + 1/2 (q'v) v v' for K_S, of rank two, since dv = -K_S^-1 dK_S v + 1/2 (v'dK_S v) v.
    """
    C, D, M, U, beta, rest, y = (found[name] for name in ("C", "D", "M", "U", "beta", "rest", "y"))
    (n, m), p = y.shape, len(found["K_ZZ"])
    given = {name: partials.get(name, 0.0) for name in ("log_det", "log_det_trend")}
    of_quadratic, of_c, of_precision, of_noise, of_r, of_s2 = (
        np.broadcast_to(partials.get(name, 0.0), shape)
        for name, shape in zip(
            ("quadratic", "c", "precision", "noise", "residual", "variance"), (m, (n, m), n, n, (n, m), n), strict=True
        )
    )
    # With respect to C, D (which matters only if landmarks are in it), and what is computed from both.
    W, of_D, of_P, of_U = np.zeros((n, n)), np.zeros(D.shape), np.diag(of_precision), np.zeros(D.shape)
    of_M, of_beta, of_c, inverse = np.zeros(M.shape), np.zeros(beta.shape), of_c.copy(), np.linalg.inv(M)

    def add(S, v, q):
        """Add a set whose v changes the criterion by q'dv."""
        W[np.ix_(S, S)] += 0.5 * (q @ v) * np.outer(v, v) - symmetric(np.outer(np.linalg.solve(C[np.ix_(S, S)], q), v))

    if "residual" in found:
        for i, (S, v) in enumerate(zip(found["sets_left_out"], found["vectors_left_out"], strict=True)):
            h, r, s2 = found["leverage"][i], found["residual"][i], found["variance"][i]
            eta = D[S].T @ v
            trend = inverse @ eta
            if found["correction"] == "point":
                of_t = of_r[i] / (v[-1] * (1 - h))  # with respect to t_i - eta_i'beta
                of_h = (of_r[i] @ r + of_s2[i] * s2) / (1 - h)
                of_eta = 2 * of_h * trend
            else:
                of_t, of_h = of_r[i] / v[-1], of_s2[i] / v[-1] ** 2
                I = np.flatnonzero(found["labels"] == found["labels"][i])  # noqa: E741
                P_II = found["projected"][np.ix_(I, I)]
                weights, fitted = np.linalg.solve(P_II, U[I] @ trend), np.linalg.solve(P_II, found["c"][I] @ of_t)
                of_e = fitted + 2 * of_h * weights
                of_eta = 2 * of_h * trend + inverse @ U[I].T @ of_e
                of_c[I] += np.outer(weights, of_t)
                of_P[np.ix_(I, I)] -= symmetric(np.outer(weights, fitted)) + of_h * np.outer(weights, weights)
                of_U[I] += np.outer(of_e, trend)
                of_M -= symmetric(np.outer(trend, inverse @ U[I].T @ of_e))
            q = rest[S] @ of_t + D[S] @ of_eta
            q[-1] -= (of_r[i] @ r + 2 * of_s2[i] * s2) / v[-1]
            add(S, v, q)
            of_M -= of_h * np.outer(trend, trend)
            of_beta -= np.outer(eta, of_t)
            of_D[S] += np.outer(v, of_eta - beta @ of_t)

    of_U -= 2 * of_P @ U @ inverse
    of_M += inverse @ U.T @ of_P @ U @ inverse
    of_M += given["log_det_trend"] * inverse
    of_M[:p, :p] += (given["log_det"] - given["log_det_trend"]) * np.linalg.inv(M[:p, :p])
    of_beta -= U.T @ of_c
    mu = inverse @ of_beta
    moved = of_c + D @ mu  # G~

    for i, (S, v) in enumerate(zip(found["sets"], found["vectors"], strict=True)):
        t, eta = found["t"][i], D[S].T @ v
        of_t = v @ moved[S] + 2 * of_quadratic * t
        of_eta = mu @ t + of_U[S].T @ v + 2 * of_M @ eta
        q = of_c[S] @ t + rest[S] @ of_t + D[S] @ of_eta + of_U[S] @ eta + 2 * of_P[np.ix_(S, S)] @ v
        q[-1] -= 2 * given["log_det"] / v[-1]
        add(S, v, q)
        of_D[S] += np.outer(v, of_eta - beta @ of_t)

    # C = K - K_XZ K_ZZ^-1 K_ZX + N, the first columns of D are K_XZ, and M, beta, y'c and log det K~ contain K_ZZ.
    A, u = np.linalg.solve(found["K_ZZ"], found["K_XZ"].T).T, beta[:p]
    of_K_ZZ = A.T @ W @ A + of_M[:p, :p] - symmetric(mu[:p] @ u.T) + u @ np.diag(of_quadratic) @ u.T
    of_K_ZZ -= given["log_det"] * np.linalg.inv(found["K_ZZ"])
    return {"K": W, "K_XZ": of_D[:, :p] - 2 * W @ A, "K_ZZ": of_K_ZZ, "noise": np.diag(W) + of_noise}


def information(found, tangents, freedom=None):
    """Return the expected information (p, p) of hyperparameters, given the derivatives of K~ (n, n) by each, without landmarks.

    G_a = L^-1 dK_a v for each set: the entries before the last belong to the weights of the neighbours, the last, v'dK_a v, to
    the variance. With `freedom` (n), it is that of a likelihood whose scale is profiled. The trend's coefficients are taken for
    known. It is that of one output.
    """
    count = len(tangents)
    total, slopes = np.zeros((count, count)), np.zeros(count)
    for S, v in zip(found["sets"], found["vectors"], strict=True):
        L = np.linalg.cholesky(found["C"][np.ix_(S, S)])
        G = np.array([np.linalg.solve(L, dK[np.ix_(S, S)] @ v) for dK in tangents])
        total += G[:, :-1] @ G[:, :-1].T + 0.5 * np.outer(G[:, -1], G[:, -1])
        slopes += G[:, -1]
    return total if freedom is None else total - 0.5 * np.outer(slopes, slopes) / freedom


# --------------------------------------------------------------------------------------------------------------- predictions


def predict(found, cross, own, h, neighbours, cross_landmarks=None):
    """Return means (k, m) and variances (k) of the process without noise at k new points, each from its nearest rows.

    cross (k, n) and own (k) are the kernel between new points and rows, and of new points with themselves; h (k, q) is the
    trend, cross_landmarks (k, p) the kernel between new points and landmarks; `neighbours` is of `nearest_rows`. With b and d,
    the weights of the neighbours and the variance given them,

        mean = h'beta + b'(y - H beta)_N,    variance = d + (h - H_N'b)'M^-1 (h - H_N'b)

    In terms of v of the set {neighbours, z}, z without noise, d = 1 / v_zz^2, b = -v_N / v_zz and h - H_N'b = eta_z / v_zz.
    """
    own_matrix = np.diag(own)  # only its diagonal is read, since no new point is a neighbour of another
    means, covariance = predict_jointly(found, cross, own_matrix, h, neighbours, cross_landmarks)
    return means, np.diag(covariance)


def predict_jointly(found, cross, own, h, neighbours, cross_landmarks=None):
    """Return means (k, m) and covariance (k, k) of the process without noise at new points, each given rows and points before.

    As `predict`; own (k, k), and `neighbours` may be of `nearest_rows_and_predecessors`, in which n + j is new point j. The
    residual e_j of a point is the sum of weights times those of its neighbours, plus an independent part of variance d_j:
    e = A e_rows + B e + parts, so that e = (I - B)^-1 (A e_rows + parts).
    """
    n, k, beta = len(found["C"]), len(cross), found["beta"]
    if cross_landmarks is None:
        cross_landmarks = np.zeros((k, 0))
    interpolated = np.linalg.solve(found["K_ZZ"], np.vstack([found["K_XZ"], cross_landmarks]).T)
    own, cross = own - cross_landmarks @ interpolated[:, n:], cross - cross_landmarks @ interpolated[:, :n]
    joint = np.block([[found["C"], cross.T], [cross, own]])
    D = np.hstack([cross_landmarks, h])
    weights, d = np.zeros((k, n + k)), np.zeros(k)
    for j in range(k):
        N, z = own_set(j, neighbours)[:-1], n + j
        weights[j, N] = np.linalg.solve(joint[np.ix_(N, N)], joint[N, z])
        d[j] = joint[z, z] - weights[j, N] @ joint[N, z]
    solved = np.linalg.inv(np.eye(k) - weights[:, n:])
    A = solved @ weights[:, :n]
    R = D - A @ found["D"]
    return D @ beta + A @ found["rest"], solved @ np.diag(d) @ solved.T + R @ np.linalg.solve(found["M"], R.T)

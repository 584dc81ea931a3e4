"""R-hat and effective sample sizes: as they are written, and of chains about which everything is known."""

import numpy as np
import pytest
from scipy import stats

from kernsel._sample.diagnostics import effective_sample_size, r_hat


def direct_size(draws):
    """Return the effective sample size of one quantity as written: sums over lags, no Fourier transform."""
    m, length = draws.shape[0], draws.shape[1] // 2
    halves = np.concatenate([draws[:, :length], draws[:, draws.shape[1] - length :]])
    centred = halves - halves.mean(axis=1, keepdims=True)
    lag = [np.mean([c[: length - t] @ c[t:] for c in centred]) / (length - 1) for t in range(length)]
    total = lag[0] * (length - 1) / length + np.var(halves.mean(axis=1), ddof=1)
    rho = [1.0] + [1 - (lag[0] - lag[t]) / total for t in range(1, length)]
    time, least = -1.0, np.inf
    for t in range(0, length - 1, 2):
        pair = rho[t] + rho[t + 1]
        if pair < 0:
            break
        least = min(least, pair)
        time += 2 * least
    draws = 2 * m * length
    return draws / max(time, 1 / np.log10(draws))


def autoregressive(rho, shape, rng):
    x = rng.standard_normal(shape)
    for t in range(1, shape[1]):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * x[:, t]
    return x


@pytest.mark.parametrize("rho", [-0.6, 0.0, 0.5, 0.95])
@pytest.mark.parametrize("length", [4, 7, 400])
def test_effective_sample_size_as_written(rho, length, rng):
    draws = autoregressive(rho, (3, length, 5), rng)
    expected = [direct_size(draws[..., k]) for k in range(5)]
    assert effective_sample_size(draws) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9])
def test_effective_sample_size_of_known_chains(rho, rng):
    draws = autoregressive(rho, (4, 5000, 40), rng)
    expected = 20000 * (1 - rho) / (1 + rho)
    assert np.mean(effective_sample_size(draws)) == pytest.approx(expected, rel=0.1)


def direct_r_hat(draws):
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])
    values = []
    for x in (halves, np.abs(halves - np.median(halves))):
        z = stats.norm.ppf((stats.rankdata(x).reshape(x.shape) - 3 / 8) / (x.size + 1 / 4))
        within = np.mean([np.var(chain, ddof=1) for chain in z])
        between = half * np.var([chain.mean() for chain in z], ddof=1)
        values.append(np.sqrt(((half - 1) / half * within + between / half) / within))
    return max(values)


@pytest.mark.parametrize("length", [4, 9, 300])
def test_r_hat_as_written(length, rng):
    draws = autoregressive(0.7, (3, length, 4), rng) + np.array([0.0, 0.1, 1.0, 0.0])
    draws[1, :, 1] += 1
    draws[1, :, 2] *= 3
    assert r_hat(draws) == pytest.approx([direct_r_hat(draws[..., k]) for k in range(4)], rel=1e-12)


def test_r_hat_sees_what_differs(rng):
    same = rng.standard_normal((4, 1000))
    assert r_hat(same) == pytest.approx(1, abs=0.01)
    assert r_hat(same + np.arange(4)[:, None]) > 1.5
    assert r_hat(same * np.array([1, 1, 1, 5])[:, None]) > 1.1  # of the same mean
    assert r_hat(same + np.linspace(0, 3, 1000)) > 1.2  # all of them drift
    assert r_hat(np.ones((4, 100))) == 1
    assert r_hat(np.ones((4, 100)) * np.arange(4)[:, None]) > 1e6
    assert effective_sample_size(same + np.arange(4)[:, None]) < 20


def test_diagnostics_need_draws():
    with pytest.raises(ValueError, match=r"draws: expected shape \(chains, at least 4 draws, \.\.\.\), got \(4, 3\)"):
        r_hat(np.ones((4, 3)))
    assert effective_sample_size(np.ones((2, 4, 0))).shape == (0,)

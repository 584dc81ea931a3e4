"""What a kernel leaves open: the amplitudes of its terms, and the noise."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels.amplitudes import has_noise, with_amplitudes


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("RBF", "A * RBF"),
        ("RBF + Linear", "A * RBF + A * Linear"),
        ("2.0 * RBF + Linear", "2.0 * RBF + A * Linear"),
        ("RBF + WhiteKernel", "A * RBF + WhiteKernel"),
        ("ConstantKernel", "ConstantKernel"),
        ("RBF * Matern", "A * (RBF * Matern)"),
        ("RBF.on([0]) * Matern.on([1])", "A * (RBF.on([0]) * Matern.on([1]))"),
        ("RBF.on([0]) + Matern.on([1])", "A * RBF.on([0]) + A * Matern.on([1])"),
        ("(RBF + Linear).on([0])", "(A * RBF + A * Linear).on([0])"),
        ("(RBF + Linear) * Matern", "(A * RBF + A * Linear) * Matern"),
        ("2.0 * (RBF + Linear)", "2.0 * (RBF + A * Linear)"),
        ("(RBF + Linear) * (Matern + Linear)", "(A * RBF + A * Linear) * (Matern + A * Linear)"),
        ("RBF * WhiteKernel", "RBF * WhiteKernel"),
        ("(2.0 * RBF + Linear) * Matern", "(2.0 * RBF + A * Linear) * Matern"),
    ],
)
def test_amplitudes(kernel, expected):
    found = with_amplitudes(ks.kernels.kernel(kernel))
    assert found == ks.kernels.kernel(expected.replace("A", "ConstantKernel('auto')"))
    assert with_amplitudes(found) == found


@pytest.mark.parametrize("kernel", ["(RBF + Linear) * Matern", "2.0 * (RBF + Linear)", "(RBF + Linear).on([0])"])
def test_amplitudes_are_neither_too_few_nor_too_many(kernel):
    """Terms can have any sizes, and no two amplitudes do the same."""
    X = np.linspace(0, 6, 40).reshape(-1, 1)
    whole = with_amplitudes(ks.kernels.kernel(kernel)).for_data(X)
    names = [h.name for h in whole.hyperparameters if not h.fixed for _ in range(h.n_elements)]
    free = [k for k, name in enumerate(names) if "constant_value" in name]
    assert len(free) == 2
    rows = []
    for k in free:
        step = 1e-4 * (np.arange(len(names)) == k)
        rows.append((whole.clone_with_theta(whole.theta + step)(X) - whole.clone_with_theta(whole.theta - step)(X)).ravel())
    assert np.linalg.matrix_rank(np.array(rows), tol=1e-8 * np.abs(rows).max()) == 2


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("RBF", False),
        ("2.0 * RBF + Linear.on([0])", False),
        ("RBF + WhiteKernel", True),
        ("2.0 * (RBF + WhiteKernel).on([0])", True),
        ("RBF + HeteroscedasticNoise([0.1, 0.2])", True),
    ],
)
def test_which_kernels_have_noise(kernel, expected):
    assert has_noise(ks.kernels.kernel(kernel)) is expected

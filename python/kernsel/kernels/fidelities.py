"""Functions of several fidelities: what is computed roughly and cheaply tells of what is computed well and at a price."""

from __future__ import annotations

from collections.abc import Sequence

from kernsel.kernels.amplitudes import with_amplitudes
from kernsel.kernels.base import Kernel
from kernsel.kernels.categories import Inherited

__all__ = ["autoregressive"]


def autoregressive(kernels: Sequence[Kernel], columns: Sequence[int] | Sequence[str], fidelity: int | str) -> Kernel:
    """Return the kernel of the autoregressive model of Kennedy and O'Hagan, with a kernel for each fidelity.

    Points have a column with the number of their fidelity, 0 for the lowest. Each fidelity is a multiple of the one below and
    an error that is independent of all below: f_1 = rho f_0 + d, with kernels of f_0 and of d. For more than two fidelities the
    factors are free: f_t is the sum of rho_st g_s for s <= t, with rho_tt = 1 and independent processes g_s.

    Parameters
    ----------
    kernels : sequence of Kernel
        Of f_0 and of the errors of each higher fidelity: functions of `columns`. Those without an amplitude get one that is
        "auto".
    columns : sequence of int or str
        The columns of the points themselves.
    fidelity : int or str
        The column with the number of the fidelity.

    Returns
    -------
    kernel : Kernel
        A sum of products with :class:`Inherited` kernels, whose hyperparameters are the factors rho.

    Examples
    --------
    The high fidelity is known at four points, and the low one at eleven:

    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF, autoregressive
    >>> high = lambda x: (6 * x - 2) ** 2 * np.sin(12 * x - 4)
    >>> low = lambda x: 0.5 * high(x) + 10 * (x - 0.5) - 5
    >>> x0, x1 = np.linspace(0, 1, 11), np.array([0.0, 0.4, 0.6, 1.0])
    >>> X = np.column_stack([np.concatenate([x0, x1]), np.repeat([0, 1], [11, 4])])
    >>> gp = ks.GaussianProcessRegressor(autoregressive([RBF("auto"), RBF("auto")], [0], 1))
    >>> gp = gp.fit(X, np.concatenate([low(x0), high(x1)]))
    >>> z = np.linspace(0, 1, 50)
    >>> bool(np.abs(gp.predict(np.column_stack([z, np.ones(50)])) - high(z)).max() < 0.5)
    True
    >>> rho = gp.kernel_.k1.k2.kernel.rho
    >>> round(float(rho[0]), 1)
    2.0
    """
    terms = list(kernels)
    if len(terms) < 2 or not all(isinstance(one, Kernel) for one in terms):
        raise ValueError(f"kernels: expected a kernel for each of two fidelities at least, got {kernels!r}")
    place = [fidelity] if isinstance(fidelity, int) else [str(fidelity)]
    products = [with_amplitudes(one).on(columns) * Inherited(number).on(place) for number, one in enumerate(terms)]
    total: Kernel = products[0]
    for product in products[1:]:
        total = total + product
    return total

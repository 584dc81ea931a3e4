"""Length scales that the targets suggest, without a search."""

import numpy as np

from kernsel._search.short_scales import with_short_scales
from kernsel.kernels import RBF, ConstantKernel, ExpSineSquared, Linear
from kernsel.kernels.automatic import Data


def test_only_length_scales_that_are_auto_differ(rng):
    X = rng.uniform(size=(200, 2))
    data = Data(X, np.sin(80 * X[:, 0]) + 0.1 * rng.standard_normal(200))
    kernel = ConstantKernel("auto") * RBF("auto") + ConstantKernel(2.0) * RBF(0.3) + ExpSineSquared("auto", "auto")
    usual, *others = with_short_scales(kernel, data)
    assert usual == kernel.resolve(data)
    assert others
    for one in others:
        changed = np.flatnonzero(one.theta != usual.theta)
        assert np.isin(changed, [1, 2, 5]).all()
        assert one.theta[1] < usual.theta[1]
        assert one.bounds.tolist() == usual.bounds.tolist()


def test_where_there_is_nothing_to_change(rng):
    X = rng.uniform(size=(200, 1))
    fast, slow = np.sin(80 * X[:, 0]), np.sin(X[:, 0])
    assert len(with_short_scales(RBF("auto"), Data(X, fast))) > 1
    for kernel, y in (
        (RBF(0.3), fast),
        (RBF("auto", "fixed"), fast),
        (Linear(), fast),
        (RBF("auto"), slow),
        (RBF("auto"), None),
    ):
        assert with_short_scales(kernel, Data(X, y)) == [kernel.resolve(Data(X, y))]

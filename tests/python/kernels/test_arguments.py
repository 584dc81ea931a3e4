"""Arguments that kernels do not have."""

import copy
import inspect
import pickle

import pytest

from kernsel import structured
from kernsel.kernels import RBF, Linear, Matern, Sum, WhiteKernel
from kernsel.kernels import kernel as kernel_of


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(lengthscale=1), "RBF: there is no argument 'lengthscale'; did you mean 'length_scale'?"),
        (lambda: Matern(1.0, nue=1.5), "Matern: there is no argument 'nue'; did you mean 'nu'?"),
        (
            lambda: RBF(1.0, (1, 2), 3, 4),
            "RBF: expected as arguments without a name length_scale, length_scale_bounds at most, got 4 of them",
        ),
        (lambda: WhiteKernel(noise=1.0), "WhiteKernel: there is no argument 'noise'; did you mean 'noise_level'?"),
        (lambda: Sum(RBF(), Linear(), k3=RBF()), "Sum: there is no argument 'k3'; it has k1, k2"),
        (lambda: structured.Spectrum(length=3, x=1), "Spectrum: there is no argument 'x'; it has "),
    ],
)
def test_an_unknown_argument_is_named_with_its_class(make, message):
    with pytest.raises(TypeError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_the_constructors_are_otherwise_as_they_were():
    assert list(inspect.signature(RBF).parameters) == ["length_scale", "length_scale_bounds"]
    kernel = Matern(2.0, nu=1.5)
    assert pickle.loads(pickle.dumps(kernel)) == copy.deepcopy(kernel) == kernel_of(repr(kernel)) == kernel
    with pytest.raises(TypeError, match="expected as arguments without a name length_scale, length_scale_bounds at most"):
        RBF(1.0, "auto", 3)

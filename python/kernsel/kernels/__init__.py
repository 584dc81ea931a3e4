"""Kernels: covariance functions that know their parameters, their gradients and their algebra."""

from kernsel.kernels.algebra import Columns, Exp, PolynomialOf, Power, Product, Sum
from kernsel.kernels.as_sklearn import to_sklearn
from kernsel.kernels.base import Kernel
from kernsel.kernels.categories import Coregion, CorrelatedLevels, Exchangeable, GroupedLevels, Inherited, OrderedLevels
from kernsel.kernels.composition import Composition
from kernsel.kernels.convert import from_sklearn
from kernsel.kernels.fidelities import autoregressive
from kernsel.kernels.functionals import Functionals
from kernsel.kernels.given import FunctionKernel, Precomputed
from kernsel.kernels.hyperparameter import Hyperparameter, Parameter
from kernsel.kernels.inner_product import (
    ArcCosine,
    Brownian,
    DotProduct,
    Linear,
    Polynomial,
    QuadraticForm,
    RadialPair,
    Sigmoid,
)
from kernsel.kernels.maps import Normalize, Transform, Warp
from kernsel.kernels.simple import ConstantKernel, HeteroscedasticNoise, WhiteKernel
from kernsel.kernels.stationary import (
    RBF,
    Cosine,
    Exponential,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    SpectralMixture,
    Wendland,
)
from kernsel.kernels.warped_inputs import WarpedInputs
from kernsel.kernels.written import kernel

__all__ = [
    "RBF",
    "ArcCosine",
    "Brownian",
    "Columns",
    "Composition",
    "ConstantKernel",
    "Coregion",
    "CorrelatedLevels",
    "Cosine",
    "DotProduct",
    "Exchangeable",
    "Exp",
    "ExpSineSquared",
    "Exponential",
    "FunctionKernel",
    "Functionals",
    "GroupedLevels",
    "HeteroscedasticNoise",
    "Hyperparameter",
    "Inherited",
    "Kernel",
    "Linear",
    "Matern",
    "Normalize",
    "OrderedLevels",
    "Parameter",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "Precomputed",
    "Product",
    "QuadraticForm",
    "RadialPair",
    "RationalQuadratic",
    "Sigmoid",
    "SpectralMixture",
    "Sum",
    "Transform",
    "Warp",
    "WarpedInputs",
    "Wendland",
    "WhiteKernel",
    "autoregressive",
    "from_sklearn",
    "kernel",
    "to_sklearn",
]

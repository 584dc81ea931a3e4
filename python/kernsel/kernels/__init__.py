"""Kernels: covariance functions that know their parameters, their gradients and their algebra."""

from kernsel.kernels.algebra import Columns, Exp, PolynomialOf, Power, Product, Sum
from kernsel.kernels.base import Kernel
from kernsel.kernels.convert import from_sklearn
from kernsel.kernels.inner_product import DotProduct, Linear, Polynomial
from kernsel.kernels.simple import ConstantKernel, WhiteKernel
from kernsel.kernels.stationary import RBF, Cosine, Exponential, ExpSineSquared, Matern, RationalQuadratic, Wendland

__all__ = [
    "RBF",
    "Columns",
    "ConstantKernel",
    "Cosine",
    "DotProduct",
    "Exp",
    "ExpSineSquared",
    "Exponential",
    "Kernel",
    "Linear",
    "Matern",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "Product",
    "RationalQuadratic",
    "Sum",
    "Wendland",
    "WhiteKernel",
    "from_sklearn",
]

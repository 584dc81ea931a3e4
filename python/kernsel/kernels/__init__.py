"""Kernels: covariance functions that know their parameters, their gradients and their algebra."""

from kernsel.kernels.algebra import Product, Sum
from kernsel.kernels.base import Kernel
from kernsel.kernels.leaves import RBF, ConstantKernel, WhiteKernel

__all__ = ["RBF", "ConstantKernel", "Kernel", "Product", "Sum", "WhiteKernel"]

"""Kernels of points that are not vectors: distributions, strings, sets and graphs.

They go where kernels of vectors go, alone, in sums and products, and inside others: ``RBF("auto") @ Spectrum(3)`` is the
squared exponential of the distance that the strings have in the features of the spectrum kernel. Estimators,
:func:`kernsel.select` and the criteria then take a list of such objects for X, or several parts of different kinds in
:class:`Mixed`.
"""

from kernsel.kernels.objects import Mixed

__all__ = ["Mixed"]

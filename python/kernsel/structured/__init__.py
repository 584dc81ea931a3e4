"""Kernels of points that are not vectors: distributions, strings, sets and graphs.

They go where kernels of vectors go, alone, in sums and products, and inside others: ``RBF("auto") @ Spectrum(3)`` is the
squared exponential of the distance that the strings have in the features of the spectrum kernel. Estimators,
:func:`kernsel.select` and the criteria then take a list of such objects for X, or several parts of different kinds in
:class:`Mixed`.
"""

from kernsel.kernels.objects import Mixed
from kernsel.structured.barycenter import barycenter
from kernsel.structured.clouds import Cloud, Gaussian
from kernsel.structured.count_kernels import BagOfItems, WeisfeilerLehman
from kernsel.structured.couplings import transport_map
from kernsel.structured.set_kernels import MeanEmbedding, SetKernel
from kernsel.structured.sliced import SlicedWassersteinEmbedding
from kernsel.structured.string_kernels import LocalAlignment, Spectrum, Subsequence
from kernsel.structured.transport import TransportEmbedding, wasserstein_distance
from kernsel.structured.transport_kernels import LinearizedTransport, SlicedWasserstein

__all__ = [
    "BagOfItems",
    "Cloud",
    "Gaussian",
    "LinearizedTransport",
    "LocalAlignment",
    "MeanEmbedding",
    "Mixed",
    "SetKernel",
    "SlicedWasserstein",
    "SlicedWassersteinEmbedding",
    "Spectrum",
    "Subsequence",
    "TransportEmbedding",
    "WeisfeilerLehman",
    "barycenter",
    "transport_map",
    "wasserstein_distance",
]

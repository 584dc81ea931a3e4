"""Kernels of points that are not vectors: distributions, strings, sets, graphs and trees.

They go where kernels of vectors go, alone, in sums and products, and inside others: ``RBF("auto") @ Spectrum(3)`` is the
squared exponential of the distance that the strings have in the features of the spectrum kernel. Estimators,
:func:`kernsel.select` and the criteria then take a list of such objects for X, or several parts of different kinds in
:class:`Mixed`.
"""

from kernsel.kernels.objects import Mixed
from kernsel.structured.bag_kernels import BagOfItems
from kernsel.structured.barycenter import barycenter
from kernsel.structured.clouds import Cloud, Gaussian
from kernsel.structured.couplings import transport_map
from kernsel.structured.graph_kernels import RandomWalk, ShortestPath, WeisfeilerLehman
from kernsel.structured.set_kernels import MeanEmbedding, SetKernel
from kernsel.structured.sliced import SlicedWassersteinEmbedding
from kernsel.structured.string_kernels import LocalAlignment, Spectrum, Subsequence
from kernsel.structured.transport import TransportEmbedding, wasserstein_distance
from kernsel.structured.transport_kernels import LinearizedTransport, SlicedWasserstein
from kernsel.structured.tree_kernels import TreeKernel

__all__ = [
    "BagOfItems",
    "Cloud",
    "Gaussian",
    "LinearizedTransport",
    "LocalAlignment",
    "MeanEmbedding",
    "Mixed",
    "RandomWalk",
    "SetKernel",
    "ShortestPath",
    "SlicedWasserstein",
    "SlicedWassersteinEmbedding",
    "Spectrum",
    "Subsequence",
    "TransportEmbedding",
    "TreeKernel",
    "WeisfeilerLehman",
    "barycenter",
    "transport_map",
    "wasserstein_distance",
]

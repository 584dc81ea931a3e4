"""Print how long embeddings of clouds take: ``python -m bench.scaling.transport``.

The target of the transport embedding is 1.5 times the SciPy assignments that it contains, on as many threads: of the very
matrices that it makes, and of the squared distances. The answers are asserted.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.structured import Cloud, MeanEmbedding, SlicedWassersteinEmbedding, TransportEmbedding
from kernsel.structured.couplings import CloudMaps

from bench.report import row
from bench.timing import interleaved


def clouds(count, n, rng):
    """Return Gaussian clouds of random means and covariances in the plane."""
    return [rng.standard_normal((n, 2)) @ rng.standard_normal((2, 2)) + rng.standard_normal(2) for _ in range(count)]


def transport(count=500, n=200, seconds=6.0):
    rng = np.random.default_rng(0)
    found, reference = clouds(count, n, rng), rng.standard_normal((n, 2))
    embedding = TransportEmbedding(reference).fit(found)
    plain = [cdist(reference, cloud, "sqeuclidean") for cloud in found]
    matched = [CloudMaps(Cloud(reference), "highs").costs(Cloud(cloud)) for cloud in found]

    def assigned(costs):
        with ThreadPoolExecutor(ks.get_num_threads()) as pool:
            return [columns for _, columns in pool.map(linear_sum_assignment, costs)]

    rows = embedding.transform(found).reshape(count, n, 2)
    for cloud, order, images in zip(found, assigned(plain), rows, strict=True):
        assert np.abs(reference - cloud[order] - images * n**0.5).max() <= 1e-12 * np.abs(cloud).max()
    times = interleaved(
        lambda: embedding.transform(found),
        lambda: assigned(matched),
        lambda: assigned(plain),
        lambda: [linear_sum_assignment(C) for C in matched],
        seconds=seconds,
    )
    ours, theirs, of_distances, in_turn = times
    row(
        f"\ntransport, {count} clouds of {n} points",
        ours * 1e3,
        of_assignments=(ours / theirs, "<=", 1.5),
        of_those_of_distances=(ours / of_distances, "<=", 1.5),
        of_assignments_in_turn=ours / in_turn,
    )
    return found, ours


def others(found, transform):
    """Print how long the barycenter takes, beside one transform, and other kernels of the same clouds."""
    whole = TransportEmbedding()
    (fit,) = interleaved(lambda: whole.fit_transform(found), seconds=0.1, rounds=1)
    row("   and its barycenter", fit * 1e3, steps=whole.n_iter_, of_transforms=fit / transform / (whole.n_iter_ + 1))
    sliced, means = interleaved(
        lambda: SlicedWassersteinEmbedding().fit_transform(found), lambda: MeanEmbedding(RBF(1.0))(found[:100]), seconds=2.0
    )
    row("   sliced, 50 directions", sliced * 1e3)
    row("   means of RBF, 100 of them", means * 1e3, Gentries_per_s=sum(map(len, found[:100])) ** 2 / 2 / means / 1e9)


if __name__ == "__main__":
    ks.show_config()
    others(*transport())

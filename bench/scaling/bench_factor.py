"""Size times threads, with pytest-benchmark: ``pytest bench/scaling``; KERNSEL_ISA chooses the instruction set."""

import numpy as np
import pytest

import kernsel as ks


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [100, 300, 1000, 2000])
@pytest.mark.parametrize("what", ["cholesky", "inverse", "inverse_diagonal"])
def bench_factor(benchmark, what, n, threads):
    before = ks.get_num_threads()
    ks.set_num_threads(threads)
    A = np.full((n, n), 0.5)
    A.flat[:: n + 1] = 1.5
    F = ks.linalg.cholesky(A)
    flops = n**3 * {"cholesky": 1 / 3, "inverse": 2 / 3, "inverse_diagonal": 1 / 3}[what]
    result = benchmark((lambda: ks.linalg.cholesky(A)) if what == "cholesky" else getattr(F, what))
    ks.set_num_threads(before)
    benchmark.extra_info["isa"] = ks.show_config("dict")["isa"]
    if benchmark.stats:  # not with --benchmark-disable
        benchmark.extra_info["gigaflops"] = flops / benchmark.stats["min"] / 1e9
    p = 1 - 0.5 / (1 + 0.5 * n)  # of (I + J / 2)^-1
    if what == "cholesky":
        assert result.logdet() == pytest.approx(np.log1p(0.5 * n))
    else:
        assert (np.diag(result) if what == "inverse" else result) == pytest.approx(p)

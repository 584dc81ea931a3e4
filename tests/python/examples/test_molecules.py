"""What the example prints is what its author says."""

import numpy as np
import pytest

from kernsel.examples import molecules

from rows_printed import printed, without_amplitude


@pytest.mark.slow
def test_molecules(capsys):
    rows = printed(capsys, molecules.main)
    (mean,), (counts,), (held_out,) = (
        rows[name]
        for name in ("always the mean", "ridge on counts of 8 elements", "the kernel that leave-one-out chooses without them")
    )
    kernels = without_amplitude(rows)
    depths = [kernels[f"WeisfeilerLehman({depth})"][0] for depth in range(5)]
    # Depth 0 is the counts of elements; neighbours help, and too many of them do not; leave-one-out says how good it is.
    assert held_out < 0.7 * counts < 0.5 * mean
    assert depths[0] == pytest.approx(counts, rel=0.1)
    assert np.argmin(depths) == 1
    best = min(numbers[0] for name, numbers in kernels.items() if name.startswith("Weisfeiler"))
    assert best <= depths[1]
    assert best == pytest.approx(held_out, rel=0.25)

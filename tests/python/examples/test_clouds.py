"""What the example prints is what its author says."""

import pytest

from kernsel.examples import clouds

from rows_printed import printed


@pytest.mark.slow
def test_clouds(capsys):
    rows = printed(capsys, clouds.main)
    (mean,), (formula,) = rows["always the mean"], rows["correlation of the sample, by its formula"]
    within, chosen = rows["chosen"]
    assert 0.5 * formula < chosen < 1.3 * formula < 0.3 * mean
    assert within == pytest.approx(chosen, rel=0.2)
    assert within == min(row[0] for row in rows.values() if len(row) == 2)
    assert sum("@ MeanEmbedding(RBF(" in name for name in rows) == 4
    for name in ("SlicedWasserstein", "LinearizedTransport"):
        assert next(row[1] for key, row in rows.items() if name in key) < 1.3 * formula

"""What the example prints is what its author says."""

import pytest

from kernsel.examples import promoters

from rows_printed import printed


@pytest.mark.slow
def test_promoters(capsys):
    rows = printed(capsys, promoters.main)
    probability, right = rows["always the same"]
    within, best, rate = rows["chosen"]
    assert (probability, right) == (50, pytest.approx(50, abs=5))
    assert best > 1.2 * probability
    assert within == max(row[0] for row in rows.values() if len(row) == 3)
    assert sum("Spectrum(" in name for name in rows) == 9
    (told,) = next(row for name, row in rows.items() if name.endswith("if somebody tells us these"))
    assert 75 < rate < told < 100

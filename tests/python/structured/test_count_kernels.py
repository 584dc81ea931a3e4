"""What kernels of bags and of graphs refuse."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from kernsel import structured as st


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: st.BagOfItems()(csr_array(np.eye(2))), TypeError, "X: expected a list of objects"),
        (lambda: st.BagOfItems("cosine"), ValueError, "kind: expected one of"),
        (lambda: st.BagOfItems()(["text"]), TypeError, r"X\[0\]"),
        (lambda: st.WeisfeilerLehman(-1), ValueError, "depth: expected a whole number from 0 on"),
        (lambda: st.WeisfeilerLehman()([([(0, 5)], "CO")]), ValueError, r"X\[0\]"),
        (lambda: st.WeisfeilerLehman()([([(0, 1)], "CO"), ([(0, 1)], None)]), ValueError, "has no labels"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()

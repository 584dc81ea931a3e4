"""What the kernel of bags refuses."""

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
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()

"""Kernel machines that were loaded."""

import numpy as np
import pytest

import saved


def test_a_path_is_decomposed_again_when_it_is_asked_for(again):
    model = saved.model("cv")
    loaded = again(model)
    assert "path_" not in vars(loaded)
    np.testing.assert_allclose(loaded.path_.loo, model.path_.loo, rtol=1e-9)
    assert loaded.path_.best("reml") == pytest.approx(model.path_.best("reml"))
    with pytest.raises(AttributeError, match="alpha was not chosen along a path by this KernelRidge"):
        again(saved.model("ridge of a kernel")).path_  # noqa: B018

"""Axes and keywords of the user, and matplotlib, which is imported late."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt

from kernsel.plotting import (
    KernelDisplay,
    LCurveDisplay,
    LOODisplay,
    PathDisplay,
)

import children


def test_axes_of_the_user(process):
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    assert LOODisplay.from_estimator(process, ax=axes[0]).ax_ is axes[0]
    display = PathDisplay.from_estimator(process, ax=axes[1])  # divided
    assert display.figure_ is figure
    assert len(display.axes_) == 2
    assert not axes[1].axison
    assert LCurveDisplay.from_estimator(process, ax=axes[2]).figure_ is figure
    assert plt.get_fignums() == [figure.number]
    _, two = plt.subplots(1, 2)
    assert KernelDisplay.from_estimator(process, ax=two).axes_.tolist() == two.tolist()
    free = plt.figure().add_axes([0.1, 0.1, 0.8, 0.8])
    assert LCurveDisplay.from_estimator(process, ax=free).legend_.axes is free
    for wrong, error in ((free, ValueError), ("left", TypeError), (np.append(two, axes[0]), ValueError)):
        with pytest.raises(error, match=r"^ax: "):
            PathDisplay.from_estimator(process, ax=wrong)
    again = LOODisplay.from_estimator(process)
    before = again.figure_
    assert again.plot(kind="qq").figure_ is not before  # drawn anew


def test_keywords_for_matplotlib(process):
    assert LOODisplay.from_estimator(process, scatter_kwargs={"color": "red"}).scatter_.get_facecolor()[0, 0] == 1.0
    assert LCurveDisplay.from_estimator(process, line_kwargs={"linewidth": 7}).line_.get_linewidth() == 7
    assert KernelDisplay.from_estimator(process, image_kwargs={"cmap": "magma"}).image_.get_cmap().name == "magma"


def test_matplotlib_is_imported_late_and_missed_clearly():
    code = """
import sys, kernsel as ks
assert not [name for name in sys.modules if name.startswith("matplotlib")], "imported"
sys.modules["matplotlib"] = None
model = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), noise=0.1).fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 0.0])
others = {"NestedDisplay": "from_result", "SVRPathDisplay": "from_path"}
for name in ks.plotting.__all__:
    maker = others.get(name, "from_estimator")
    try:
        getattr(getattr(ks.plotting, name), maker)(model)
    except ImportError as error:
        assert str(error) == f"{name}.{maker} needs matplotlib: pip install 'kernsel[plot]'", error
    else:
        raise AssertionError(name)
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=children.environment())

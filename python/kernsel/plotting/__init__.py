"""Plots, as scikit-learn's Display objects: of estimators that are fitted, or of numbers; on any axes, light or dark.

They need matplotlib: ``pip install 'kernsel[plot]'``. It is imported when the first plot is made. Figures of your own are best
made with ``layout="constrained"``: legends go below the axes where a layout makes room for them, and otherwise inside.
"""

from kernsel.plotting.bias_variance import BiasVarianceDisplay
from kernsel.plotting.boundary import BoundaryDisplay
from kernsel.plotting.feature_space import FeatureSpaceDisplay
from kernsel.plotting.kernel import KernelDisplay
from kernsel.plotting.l_curve import LCurveDisplay
from kernsel.plotting.loo import LOODisplay
from kernsel.plotting.main_effects import MainEffectsDisplay
from kernsel.plotting.nested import NestedDisplay
from kernsel.plotting.path import PathDisplay
from kernsel.plotting.posterior import PosteriorDisplay
from kernsel.plotting.prior import PriorDisplay
from kernsel.plotting.rootogram import RootogramDisplay
from kernsel.plotting.search import SearchDisplay
from kernsel.plotting.svr_path import SVRPathDisplay
from kernsel.plotting.validation import ValidationDisplay

__all__ = [
    "BiasVarianceDisplay",
    "BoundaryDisplay",
    "FeatureSpaceDisplay",
    "KernelDisplay",
    "LCurveDisplay",
    "LOODisplay",
    "MainEffectsDisplay",
    "NestedDisplay",
    "PathDisplay",
    "PosteriorDisplay",
    "PriorDisplay",
    "RootogramDisplay",
    "SVRPathDisplay",
    "SearchDisplay",
    "ValidationDisplay",
]

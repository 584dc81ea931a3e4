"""Plots, as scikit-learn's Display objects: of estimators that are fitted, or of numbers; on any axes, light or dark.

They need matplotlib: ``pip install 'kernsel[plot]'``. It is imported when the first plot is made. Figures of your own are best
made with ``layout="constrained"``: legends go below the axes where a layout makes room for them, and otherwise inside.
"""

from kernsel.plotting.kernel import KernelDisplay
from kernsel.plotting.l_curve import LCurveDisplay
from kernsel.plotting.loo import LOODisplay
from kernsel.plotting.main_effects import MainEffectsDisplay
from kernsel.plotting.path import PathDisplay
from kernsel.plotting.posterior import PosteriorDisplay
from kernsel.plotting.rootogram import RootogramDisplay
from kernsel.plotting.search import SearchDisplay

__all__ = [
    "KernelDisplay",
    "LCurveDisplay",
    "LOODisplay",
    "MainEffectsDisplay",
    "PathDisplay",
    "PosteriorDisplay",
    "RootogramDisplay",
    "SearchDisplay",
]

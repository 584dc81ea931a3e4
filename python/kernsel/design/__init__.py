"""Next points: where to evaluate an expensive function, given a Gaussian process of what is known.

:func:`first_points` fills a box before anything is known, and :func:`propose` returns the next points, one or a batch, also
with whole numbers, categories and constraints. What a point is worth is an acquisition function of the fitted process:
:class:`ExpectedImprovement`, :class:`LogExpectedImprovement`, :class:`ProbabilityOfImprovement`,
:class:`UpperConfidenceBound` and :class:`KnowledgeGradient` look for an optimum, :class:`Variance` and
:class:`VarianceReduction` learn the whole function, :class:`JointExpectedImprovement` is of several points together. All have
exact gradients in the points, and are computed for many points at once. Larger values are better.
"""

from kernsel.design.acquisition import Acquisition
from kernsel.design.confidence import UpperConfidenceBound
from kernsel.design.first_points import first_points
from kernsel.design.improvement import ExpectedImprovement, LogExpectedImprovement, ProbabilityOfImprovement
from kernsel.design.joint_improvement import JointExpectedImprovement
from kernsel.design.knowledge_gradient import KnowledgeGradient
from kernsel.design.propose import propose
from kernsel.design.variance import Variance, VarianceReduction

__all__ = [
    "Acquisition",
    "ExpectedImprovement",
    "JointExpectedImprovement",
    "KnowledgeGradient",
    "LogExpectedImprovement",
    "ProbabilityOfImprovement",
    "UpperConfidenceBound",
    "Variance",
    "VarianceReduction",
    "first_points",
    "propose",
]

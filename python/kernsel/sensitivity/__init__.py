"""Which inputs matter: Sobol' indices, main effects and Shapley effects of a fitted model, or of any function.

:func:`sobol` tells what share of the variance of a function each input explains, alone and together with others;
:func:`main_effects` what the function is on average along each input; :func:`shapley` shares out the variance among inputs that
depend on each other. Inputs are :class:`Uniform` or :class:`Normal`, or dependent by a :class:`GaussianCopula`.
"""

from kernsel.sensitivity.effects import main_effects
from kernsel.sensitivity.indices import sobol
from kernsel.sensitivity.inputs import GaussianCopula, Normal, Uniform
from kernsel.sensitivity.shapley_effects import shapley

__all__ = ["GaussianCopula", "Normal", "Uniform", "main_effects", "shapley", "sobol"]

"""Features of points for linear models, as scikit-learn's transformers.

With :class:`~kernsel.RidgeRegression`, n points and p features cost O(n p^2), where a kernel costs O(n^3).
"""

from kernsel.features.fourier import Fourier
from kernsel.features.nystrom import Nystrom
from kernsel.features.polynomial import Polynomial
from kernsel.features.radial_basis import RadialBasis

__all__ = ["Fourier", "Nystrom", "Polynomial", "RadialBasis"]

"""The result and the report of a search for hyperparameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernsel._base.annotations import Indices, Vector
from kernsel._data.together import LearntOnce
from kernsel._search.far_rows import FarRows
from kernsel.criteria import Criterion
from kernsel.kernels import Kernel
from kernsel.likelihoods import Likelihood

__all__ = ["Selection", "said_of_not_sought"]


@dataclass(frozen=True)
class Selection:
    """The result and the report of a search.

    Attributes
    ----------
    kernel : Kernel
        The kernel with the hyperparameters for which the criterion is best.
    noise : float
        The estimated variance of the noise; nan if none was to be estimated.
    amplitude : float
        The factor of the kernel, if one was to be found that is not a hyperparameter of the kernel; otherwise 1.
    jitter : float
        The number that was added to the diagonal of the kernel matrix, so that it can be factorized.
    likelihood : Likelihood or None
        The likelihood of observations with the parameters that were found, if it is not the normal one.
    criterion : Criterion
        The criterion as it was evaluated, with the scale profiled out where that makes the search shorter.
    value : float
        The value of that criterion at the end of the search.
    scale : float
        The common factor of kernel and noise that `kernel` does not include, because it has no amplitude, or one whose bounds
        exclude the product; otherwise 1.
    spread : float
        The standard deviation of the logarithms of a kernel's length scales around their common value that was expected, see
        the parameter `shrinkage`; nan if they were not expected to be alike.
    n_evaluations, n_evaluations_subset : int
        The number of evaluations of the criterion on all points, and on the subset on which the search began.
    of_starts : ndarray
        The value that the search reached from each start; on the subset, if there was one.
    at_bounds, flat : list of str
        The hyperparameters that ended at one of their bounds, and those that the criterion hardly depends on.
    not_sought : list of str
        What was not looked for because a kernel that is an object is taken as it is: "noise", "trend", "amplitude". A kernel
        given by text leaves them open.
    approximation : str
        What was approximated, why, and how good that is; empty if nothing was.
    far : FarRows or None
        Rows that are far from what the others predict, where noise was found: outliers, or tails heavier than normal.
    ended : {"converged", "evaluations", "seconds", "stopped", "interrupted", "undecided"}
        Why the search ended. "undecided" means that the trend alone explains y, so that there was nothing to search.
    seconds : float
        The duration of the search.
    interrupt : BaseException or None
        The exception that interrupted the search.
    remarks : list of str
        Sentences that a user should read, such as how many rows are repeated.
    compared : str
        How likelihoods compared among which the data have chosen, in a sentence; empty if there was one.
    rows : ndarray of int or None
        The rows that were learnt from, if others are copies of them or have a weight of zero; None if all were.
    """

    kernel: Kernel
    noise: float
    jitter: float
    criterion: Criterion
    value: float
    amplitude: float = 1.0
    scale: float = 1.0
    spread: float = np.nan
    n_evaluations: int = 0
    n_evaluations_subset: int = 0
    of_starts: Vector = field(default_factory=lambda: np.zeros(0))
    at_bounds: list[str] = field(default_factory=list)
    flat: list[str] = field(default_factory=list)
    not_sought: list[str] = field(default_factory=list)
    approximation: str = ""
    far: FarRows | None = None
    ended: str = "converged"
    seconds: float = 0.0
    interrupt: BaseException | None = None
    remarks: list[str] = field(default_factory=list)
    rows: Indices | None = None
    likelihood: Likelihood | None = None
    compared: str = ""

    def __str__(self) -> str:
        noise = "" if np.isnan(self.noise) else f", noise {self.noise:.4g}"
        counts = f"{self.n_evaluations} evaluations"
        if self.n_evaluations_subset:
            counts += f", {self.n_evaluations_subset} before on a subset"
        starts = ", ".join(f"{value:.6g}" for value in self.of_starts)
        lines = [
            f"{self.kernel}{noise}" if self.likelihood is None else f"{self.likelihood} given {self.kernel}",
            ""
            if np.isnan(self.spread)
            else f"length scales expected to be alike, but for a factor of {np.exp(self.spread):.3g}",
            f"value {self.value:.6g} after {counts}, {self.seconds:.2f} s; ended: {self.ended}",
            f"of the starts: {starts}" if starts else "",
            f"at a bound: {', '.join(self.at_bounds)}" if self.at_bounds else "",
            f"the criterion hardly depends on: {', '.join(self.flat)}" if self.flat else "",
            self.said_of_not_sought,
            self.approximation,
            self.compared,
            *self.remarks,
            self.said_of_far,
        ]
        return "\n".join(filter(None, lines))

    def of_rows(self, once: LearntOnce) -> Selection:
        """Return the report of a search for which each row was learnt from once, with rows numbered as they were given."""
        far = None if self.far is None else replace(self.far, rows=once.kept[self.far.rows])
        return replace(self, far=far, remarks=[str(once), *self.remarks], rows=once.kept)

    def among(self, used: Indices) -> Selection:
        """Return the report of a search among some of the rows, with rows numbered as they were given."""
        far = None if self.far is None else replace(self.far, rows=used[self.far.rows])
        return replace(self, far=far, rows=used if self.rows is None else used[self.rows])

    @property
    def said_of_far(self) -> str:
        """What there is to say of rows that are far from what the others predict; empty if there are none."""
        return "" if self.far is None else self.far.said()

    @property
    def said_of_not_sought(self) -> str:
        """What was not looked for, in words; empty if nothing was left out."""
        return said_of_not_sought(self.not_sought) if self.not_sought else ""


def said_of_not_sought(names: Sequence[str], *, of_machine: bool = False) -> str:
    """Return a remark on what was not looked for because the kernel of a process, or of a kernel machine, is an object."""
    which = 'kernel="auto", or a kernel given by text,' if of_machine else "a kernel given by text"
    return f"not looked for: {', '.join(names)} ({which} leaves them open)"

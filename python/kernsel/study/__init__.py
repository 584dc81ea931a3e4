"""Studies: the choice of a kernel for a table by several criteria, with everything that was tried as plain data."""

from kernsel.study.choose import require_criterion, scores, study
from kernsel.study.line import Line
from kernsel.study.notes import plain
from kernsel.study.result import Study
from kernsel.study.saved import study_of_selection
from kernsel.study.texts import kernel_of, label

__all__ = ["Line", "Study", "kernel_of", "label", "plain", "require_criterion", "scores", "study", "study_of_selection"]

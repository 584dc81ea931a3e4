"""The progress of a search: a progress bar or lines of text, and scikit-learn's callbacks."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CallbackSupport", "remark", "watched", "with_callbacks"]

try:  # scikit-learn 1.9 and later
    _callback = importlib.import_module("sklearn.callback")
    CallbackSupport: Any = _callback.CallbackSupportMixin
    with_callbacks: Any = _callback.with_callbacks
except (ImportError, AttributeError):

    class CallbackSupport:  # type: ignore[no-redef]
        """An empty class in place of scikit-learn's mixin, for versions without it."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged, for versions of scikit-learn without callbacks."""
        return method


def remark(line: str) -> None:
    """Print a line about a fit that was asked to be verbose, on the standard error."""
    print(line, file=sys.stderr, flush=True)


class watched:  # noqa: N801
    """A context manager that yields the function to call after each evaluation, or None if progress is not shown.

    Parameters
    ----------
    estimator : object
        The estimator that is fitted, which may have scikit-learn's callbacks.
    verbose : int
        0 shows nothing; otherwise a progress bar of tqdm, or without tqdm a line on the standard error every second.
    evaluations : int
        The largest number of evaluations.
    """

    def __init__(self, estimator: Any, verbose: int, evaluations: int) -> None:
        self.estimator = estimator
        self.verbose = verbose
        self.evaluations = evaluations
        self.context: Any = None
        self.bar: Any = None
        self.last_line = 0.0
        self.line = ""  # the last line of text that has not been printed

    def __enter__(self) -> Callable[[int, int, float], bool] | None:
        if getattr(self.estimator, "_skl_callbacks", None) or hasattr(self.estimator, "_parent_callback_ctx"):
            self.context = self.estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=self.estimator)
        if self.verbose:
            try:
                self.bar = importlib.import_module("tqdm").tqdm(desc=type(self.estimator).__name__, unit=" evaluations")
            except ImportError:
                self.bar = None
        return self.tell if self.verbose or self.context is not None else None

    def tell(self, evaluations: int, points: int, best: float) -> bool:
        """Show the progress of the search; return False if a callback asks to end it."""
        go_on = True
        if self.context is not None:
            part = self.context.subcontext(task_name="evaluation")
            part.call_on_fit_task_begin(estimator=self.estimator)
            go_on = not part.call_on_fit_task_end(estimator=self.estimator)
        if self.bar is not None:
            self.bar.set_postfix_str(f"best {best:.6g}" if np.isfinite(best) else f"{points} points", refresh=False)
            self.bar.update(evaluations - self.bar.n)
        elif self.verbose:
            self.line = f"{type(self.estimator).__name__}: {evaluations} evaluations, best {best:.6g}"
            if time.monotonic() - self.last_line > 1:
                self.show_line()
        return go_on

    def show_line(self) -> None:
        """Print the last line of text, if it has not been printed."""
        if self.line:
            remark(self.line)
        self.line, self.last_line = "", time.monotonic()

    def __exit__(self, *error: object) -> None:
        self.show_line()
        if self.bar is not None:
            self.bar.close()
        if self.context is not None and error[0] is None:
            self.context.call_on_fit_task_end(estimator=self.estimator)

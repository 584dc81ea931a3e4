"""Who watches a search: a bar or lines for people, and scikit-learn's callbacks."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CallbackSupport", "watched", "with_callbacks"]

try:  # scikit-learn 1.9 and later
    _callback = importlib.import_module("sklearn.callback")
    CallbackSupport: Any = _callback.CallbackSupportMixin
    with_callbacks: Any = _callback.with_callbacks
except (ImportError, AttributeError):

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin where that does not exist."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


class watched:  # noqa: N801
    """A context that gives the function to be told of each evaluation, or None if nobody watches.

    Parameters
    ----------
    estimator : object
        With scikit-learn's callbacks, perhaps.
    verbose : int
        0 for silence; otherwise a bar of tqdm's if that can be imported, and if not, a line to the standard error every second.
    evaluations : int
        How many there can be.
    """

    def __init__(self, estimator: Any, verbose: int, evaluations: int) -> None:
        self.estimator = estimator
        self.verbose = verbose
        self.evaluations = evaluations
        self.context: Any = None
        self.bar: Any = None
        self.last_line = 0.0
        self.line = ""  # that was not shown yet

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
        """Show how far the search is; return False to end it."""
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
        """Print the last line, if there is one that was not shown."""
        if self.line:
            print(self.line, file=sys.stderr, flush=True)
        self.line, self.last_line = "", time.monotonic()

    def __exit__(self, *error: object) -> None:
        self.show_line()
        if self.bar is not None:
            self.bar.close()
        if self.context is not None and error[0] is None:
            self.context.call_on_fit_task_end(estimator=self.estimator)

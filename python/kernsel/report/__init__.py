"""The report of a study: one page of HTML with its style and figures in it.

It needs matplotlib: ``pip install 'kernsel[cli]'``.
"""

from __future__ import annotations

from pathlib import Path

from kernsel.report.page import page
from kernsel.study import Study

__all__ = ["render", "write_report"]


def render(study: Study, *, file: str = "model.ksl", command: str = "") -> str:
    """Return the report of a study as HTML.

    Parameters
    ----------
    study : Study
    file : str
        The name that the model is saved under, for the lines that load it.
    command : str
        The command that made the study, which the page shows.

    Returns
    -------
    html : str

    Examples
    --------
    >>> import re
    >>> from importlib.resources import files
    >>> from kernsel.report import render
    >>> from kernsel.study import study
    >>> from kernsel.study.tables import read_table
    >>> cars = read_table(str(files("kernsel") / "examples" / "cars.csv"), "dist")
    >>> page = render(study(cars, kernels=["RBF"], criteria=["reml"]))
    >>> page[:15], "dist is predicted from speed" in re.sub("<[^>]*>", "", page)
    ('<!DOCTYPE html>', True)
    """
    return page(study, file, command)


def write_report(study: Study, path: str | Path, *, file: str = "model.ksl", command: str = "") -> None:
    """Write the report of a study to one file, which needs no other files and no network.

    Parameters
    ----------
    study : Study
    path : str or Path
    file, command : str
        See :func:`render`.
    """
    Path(path).write_text(render(study, file=file, command=command), encoding="utf-8")

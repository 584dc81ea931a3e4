"""Checks of output files before a computation, so that its result is not lost."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

__all__ = ["require_format_of_table", "require_model", "require_report", "require_writable"]

_FORMATS = {
    ".csv": "CSV",
    ".txt": "CSV",
    "": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".npz": "npz",
}
_OTHERS = {".gz", ".htm", ".html", ".json", ".ods", ".pdf", ".png", ".py", ".svg", ".xls", ".xlsx", ".zip"}


def require_format_of_table(path: str) -> str:
    """Return the format that the ending of a file names: CSV, TSV, Parquet or npz; raise if it names another one."""
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        raise ValueError(
            f"--output: {path} would not be of the format that its ending says; expected .csv, .tsv, .parquet or .npz"
        )
    return _FORMATS[ending]


def require_model(path: str) -> None:
    """Raise if the ending of a file is that of something other than a model."""
    ending = Path(path).suffix.lower()
    if ending in {*_FORMATS, *_OTHERS} - {""}:
        raise ValueError(f"--save: {path} would be no {ending} file, but a model; expected .ksl")


def require_writable(*paths: str | None) -> None:
    """Raise if one of the files cannot be written."""
    for path in paths:
        if path is None:
            continue
        file = Path(path)
        if file.is_dir():
            raise IsADirectoryError(f"{path} is a directory; expected the name of a file")
        folder = file.parent
        if not folder.is_dir():
            raise FileNotFoundError(f"{path} cannot be written: there is no directory {folder}")
        if not os.access(file if file.exists() else folder, os.W_OK):
            raise PermissionError(f"{path} cannot be written: there is no permission")


def require_report(path: str | None, option: str = "--report") -> None:
    """Raise if there is to be a report, and its file would be no page, or matplotlib is not installed."""
    if path is not None and Path(path).suffix.lower() not in (".html", ".htm", ""):
        raise ValueError(f"{option}: {path} would not be of the format that its ending says; expected .html")
    if path is not None and importlib.util.find_spec("matplotlib") is None:
        raise ImportError("a report needs matplotlib: pip install 'kernsel[cli]'")

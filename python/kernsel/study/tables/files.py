"""The reading of a file of any known format."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path

from kernsel._base.memory import require_memory
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.separated import read_separated
from kernsel.study.tables.typed import read_npz, read_parquet

__all__ = ["read_raw"]

_UNSUPPORTED = {
    ".xls": "Excel",
    ".xlsx": "Excel",
    ".ods": "spreadsheet",
    ".json": "JSON",
    ".gz": "compressed",
    ".zip": "compressed",
}
# The memory that reading takes for each byte of a file, roughly.
_MEMORY = {".parquet": 12, ".npz": 8}
_MEMORY_OF_TEXT = 16


def read_raw(path: str) -> Raw:
    """Return the columns of a CSV, TSV, Parquet or npz file, or of CSV or TSV on the standard input if the path is "-"."""
    if path == "-":
        return read_separated(sys.stdin.buffer.read(), "the standard input")
    file = Path(path)
    ending = file.suffix.lower()
    if file.is_dir():
        raise IsADirectoryError(f"{path} is a directory; expected a CSV, TSV, Parquet or npz file")
    if not file.exists():
        raise FileNotFoundError(f"there is no file {path}{_close_file(file)}")
    if ending in _UNSUPPORTED:
        raise ValueError(f"{path}: {_UNSUPPORTED[ending]} files are not read; save it as CSV (comma-separated text)")
    _require_memory(file)
    content = file.read_bytes()
    if ending in (".parquet", ".pq"):
        return read_parquet(content, path)
    return read_npz(content, path) if ending == ".npz" else read_separated(content, path)


def _close_file(file: Path) -> str:
    """Return a hint with a file of a similar name in the directory, if there is one."""
    try:
        names = [entry.name for entry in file.parent.iterdir()]
    except OSError:
        return f": there is no directory {file.parent}"
    close = get_close_matches(file.name, names, 1, 0.6)
    return f"; did you mean {file.parent / close[0]}?" if close else ""


def _require_memory(file: Path) -> None:
    """Raise if reading a file would take more memory than is available."""
    needed = file.stat().st_size * _MEMORY.get(file.suffix.lower(), _MEMORY_OF_TEXT)
    some = f"(head -n 1 {file}; tail -n +2 {file} | shuf -n 100000) > some.csv"
    require_memory(needed, f"reading {file} takes some", f"; take some of its rows (for instance: {some})")

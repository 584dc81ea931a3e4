"""The reading of a file of any known format."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from difflib import get_close_matches
from pathlib import Path

from kernsel._base.memory import require_memory
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.separated import read_separated
from kernsel.study.tables.sheets import read_sheet, size_of_sheets
from kernsel.study.tables.typed import read_npz, read_parquet

__all__ = ["read_raw"]

_READ = "CSV, TSV, Excel (.xlsx), Parquet or npz"
_UNSUPPORTED = {
    ".xls": "Old Excel files (.xls)",
    ".ods": "Spreadsheet files",
    ".json": "JSON files",
    ".zip": "Compressed files other than .gz",
    ".bz2": "Compressed files other than .gz",
    ".xz": "Compressed files other than .gz",
    ".zst": "Compressed files other than .gz",
}
# The memory that reading takes for each byte of a file, roughly. Excel's are counted without compression.
_MEMORY = {".parquet": 12, ".npz": 8}
_MEMORY_OF_TEXT = 16
_GZIP = b"\x1f\x8b"  # the first bytes of what gzip has compressed
_STEP = 2**24  # bytes that are decompressed before their number is checked


def read_raw(path: str) -> Raw:
    """Return the columns of a CSV, TSV, Excel, Parquet or npz file, which gzip may have compressed.

    The path "-" stands for the standard input.
    """
    if path == "-":
        return _parsed(sys.stdin.buffer.read(), "the standard input", "")
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{path} is a directory; expected a {_READ} file, or a directory of Parquet files")
    if not file.exists():
        raise FileNotFoundError(f"there is no file {path}{_close_file(file)}")
    ending = file.suffix.lower()
    if ending in _UNSUPPORTED:
        raise ValueError(f"{path}: {_UNSUPPORTED[ending]} are not read; save it as CSV (comma-separated text)")
    _require_memory(file.stat().st_size, path, ending)
    return _parsed(file.read_bytes(), path, Path(file.stem).suffix.lower() if ending == ".gz" else ending)


def _parsed(content: bytes, source: str, ending: str) -> Raw:
    """Return the columns of the content of a file, by the format that the ending of its name says."""
    if content[:2] == _GZIP:
        content = _decompressed(content, source, ending)
    if ending in (".parquet", ".pq"):
        return read_parquet(content, source)
    if ending in (".xlsx", ".xlsm"):
        _require_memory(size_of_sheets(content, source), source, ending)
        return read_sheet(content, source)
    return read_npz(content, source) if ending == ".npz" else read_separated(content, source)


def _decompressed(content: bytes, source: str, ending: str) -> bytes:
    """Return what gzip has compressed; raise as soon as it is more than there is memory for."""
    parts, size = [], 0
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            while part := stream.read(_STEP):
                parts.append(part)
                size += len(part)
                _require_memory(size, source, ending)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{source} cannot be decompressed: {error}") from None
    return b"".join(parts)


def _close_file(file: Path) -> str:
    """Return a hint with a file of a similar name in the directory, if there is one."""
    try:
        names = [entry.name for entry in file.parent.iterdir()]
    except OSError:
        return f": there is no directory {file.parent}"
    close = get_close_matches(file.name, names, 1, 0.6)
    return f"; did you mean {file.parent / close[0]}?" if close else ""


def _require_memory(size: int, source: str, ending: str) -> None:
    """Raise if reading so many bytes, without compression, would take more memory than is available."""
    needed = size * _MEMORY.get(ending, _MEMORY_OF_TEXT)
    some = f"(head -n 1 {source}; tail -n +2 {source} | shuf -n 100000) > some.csv"
    require_memory(needed, f"reading {source} takes some", f"; take some of its rows (for instance: {some})")

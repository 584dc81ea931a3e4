"""Files of named arrays and texts in the format of safetensors, for which there are readers in many languages.

A file begins with eight bytes, little-endian, the length of the header. The header is JSON, padded with spaces to a multiple of
eight bytes::

    {"__metadata__": {text: text}, name: {"dtype": "F64", "shape": [3, 2], "data_offsets": [begin, end]}, ...}

The arrays follow, little-endian, in row-major order, without gaps; offsets are relative to the end of the header. Since a file
may be malicious, all sizes in its header are compared with its length before anything is read or allocated.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from errno import ENOENT
from math import isfinite, prod
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Container", "Stored", "plain_json", "read_container", "write_container", "written_json"]

DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "BOOL": "|b1", "U8": "|u1"}
LARGEST_HEADER = 2**23
Stored = NDArray[np.generic]  # an array of any dtype that a file can contain
DEEPEST = 256  # the deepest nesting of lists and objects, which Python and C++ read by recursion
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


class Container:
    """The contents of a file: texts, and arrays that are read on request."""

    def __init__(self, path: Path, metadata: dict[str, str], tensors: dict[str, tuple[str, tuple[int, ...], int]]) -> None:
        self.path = path
        self.metadata = metadata
        self.tensors = tensors  # the dtype, the shape and the position in the file of each array

    def array(self, name: str) -> NDArray[Any]:
        """Return an array of the file."""
        kind, shape, begin = self.tensors[name]
        with self.path.open("rb") as file:
            file.seek(begin)
            count = prod(shape)
            values = np.fromfile(file, dtype="|u1" if kind == "BOOL" else DTYPES[kind], count=count)
        if len(values) != count:
            raise ValueError(f"{name}: the file ends within this array")
        if kind == "BOOL":
            if (values > 1).any():
                raise ValueError(f"{name}: expected bytes 0 and 1")
            values = values.astype(bool)
        return values.astype(values.dtype.newbyteorder("="), copy=False).reshape(shape)


def write_container(path: str | os.PathLike[str], arrays: Mapping[str, Stored], metadata: Mapping[str, str]) -> None:
    """Write a file completely or not at all. An existing file of that name is replaced.

    Parameters
    ----------
    path : str or path-like
    arrays : dict of str to ndarray
        Arrays of float64, float32, int64, bool or uint8.
    metadata : dict of str to str
    """
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    kinds = {np.dtype(code).newbyteorder("="): kind for kind, code in DTYPES.items()}
    stored = []
    begin = 0
    for name, array in sorted(arrays.items(), key=lambda item: -item[1].itemsize):  # so that arrays are aligned
        values = np.ascontiguousarray(array).reshape(array.shape)
        kind = kinds[values.dtype.newbyteorder("=")]
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [begin, begin + values.nbytes]}
        stored.append(values.astype(DTYPES[kind], copy=False))
        begin += values.nbytes
    text = written_json(header).encode("ascii")
    text += b" " * (-len(text) % 8)
    if len(text) > LARGEST_HEADER:
        raise ValueError(f"all but the arrays takes {len(text)} bytes, {LARGEST_HEADER} at most can be written; use pickle")
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(target))
    beside = target.with_name(f".{target.name}.{token_hex(8)}")
    try:
        with beside.open("xb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for values in stored:
                file.write(values.data if values.size else b"")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read_container(path: str | os.PathLike[str]) -> Container:
    """Read the header of a file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    container : Container

    Raises
    ------
    ValueError
        If the file is damaged, or has another format.
    OSError
        If the file cannot be opened.
    """
    path = Path(path)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise ValueError("this is no model: expected a file that kernsel.save has written, and all of it")
        if length > LARGEST_HEADER:
            raise ValueError(f"this is no model: its header has {length} bytes, {LARGEST_HEADER} are allowed")
        raw = file.read(length)
    if not raw.startswith(b"{"):
        raise ValueError("this is no model: its header is not JSON")
    header = plain_json(raw, "the header")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("__metadata__: expected texts by name")
    return Container(path, metadata, _places(header, 8 + length, size))


def _places(header: dict[str, object], start: int, size: int) -> dict[str, tuple[str, tuple[int, ...], int]]:
    """Return the dtype, the shape and the position of each array; raise unless the arrays fill the file without gaps."""
    tensors, spans = {}, []
    for name, entry in header.items():
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"{_shown(name)}: expected dtype, shape and data_offsets")
        kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(kind, str) or kind not in DTYPES:
            raise ValueError(f"{_shown(name)}: expected a dtype of {', '.join(DTYPES)}, got {_shown(kind)}")
        if not _wholes(shape) or len(shape) > 8:
            raise ValueError(f"{_shown(name)}: expected a shape of whole numbers, got {_shown(shape)}")
        if not _wholes(offsets) or len(offsets) != 2:
            raise ValueError(f"{_shown(name)}: expected data_offsets [begin, end], got {_shown(offsets)}")
        begin, end = offsets
        if end > size - start or end - begin != prod(shape) * np.dtype(DTYPES[kind]).itemsize:
            raise ValueError(
                f"{_shown(name)}: bytes {begin} to {end} are no array of {kind} of shape {_shown(shape)}, in a file of {size}"
            )
        tensors[name] = (kind, tuple(shape), start + begin)
        spans.append((begin, end))
    at = 0
    for begin, end in sorted(spans):
        if begin != at:
            raise ValueError(f"the arrays overlap or leave holes at byte {min(at, begin)}")
        at = end
    if start + at != size:
        raise ValueError(f"the arrays end at byte {start + at}, the file at {size}")
    return tensors


def _wholes(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**63 for value in values)


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."


def _depth(text: str) -> int:
    """Return the depth of nested lists and objects in JSON text; brackets within strings are not counted."""
    outside = np.frombuffer(_TEXT.sub("", text).encode("utf-8", "replace"), dtype=np.uint8)
    steps = np.isin(outside, list(b"[{")).astype(np.int32) - np.isin(outside, list(b"]}"))
    return int(np.cumsum(steps).max(initial=0))


def written_json(value: object) -> str:
    """Return JSON in ASCII; raise for nan and infinity, which JSON does not have."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def plain_json(text: bytes | str, what: str) -> Any:
    """Read JSON strictly: in UTF-8, with unique names and finite numbers, and with nesting of a limited depth."""

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, value in pairs:
            if name in found:
                raise ValueError(f"{_shown(name)} is there twice")
            found[name] = value
        return found

    def real(number: str) -> float:
        value = float(number)
        if not isfinite(value):
            raise ValueError(f"{number[:20]} is not a finite number")
        return value

    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        if _depth(text) > DEEPEST:
            raise ValueError(f"more than {DEEPEST} lists and objects within each other")
        return json.loads(text, object_pairs_hook=members, parse_float=real, parse_constant=real)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} cannot be read as JSON: {error}") from None

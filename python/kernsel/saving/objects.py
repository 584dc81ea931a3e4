"""Points that are objects, on disk: texts, arrays, graphs, distributions, and tuples, lists and mappings of these.

An object is JSON: a text, number, truth value, null or list is itself, and anything else is an object of one field that says
what it is. Arrays are arrays of the file. Nothing else can be written, and nothing that is read runs code.
"""

from __future__ import annotations

import sys
from math import isfinite
from typing import Any

import numpy as np

from kernsel._base.annotations import Matrix
from kernsel.kernels.levels import Categories, Levels
from kernsel.kernels.objects import Mixed, Reading
from kernsel.saving.fields import Fields, Writing
from kernsel.structured import Cloud, Gaussian

__all__ = ["read_objects", "write_objects"]

_FLOATS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
_ARRAYS = (np.float64, np.float32, np.int64, np.bool_)


def write_objects(reading: Reading, to: Writing) -> None:
    """Write the training points that a kernel is bound to."""
    names = list(dict.fromkeys(reading.names))
    parts = to.parts("parts", len(names))
    for name, part in zip(names, parts, strict=True):
        columns = [i for i, one in enumerate(reading.names) if one == name]
        pool = reading.pools[columns[0]]
        part.json["name"] = name
        if pool is None:
            part.array("numbers", reading.first[:, columns])
            continue
        if isinstance(pool, Levels):
            part.json["levels"] = [_Encoder(part, "level").encoded(level) for level in pool.all_names()]
            part.json["known"], part.json["ordered"] = len(pool.names), pool.ordered
            part.array("codes", reading.first[:, columns[0]])
            continue
        kept = pool.kept()
        if len(kept) != 1:
            raise TypeError("model: points that are objects were added by update; fit to all of them before it is saved")
        part.json["objects"] = [_Encoder(part, str(i)).encoded(one) for i, one in enumerate(kept[0].objects)]


def read_objects(given: Fields, most: int) -> Reading:
    """Return the reading of the training points; `most` is the largest number of parts."""
    parts: dict[str | None, Matrix | list[object]] = {}
    later: dict[str | None, list[Any]] = {}  # levels that were met after the fit, of each part that has levels
    with given:
        for part in given.parts("parts", most):
            with part:
                name = part.take("name")
                if not (name is None or isinstance(name, str)) or name in parts:
                    raise ValueError(f"{part.prefix}name: expected a text, or null, and no other part of this name")
                if part.has("numbers"):
                    parts[name] = part.array("numbers", None, None)
                    continue
                if part.has("levels"):
                    parts[name], later[name] = _read_levels(part)
                    continue
                objects = part.take("objects")
                if not isinstance(objects, list):
                    raise ValueError(f"{part.prefix}objects: expected a list")
                parts[name] = [_Decoder(part).decoded(one) for one in objects]
    lengths = {len(part) for part in parts.values()}
    if len(lengths) != 1 or not lengths.pop():
        raise ValueError("objects: expected parts of the same number of points, one at least")
    points: Mixed = object.__new__(Mixed)  # its constructor would take some lists of objects for columns of numbers
    points.parts = parts
    reading = Reading(points, dict.fromkeys(later))
    for name, levels in later.items():
        pool = reading.pools[reading.names.index(name)]
        assert isinstance(pool, Levels)
        pool.codes(levels, str(name))
    return reading


def _read_levels(part: Fields) -> tuple[Categories, list[Any]]:
    """Return a column of levels, and the levels that were met after the fit."""
    levels, known, ordered = part.take("levels"), part.whole("known", 1), part.take("ordered")
    if not isinstance(levels, list) or not all(isinstance(level, str | int | float) for level in levels):
        raise ValueError(f"{part.prefix}levels: expected texts or numbers")
    if len(set(levels)) < len(levels) or len(levels) < known or not isinstance(ordered, bool):
        raise ValueError(f"{part.prefix}levels: expected {known} at least, all different")
    codes = part.array("codes", None)
    if not np.isin(codes, np.arange(known)).all():
        raise ValueError(f"{part.prefix}codes: expected whole numbers from 0 to {known - 1}")
    return Categories([levels[int(code)] for code in codes], levels[:known], ordered=ordered), levels[known:]


class _Encoder:
    """Makes JSON of one object, whose arrays have names that begin with its own."""

    def __init__(self, to: Writing, name: str) -> None:
        self.to = to
        self.name = name
        self.count = 0

    def encoded(self, value: Any) -> Any:
        """Return the JSON that stands for a value."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, str | bool):
            return str(value) if isinstance(value, str) else value
        if isinstance(value, int) and -(2**63) <= value < 2**63:
            return int(value)
        if isinstance(value, float):
            return float(value) if isfinite(value) else {"float": str(float(value))}
        if type(value) is list:
            return [self.encoded(item) for item in value]
        if type(value) is tuple:
            return {"tuple": [self.encoded(item) for item in value]}
        if isinstance(value, dict):
            return {"mapping": [[self.encoded(key), self.encoded(item)] for key, item in value.items()]}
        if isinstance(value, set | frozenset):
            return {"set": sorted((self.encoded(item) for item in value), key=repr)}
        if isinstance(value, np.ndarray) and value.dtype in _ARRAYS:
            name = f"objects.{self.name}.{self.count}"
            self.count += 1
            self.to.array(name, value)
            return {"array": name}
        if type(value) is Cloud:
            return {"cloud": [self.encoded(value.points), self.encoded(None if value.equal else value.weights)]}
        if type(value) is Gaussian:
            return {"gaussian": [self.encoded(value.mean), self.encoded(value.covariance)]}
        networkx = sys.modules.get("networkx")
        if networkx is not None and type(value) in (networkx.Graph, networkx.DiGraph):
            nodes, edges = list(value.nodes(data=True)), list(value.edges(data=True))
            return {"graph": [value.is_directed(), self.encoded(nodes), self.encoded(edges)]}
        raise TypeError(
            f"X: point {self.name} is or has a {type(value).__name__}, which cannot be written to a file that is read without "
            "running code; use pickle or joblib for this model"
        )


class _Decoder:
    """Makes objects of JSON."""

    def __init__(self, given: Fields) -> None:
        self.given = given

    def decoded(self, value: Any) -> Any:
        """Return the value that JSON stands for; raise if there is none."""
        if isinstance(value, list):
            return [self.decoded(item) for item in value]
        if not isinstance(value, dict):
            return value
        match value:
            case {"float": str(text), **rest} if text in _FLOATS and not rest:
                return _FLOATS[text]
            case {"tuple": list(items), **rest} if not rest:
                return tuple(self.decoded(items))
            case {"set": list(items), **rest} if not rest:
                return frozenset(self.decoded(items))
            case {"mapping": list(pairs), **rest} if not rest and all(isinstance(p, list) and len(p) == 2 for p in pairs):
                return {self.decoded(key): self.decoded(item) for key, item in pairs}
            case {"array": str(name), **rest} if not rest and f"{self.given.prefix}{name}" in self.given.container.tensors:
                if name.startswith("objects."):
                    return self.given.container.array(f"{self.given.prefix}{name}")
            case {"cloud": [points, weights], **rest} if not rest:
                return Cloud(self.decoded(points), self.decoded(weights))
            case {"gaussian": [mean, covariance], **rest} if not rest:
                return Gaussian(self.decoded(mean), self.decoded(covariance))
            case {"graph": [bool(directed), list(nodes), list(edges)], **rest} if not rest:
                return _graph(directed, self.decoded(nodes), self.decoded(edges))
        raise ValueError(f"{self.given.prefix}objects: expected an object, got {value!r:.60}")


def _graph(directed: bool, nodes: list[Any], edges: list[Any]) -> object:
    """Return a graph of networkx."""
    try:
        import networkx
    except ImportError:
        raise ValueError("the points are graphs of networkx, which is not installed: pip install networkx") from None
    if not all(isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], dict) for node in nodes):
        raise ValueError("graph: expected pairs of a node and its attributes")
    graph = networkx.DiGraph() if directed else networkx.Graph()
    graph.add_nodes_from(nodes)
    known = set(graph)
    triples = all(isinstance(edge, tuple) and len(edge) == 3 and isinstance(edge[2], dict) for edge in edges)
    if not triples or not {node for edge in edges for node in edge[:2]} <= known:
        raise ValueError("graph: expected edges of two of its nodes, with attributes")
    graph.add_edges_from(edges)
    return graph

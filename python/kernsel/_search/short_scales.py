"""Kernels with length scales as short as what the targets do, for estimators that compare a few kernels without a search."""

from __future__ import annotations

import numpy as np

from kernsel import _core
from kernsel._search.layout import Layout
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data

__all__ = ["with_short_scales"]

_USUAL = 4  # the starts of a search that do not depend on how the targets vary


def with_short_scales(kernel: Kernel, data: Data) -> list[Kernel]:
    """Return a kernel with its "auto" parameters set from the data, and with those length scales that the targets suggest.

    The first kernel has the usual length scales, from the spread of each column. The others are those of the starts of a search
    that are made if the targets vary faster than that: one follows their strongest oscillation along a column, and one the
    distance at which they lose half of their likeness. There are none of these for smooth targets. Only length scales that are
    "auto" differ between the kernels.

    Parameters
    ----------
    kernel : Kernel
    data : Data

    Returns
    -------
    kernels : list of Kernel
        One to three.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.kernels import RBF
    >>> x = np.linspace(0, 1, 200)
    >>> [len(with_short_scales(RBF("auto"), Data(x[:, None], np.sin(k * x)))) for k in (3, 100)]
    [1, 3]
    """
    is_open = [not h.fixed and isinstance(getattr(value, "value", value), str) for h, value in kernel.own()]
    noted = Data(data.X, data.y, data.weights, data.names, anchors=[])
    usual = kernel.resolve(noted)
    found = noted.anchors or []
    if data.y is None or usual.reading() is not None or not len(found) == len(is_open) == len(usual.layout()):
        return [usual]
    layout = Layout(usual)
    anchors = layout.anchors(found)
    if not anchors:
        return [usual]
    changes = np.zeros(len(layout.theta), dtype=bool)
    for (at, h, _), anchor, opened in zip(layout.entries, found, is_open, strict=True):
        if at >= 0 and opened and anchor.rule == "length":
            changes[at : at + h.n_elements] = True
    if not changes.any():
        return [usual]
    starts = _core.starting_points(anchors, layout.theta.tolist(), data.variance, True, 0, 0.0)
    return [usual, *(layout.kernel_at(np.where(changes, start, layout.theta)) for start in starts[_USUAL:])]

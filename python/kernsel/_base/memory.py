"""The check that what is about to be done fits into memory."""

from __future__ import annotations

from kernsel import _core

__all__ = ["require_memory", "require_memory_of_points"]

_WORTH_CHECKING = 2**28  # bytes


def require_memory(needed: int, what: str, cure: str = "") -> None:
    """Raise MemoryError before anything is done if memory does not suffice, as far as that is known.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        The beginning of the error, such as "5000 points need".
    cure : str
        Its end.
    """
    if needed < _WORTH_CHECKING:
        return
    available = _core.available_memory()  # 0 if it is not known; to ask takes longer than a small fit
    if 0 < available < needed:
        raise MemoryError(
            f"not enough memory: {what} {needed / 2**30:.4g} GiB ({needed} bytes), and {available / 2**30:.4g} GiB "
            f"({available} bytes) are available{cure}"
        )


def require_memory_of_points(n: int, copies: float = 0.5) -> None:
    """Raise before anything is done for n points if so many n x n matrices cannot be had: half of one for a factor."""
    require_memory(int(8 * copies * n * (n + 1)), f"{n} points need")

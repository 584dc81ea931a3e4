"""The data of examples, from text files beside this one."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["cars", "mauna_loa"]

Vector = NDArray[np.float64]


def cars() -> tuple[Vector, Vector]:
    """Return how far cars of the 1920s went before they stopped, from cars.csv: 50 of them.

    From M. Ezekiel, Methods of Correlation Analysis, Wiley, 1930.

    Returns
    -------
    speed : ndarray of shape (50,)
        In miles per hour.
    distance : ndarray of shape (50,)
        In feet.

    Examples
    --------
    >>> from kernsel.examples.data import cars
    >>> speed, distance = cars()
    >>> float(speed.mean()), float(distance.mean().round(2))
    (15.4, 42.98)
    """
    speed, distance = _table("cars.csv", ",", header=1).T
    return speed, distance


def mauna_loa() -> tuple[Vector, Vector]:
    """Return the carbon dioxide in the air at Mauna Loa, from mauna_loa.txt: 521 months from March 1958 to December 2001.

    Returns
    -------
    time : ndarray of shape (521,)
        The middle of each month, in years.
    co2 : ndarray of shape (521,)
        Its mean, in parts per million of dry air by volume.

    Examples
    --------
    >>> from kernsel.examples.data import mauna_loa
    >>> time, co2 = mauna_loa()
    >>> len(time), float(time[0].round(2)), float(co2[0]), float(co2[-1])
    (521, 1958.21, 316.1, 371.02)
    """
    year, month, co2 = _table("mauna_loa.txt").T
    return year + (month - 0.5) / 12, co2


def _table(name: str, delimiter: str | None = None, header: int = 0) -> Vector:
    """Return the numbers in a file, shape (rows, columns); lines that begin with # are about them."""
    text = files("kernsel.examples").joinpath(name).read_text(encoding="utf-8")
    return np.loadtxt(text.splitlines(), delimiter=delimiter, skiprows=header)

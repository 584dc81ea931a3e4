"""The data of the examples, from text files in this directory."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from kernsel._base.annotations import Vector

__all__ = ["cars", "coal", "mauna_loa"]


def cars() -> tuple[Vector, Vector]:
    """Return the speeds and the stopping distances of 50 cars of the 1920s, from cars.csv.

    From M. Ezekiel, Methods of Correlation Analysis, Wiley, 1930.

    Returns
    -------
    speed : ndarray of shape (50,)
        The speeds in miles per hour.
    distance : ndarray of shape (50,)
        The stopping distances in feet.

    Examples
    --------
    >>> from kernsel.examples.data import cars
    >>> speed, distance = cars()
    >>> float(speed.mean()), float(distance.mean().round(2))
    (15.4, 42.98)
    """
    speed, distance = _table("cars.csv", ",", header=1).T
    return speed, distance


def coal() -> tuple[Vector, Vector]:
    """Return how many explosions in British coal mines killed ten men or more in each year from 1851 to 1962, from coal.txt.

    From R. G. Jarrett, A note on the intervals between coal-mining disasters, Biometrika 66, 1979.

    Returns
    -------
    year : ndarray of shape (112,)
    count : ndarray of shape (112,)
        The number of explosions in each year.

    Examples
    --------
    >>> from kernsel.examples.data import coal
    >>> year, count = coal()
    >>> float(year[0]), float(year[-1]), float(count.sum())
    (1851.0, 1962.0, 191.0)
    """
    year, count = _table("coal.txt").T
    return year, count


def mauna_loa() -> tuple[Vector, Vector]:
    """Return monthly means of carbon dioxide in the air at Mauna Loa from March 1958 to December 2001, from mauna_loa.txt.

    Returns
    -------
    time : ndarray of shape (521,)
        The middle of each month, in years.
    co2 : ndarray of shape (521,)
        The mean of each month, in parts per million of dry air by volume.

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
    """Return the numbers in a file, shape (rows, columns); lines that begin with # are comments."""
    text = files("kernsel.examples").joinpath(name).read_text(encoding="utf-8")
    return np.loadtxt(text.splitlines(), delimiter=delimiter, skiprows=header)

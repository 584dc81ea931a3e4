"""The power that houses draw, from 300,000 readings in a Parquet file: `python -m kernsel.examples.meters [plot.png]`.

The readings are made up, written to a file in groups of rows, learnt from that file, and others are predicted into a third one.
At no time are all of them in memory: a fit by landmarks reads the file twice, once to count rows and to draw those that choose
the kernel, the noise and the landmarks, and once for sums over all rows. For more rows only the time is longer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import norm

import kernsel as ks
from kernsel._base.annotations import Matrix, Vector
from kernsel.examples.drawing import BLUE, GREY, ORANGE, figure_of

__all__ = ["main"]

COLUMNS = ("hour", "temperature", "wind", "area", "people")
LOWEST, HIGHEST = np.array([0.0, -10, 0, 40, 1]), np.array([24.0, 30, 12, 200, 5])
READINGS, OTHERS, GROUP = 300_000, 60_000, 30_000  # rows to learn from, rows to predict, and rows in each group of a file
NOISE = 0.4  # the standard deviation of a reading
NEAR = ks.Nystrom(500, search_rows=10_000)


def true_power(X: Matrix) -> Vector:
    """Return the mean power in kW: lights and stoves by the hour, and heating of what the walls lose in cold and wind."""
    hour, temperature, wind, area, people = X.T
    daily = 0.15 + 0.35 * np.exp(-(((hour - 7.5) / 1.5) ** 2)) + 0.6 * np.exp(-(((hour - 19) / 2.5) ** 2))
    heating = 0.0006 * area * np.logaddexp(0, (16 - temperature) / 2) * (1 + 0.05 * wind)
    return np.asarray(people**0.7 * daily + 2 * heating)


def write_readings(path: Path, rows: int, seed: int) -> None:
    """Write readings, of which one group is in memory at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(seed)
    schema = pa.schema([(name, pa.float64()) for name in (*COLUMNS, "power")])
    with parquet.ParquetWriter(path, schema) as file:
        for first in range(0, rows, GROUP):
            X = rng.uniform(LOWEST, HIGHEST, (min(GROUP, rows - first), len(COLUMNS)))
            power = true_power(X) + NOISE * rng.standard_normal(len(X))
            file.write_table(pa.table([*X.T, power], schema=schema))


def groups_of(path: Path, *columns: str) -> Iterator[Any]:
    """Yield columns of a file as a table, one group of rows at a time."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=list(columns))


def numbers(table: Any) -> Matrix:
    """Return a table as an array."""
    return np.column_stack([column.to_numpy() for column in table.columns])


def write_predictions(model: ks.GaussianProcessRegressor, source: Path, path: Path) -> None:
    """Predict a file of readings into another file, one group of rows after the other."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("mean", pa.float64()), ("std", pa.float64())])
    with parquet.ParquetWriter(path, schema) as file:
        for X in groups_of(source, *COLUMNS):
            file.write_table(pa.table(list(model.predict(X, return_std=True, noisy=True)), schema=schema))


def main(plot: str | None = None) -> None:
    """Learn from one file, predict another one, and print errors, time and memory.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw the power over hours and temperatures into; needs matplotlib.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError("meters: Parquet files are read by pyarrow: pip install 'kernsel[parquet]'") from error
    with TemporaryDirectory() as folder:
        learnt, others, predicted = (Path(folder) / f"{name}.parquet" for name in ("learnt", "others", "predicted"))
        write_readings(learnt, READINGS, seed=0)
        write_readings(others, OTHERS, seed=1)
        size = learnt.stat().st_size / 2**20
        print(f"{READINGS:,} readings in a file of {size:.1f} MiB, and {OTHERS:,} others to predict.\n")
        before, start = peak_of_memory(), perf_counter()
        model = ks.GaussianProcessRegressor("RBF", approximation=NEAR).fit(learnt, "power")
        fitted = perf_counter()
        write_predictions(model, others, predicted)
        ended, after = perf_counter(), peak_of_memory()
        off_truth, off_readings, inside = [], [], []
        files = groups_of(others, *COLUMNS, "power"), groups_of(predicted, "mean", "std")
        for readings, predictions in zip(*files, strict=True):
            X, power, (mean, std) = numbers(readings)[:, :-1], numbers(readings)[:, -1], numbers(predictions).T
            off_truth.append(np.mean((mean - true_power(X)) ** 2))
            off_readings.append(np.mean((mean - power) ** 2))
            inside.append(np.mean(np.abs(power - mean) < norm.ppf(0.975) * std))
    print(f"off the true mean        {np.sqrt(np.mean(off_truth)):8.3f} kW")
    print(f"off single readings      {np.sqrt(np.mean(off_readings)):8.3f} kW, of which {NOISE:.3f} is their noise")
    print(f"noise that was found     {np.sqrt(model.noise_):8.3f} kW")
    print(f"95 % intervals hold      {np.mean(inside):8.1%} of the readings\n")
    print(f"fit                      {fitted - start:8.1f} s")
    print(f"predictions              {ended - fitted:8.1f} s, {OTHERS / (ended - fitted):,.0f} a second, with their intervals")
    if before > 0:
        print(f"memory, at most          {(after - before) / 2**20:8.0f} MiB more than before the fit")
    print(f"the whole kernel matrix  {8 * READINGS**2 / 2**20:8,.0f} MiB")
    lengths = ", ".join(
        f"{name} {length:.3g}" for name, length in zip(COLUMNS, np.ravel(model.kernel_.k2.length_scale), strict=True)
    )
    print(f"\nLength scales: {lengths}.")
    if plot is not None:
        draw(plot, model)


def peak_of_memory() -> int:
    """Return the most bytes that this process has had so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def draw(plot: str, model: ks.GaussianProcessRegressor) -> None:
    """Draw the power of a house over the hours of a cold and of a mild day, and over temperatures in calm and in wind."""
    import pyarrow as pa

    panels = (
        (0, "hour", (1, "°C", -5.0, 18.0), [12.0, 5.0, 3.0, 120.0, 3.0]),
        (1, "outdoor temperature / °C", (2, "m/s of wind", 12.0, 0.0), [3.0, 5.0, 0.0, 180.0, 2.0]),
    )
    with figure_of(plot, 9.6, 4.0) as figure:
        for axes, (column, label, (other, unit, *values), house) in zip(figure.subplots(1, 2), panels, strict=True):
            Z = np.tile(house, (200, 1))
            Z[:, column] = np.linspace(LOWEST[column], HIGHEST[column], len(Z))
            for value, colour in zip(values, (BLUE, ORANGE), strict=True):
                Z[:, other] = value
                mean, std = model.predict(pa.table(list(Z.T), names=COLUMNS), return_std=True, noisy=False)
                axes.plot(Z[:, column], mean, color=colour, label=f"{value:g} {unit}")
                axes.fill_between(Z[:, column], mean - 2 * std, mean + 2 * std, color=colour, alpha=0.25, linewidth=0)
                axes.plot(Z[:, column], true_power(Z), "--", color=GREY, lw=1)
            axes.plot([], [], "--", color=GREY, lw=1, label="true")
            axes.set(xlabel=label, ylabel="power / kW", xlim=(LOWEST[column], HIGHEST[column]))
            axes.legend(frameon=False, fontsize="small")


if __name__ == "__main__":
    main(*sys.argv[1:2])

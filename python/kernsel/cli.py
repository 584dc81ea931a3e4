"""The command `kernsel`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from time import perf_counter

import numpy as np

import kernsel as ks

__all__ = ["main"]


def demo() -> None:
    """Fit a model to the diabetes data that scikit-learn carries, choosing alpha by leave-one-out errors."""
    from sklearn.datasets import load_diabetes
    from sklearn.model_selection import train_test_split

    X, y = load_diabetes(return_X_y=True, scaled=False)
    train_X, test_X, train_y, test_y = train_test_split(X, y, test_size=0.25, random_state=0)
    print(f"Diabetes data: {len(train_y)} patients to learn from, {len(test_y)} to test on, {X.shape[1]} inputs in raw units.")
    print("Kernel ridge regression, squared exponential kernel, one length scale for each input from its spread.\n")

    start = perf_counter()
    mean = train_y.mean()
    kernel = ks.kernels.RBF(train_X.std(axis=0) * np.sqrt(X.shape[1]))
    K = ks.gram(kernel, train_X)
    alphas = np.logspace(-4, 2, 13)
    errors = []
    for alpha in alphas:
        factor = ks.cholesky(K + alpha * np.eye(len(K)))
        residuals = factor.solve(train_y - mean) / factor.inverse_diagonal()
        errors.append(np.sqrt(np.mean(residuals**2)))
    best = int(np.argmin(errors))
    model = ks.KernelRidge(kernel, alpha=alphas[best]).fit(train_X, train_y - mean)
    seconds = perf_counter() - start

    print("     alpha   leave-one-out error (all exact, none refitted)")
    widest = max(errors)
    for i, (alpha, error) in enumerate(zip(alphas, errors, strict=True)):
        mark = "  <- smallest" if i == best else ""
        print(f"  {alpha:8.2g}   {error:6.2f}  {'#' * round(30 * error / widest)}{mark}")
    rmse = np.sqrt(np.mean((model.predict(test_X) + mean - test_y) ** 2))
    print(f"\nTest error with alpha = {alphas[best]:.2g}: {rmse:.1f}; always predicting the mean: {np.std(test_y):.1f}.")
    refits = len(alphas) * len(train_y)
    print(f"{len(alphas)} factorizations instead of {refits:,} refits, and the final fit: {1000 * seconds:.0f} ms in all.")
    print("\nNext, in Python:\n")
    print("  import kernsel as ks")
    print("  model = ks.KernelRidge(ks.kernels.RBF(0.7), alpha=1e-2).fit(X, y)")
    print("  help(ks.KernelRidge)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, return its exit code."""
    parser = argparse.ArgumentParser(prog="kernsel", description="Kernel methods with the choice of the kernel at their heart.")
    parser.add_argument("--version", action="version", version=f"kernsel {ks.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    commands.add_parser("demo", help="fit a model to data that scikit-learn carries").set_defaults(run=demo)
    commands.add_parser("config", help="print what kernsel was built with and what it runs on").set_defaults(run=ks.show_config)
    command = parser.parse_args(arguments)
    try:
        command.run()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as in `kernsel demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())

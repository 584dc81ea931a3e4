"""Settings that all tests share."""

import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

import kernsel as ks

from building import build

# A shell that runs the tests in the background has them ignore the signal that some send to themselves and to their children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[2]

# The same examples on every run and every instruction set; no time limit, machines may be shared.
settings.register_profile(
    "kernsel", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kernsel")


def pytest_report_header():
    config = ks.show_config("dict")
    return f"kernsel {config['version']}: {config['isa']}, {config['threads']} threads, {config['compiler']}, {ks.__file__}"


@pytest.fixture(scope="session", autouse=True)
def one_thread_for_blas():
    """Keep the threads of NumPy's BLAS from waiting for each other busily: for the matrices of tests, one is faster than many.

    Programs in processes of their own have as many as they want, and those in test_blas.py look after them.
    """
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(20261118)


@pytest.fixture
def threads():
    """Run with 1 and 2 threads, restore the number afterwards."""
    before = ks.get_num_threads()
    yield ks.set_num_threads
    ks.set_num_threads(before)


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """Build the programs of tests/consume, and return their folder."""
    folder = tmp_path_factory.mktemp("consume")
    build(ROOT / "tests" / "consume", folder, f"-Dkernsel_DIR={ks.get_cmake_dir()}")
    return folder


@pytest.fixture
def root():
    return ROOT

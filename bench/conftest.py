"""Benchmarks run one after the other, in one process."""

import pytest


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the options, which are those of the tests
def pytest_cmdline_main(config):
    if hasattr(config.option, "numprocesses"):
        config.option.numprocesses, config.option.dist = None, "no"

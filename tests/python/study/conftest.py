"""A table, and a study of it."""

import pytest

from kernsel.kernels import RBF
from kernsel.study import study

from tables_made import made


@pytest.fixture(scope="session")
def table():
    return made()


@pytest.fixture(scope="session")
def found(table):
    return study(table, kernels=[RBF("auto"), "Matern(nu=2.5)"], criteria=["lml", "loo"], seed=1)

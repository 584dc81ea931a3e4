"""kernsel config."""

import kernsel as ks

from commands import strict


def test_config(run):
    assert strict(run("config", "--json")[1])["version"] == ks.__version__

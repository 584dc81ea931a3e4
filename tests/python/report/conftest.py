"""Studies and their reports, each made once."""

import pytest

from kernsel.report import render

from reported import MADE, Page


@pytest.fixture(scope="session")
def made():
    """Return a function that returns a study and its page; each is made once."""
    kept = {}

    def get(name):
        if name not in kept:
            found = MADE[name]()
            kept[name] = (found, Page(render(found, command="kernsel select data.csv --target y")))
        return kept[name]

    return get

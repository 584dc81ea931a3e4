"""What is said of criteria."""

from kernsel.cli import words
from kernsel.study import OFFERED


def test_all_criteria_are_explained():
    assert set(words.CRITERIA_SAID) == set(OFFERED)

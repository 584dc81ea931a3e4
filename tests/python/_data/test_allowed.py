"""Tables of what arguments may be."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernsel._data.allowed import FLAG, function, is_number, number, one_of, require, whole


@pytest.mark.parametrize(
    ("allowed", "right", "wrong", "words"),
    [
        (one_of("a", "b", "c"), ["a", "c"], ["d", None, 1, ["a"], np.array(["a", "b"])], '"a", "b" or "c"'),
        (whole(1), [1, 7, np.int64(3)], [0, -1, True, 1.0, "1", None], "a whole number from 1 on"),
        (whole(1) | None, [1, None], [0, "None"], "a whole number from 1 on or None"),
        (number("positive"), [1, 0.5, np.float32(2)], [0, -1.0, np.inf, np.nan, True, "1", None], "a positive number"),
        (number("from 0 on"), [0, 0.0, 3], [-1e-9, np.inf, np.nan, False], "a number from 0 on"),
        (number("positive", infinite=True) | "auto", [np.inf, "auto", 1], ["other", 0, np.nan], 'a positive number or "auto"'),
        (function("newton") | None, [len, "newton", None], ["other", 3], '"newton", a function or None'),
        (number("positive").said("a width"), [1.0], [0.0], "a width"),
    ],
)
def test_rules(allowed, right, wrong, words):
    for value in right:
        require(SimpleNamespace(argument=value), {"argument": allowed})
    for value in wrong:
        with pytest.raises(ValueError, match="argument: expected ") as raised:
            require(SimpleNamespace(argument=value), {"argument": allowed})
        assert str(raised.value) == f"argument: expected {words}, got {value!r}"


def test_flags():
    require(SimpleNamespace(a=True, b=np.False_), {"a": FLAG, "b": FLAG})
    with pytest.raises(TypeError, match="b: expected True or False, got 1"):
        require(SimpleNamespace(a=True, b=1), {"a": FLAG, "b": FLAG})


@pytest.mark.parametrize(
    ("value", "result"), [(1, True), (np.float32(2), True), (True, False), (np.True_, False), ("1", False)]
)
def test_numbers_are_not_flags(value, result):
    assert is_number(value) == result

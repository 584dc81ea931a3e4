"""Numbers of keys: one for each, never another one's, and forgotten with those who hold them."""

import gc
import os
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from kernsel.structured.numbering import Numbering


def test_equal_keys_have_one_number():
    numbering = Numbering()
    held = numbering.of(["a", 1, ("a",), "a", 1.0])
    assert [number.value for number in held] == [0, 1, 2, 0, 1]
    assert [number.key for number in held] == ["a", 1, ("a",), "a", 1]
    assert numbering.of(iter(["b", ("a",)]))[1] is held[2]


def test_what_nobody_holds_is_forgotten_and_its_number_not_given_again():
    numbering = Numbering()
    kept = numbering.of(["kept"])
    numbering.of(range(100))
    gc.collect()
    assert list(numbering._numbers) == ["kept"]
    again = numbering.of([*range(100), "kept"])
    assert min(number.value for number in again[:-1]) > 100
    assert again[-1] is kept[0]


def test_threads_give_one_number():
    numbering = Numbering()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: numbering.of(range(2000)), range(16)))
    assert all(numbers == found[0] for numbers in found)
    assert len({number.value for number in found[0]}) == 2000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_lock_is_free_after_fork():
    numbering = Numbering()
    held = numbering.of("ab")
    with ThreadPoolExecutor(1) as pool:
        pool.submit(numbering._lock.acquire).result()  # by a thread that the child does not have
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks while there are threads
            child = os.fork()
        if not child:
            same = numbering.of("ab") == held
            os._exit(0 if same else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        pool.submit(numbering._lock.release).result()

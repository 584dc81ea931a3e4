"""Numbers in text."""

from kernsel.study.tables.numerals import numbers_of


def test_numbers_that_python_takes_and_others_do_not():
    values, others = numbers_of(["1", " 2.5 ", "-.5", "1.", "+3e-2", "NaN", "-", "1_0", "0x1", "infinity", "1,5", "१"], False)
    assert others == [7, 8, 9, 10, 11]
    assert values[:5].tolist() == [1.0, 2.5, -0.5, 1.0, 0.03]
    assert numbers_of(["1,5", "2.5", "1.000,5"], True)[1] == [2]

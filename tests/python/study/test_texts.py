"""Kernels as text, with names of columns."""

from dataclasses import replace

from kernsel.study import kernel_of, label
from kernsel.study.tables import Column


def test_kernels_as_a_user_writes_them(table):
    kernel = kernel_of("RBF.on(['b']) + 2 * Matern(nu=2.5) * Linear(3.0)", table)
    assert str(kernel) == "RBF('auto').on([1]) + 2 * Matern('auto', nu=2.5) * Linear(3)"
    wide = replace(
        table,
        names=["a", "c=u", "c=v", "c=w"],
        columns=[Column("a", "number"), Column("c", "category", levels=["u", "v", "w"])],
    )
    assert kernel_of("RBF.on(['c'])", wide).columns == [1, 2, 3]
    assert kernel_of("RBF.on(['c=v', 'a'])", wide).columns == [2, 0]
    names = ["a", "b c", "d"]
    for text, said in (
        ("RBF", "RBF"),
        ("Matern(nu=2.5) * RBF.on(['b c', 'd'])", "Matern(nu=2.5) * RBF.on(['b c', 'd'])"),
        ("(RBF + Linear) * ExpSineSquared(periodicity=2.0)", "(RBF + Linear) * ExpSineSquared(periodicity=2)"),
        ("ConstantKernel", "noise alone"),
    ):
        there = replace(table, names=names, columns=[Column(name, "number") for name in names])
        assert label(kernel_of(text, there), names) == said

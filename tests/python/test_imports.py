"""What `import kernsel` brings: names that are imported when they are first used, and nothing that they do not need."""

import ast
import importlib
import pickle
import pydoc

import pytest

import kernsel as ks

from children import run


def names_for_type_checkers(root):
    """Return the names that kernsel/__init__.py imports for type checkers, each with its module."""
    tree = ast.parse((root / "python/kernsel/__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    return {alias.name: node.module for node in block.body for alias in node.names}


def test_each_name_is_where_the_table_says(root):
    told = names_for_type_checkers(root)
    assert {name: module for name, module in told.items() if module != "kernsel"} == ks._MODULES
    assert {name for name, module in told.items() if module == "kernsel"} == set(ks._ROOMS) & set(ks.__all__)
    for name, module in ks._MODULES.items():
        assert getattr(ks, name) is getattr(importlib.import_module(module), name)
    for name in ks._ROOMS:
        assert getattr(ks, name) is importlib.import_module(f"kernsel.{name}")
    # A module of this name would take its place as soon as somebody imported it.
    assert not any((root / "python/kernsel" / name).exists() for name in ks._MODULES)
    assert not any((root / f"python/kernsel/{name}.py").exists() for name in ks._MODULES)


def test_what_is_imported():
    code = """
        import sys
        HEAVY = {"sklearn", "scipy", "joblib", "pandas", "polars", "matplotlib", "threadpoolctl", "rich"}
        import kernsel as ks, kernsel.cli
        assert set(ks.__all__) <= set(dir(ks)) and not {"import_module", "TYPE_CHECKING"} & set(dir(ks))
        ks.kernels.kernel("2.0 * RBF(1.0) + Linear()")([[1.0], [2.0]])
        ks.likelihoods.Poisson(), ks.criteria.CRITERIA, ks.Nystrom(10), ks.linalg.cholesky([[2.0]]), ks.show_config("dict")
        for option in ("--help", "--version"):
            try: kernsel.cli.main([option])
            except SystemExit as end: assert end.code == 0
        print(sorted(HEAVY & set(sys.modules)))
    """
    lines = run(code).splitlines()
    assert lines[0].startswith("usage: kernsel")
    assert [line for line in lines if line.startswith("[")] == ["[]"]


def test_import_of_all():
    names = {}
    exec("from kernsel import *", names)
    assert set(ks.__all__) == set(names) - {"__builtins__"}


def test_names_that_do_not_exist():
    with pytest.raises(AttributeError, match=r"kernsel.leverage: is kernsel.linalg.leverage"):
        ks.leverage  # noqa: B018
    with pytest.raises(AttributeError, match="module 'kernsel' has no attribute 'Ridge'"):
        ks.Ridge  # noqa: B018


def test_classes_and_functions_are_pickled_by_their_own_modules():
    for name in ("KernelRidge", "NotPositiveDefiniteError", "select"):
        assert pickle.loads(pickle.dumps(getattr(ks, name))) is getattr(ks, name)


def test_help_says_what_there_is():
    text = pydoc.plain(pydoc.render_doc(ks))
    for name in set(ks.__all__) - {"__version__"}:
        assert name in text.partition("PACKAGE CONTENTS")[0], name

"""Data flows one way: no file includes or imports what lies above it."""

import ast
import re

import pytest

# What each C++ file may include of ours. Public headers may include public headers only.
LAYERS = {
    "cpp/include/kernsel": r"kernsel/",
    "cpp/src/isa": r"table\.hpp|.*\.inl|kernsel/(view|runtime|status)\.hpp",
    "cpp/src/bell": r"bell\.hpp",
    "cpp/src/processors": r"processors\.hpp",
    "cpp/src/(team(_[a-z]+)?|threads)": r"(bell|processors|team)\.hpp|kernsel/runtime\.hpp",
    "cpp/src/parallel": r"(bell|memory|parallel|team)\.hpp|kernsel/(status|runtime)\.hpp",
    "cpp/src/measure": r"(memory|parallel)\.hpp|isa/table\.hpp|kernsel/(measure|runtime)\.hpp",
    "cpp/src/memory": r"memory\.hpp|kernsel/(status|runtime|view)\.hpp",
    "cpp/src/runtime": r"kernsel/",
    "cpp/src/triangle": r"isa/table\.hpp|kernsel/view\.hpp",
    "cpp/src/tiles": r"memory\.hpp|kernsel/(tiles|status|view)\.hpp",
    "cpp/src/program": r"program\.hpp|memory\.hpp|isa/table\.hpp|kernsel/(kernel|runtime)\.hpp",
    "cpp/src/json": r"json\.hpp|kernsel/status\.hpp",
    "cpp/src/container": r"(container|json)\.hpp",
    "cpp/src/kernel_json": r"(json|kernel_json|memory|program)\.hpp|kernsel/kernel_json\.hpp",
    "cpp/src/model": r"(container|kernel_json|memory)\.hpp|kernsel/(gram|model)\.hpp",
    "cpp/src/kernels": r"kernels/[a-z_]+\.hpp|(call_out|program)\.hpp|isa/table\.hpp|kernsel/kernel\.hpp",
    "cpp/src/kernel.cpp": r"program\.hpp|kernsel/kernel\.hpp",
    "cpp/src/call_out": r"memory\.hpp",
    # Criteria know no kernel, and no factor.
    "cpp/src/criteria": r"kernsel/criteria\.hpp",
    "cpp/src/tall": r"(memory|parallel|tall)\.hpp|isa/table\.hpp|kernsel/tiles\.hpp",
    "cpp/src/state": r"(program|programs|state|tall)\.hpp|kernsel/(criteria|factor|gram)\.hpp",
    "cpp/src/adjoint": r"(adjoint|parallel|program|state|tall)\.hpp|isa/table\.hpp|kernsel/(factor|gram)\.hpp",
    "cpp/src/information": r"(information|parallel|programs|state|tall)\.hpp|kernsel/(criteria|gram)\.hpp",
    "cpp/src/evaluate": r"(adjoint|call_out|information|state)\.hpp|kernsel/criteria\.hpp",
    "cpp/src/groups": r"(adjoint|memory|parallel|state)\.hpp|isa/table\.hpp|kernsel/(criteria|factor)\.hpp",
    "cpp/src/gram": r"(memory|parallel|program|programs|triangle)\.hpp|isa/table\.hpp|kernsel/(gram|runtime)\.hpp",
    "cpp/src/programs": r"program\.hpp|kernsel/factor\.hpp",
    # A search knows criteria as functions of numbers.
    "cpp/src/box": r"box\.hpp|kernsel/(factor|status)\.hpp",
    "cpp/src/objective": r"call_out\.hpp|kernsel/selection\.hpp",
    "cpp/src/search": r"(box|call_out|parallel)\.hpp|kernsel/selection\.hpp",
    "cpp/src/(support|support_interior|support_rows)": r"(memory|parallel|support_interior|support_rows)\.hpp|isa/table\.hpp"
    r"|kernsel/(gram|support)\.hpp",
    "cpp/src/strings(_[a-z]+)?": r"(memory|parallel|strings)\.hpp|isa/table\.hpp|kernsel/(runtime|strings)\.hpp",
    # Paths know criteria as formulas of eigenvalues, and kernels only as what makes a matrix.
    "cpp/src/paths": r"paths/[a-z_]+\.hpp|(call_out|memory|parallel)\.hpp|isa/table\.hpp"
    r"|kernsel/(decomposition|gram|least_squares|path|status|tiles|view)\.hpp",
    # The factorization knows no kernels.
    "cpp/src/(factor|solve|square|update)": r"(memory|parallel|triangle)\.hpp|isa/table\.hpp|kernsel/(factor|runtime)\.hpp",
    "python/bindings": r"kernsel/|[a-z_]+\.hpp",
}
# Python modules, lowest first; each may import those before it.
MODULES = [
    "_core",
    "errors",
    "config",
    "blas",
    "factor",
    "kernels",
    "gram_matrix",
    "structured",
    "points",
    "trend",
    "criteria",
    "evaluation",
    "path",
    "least_squares",
    "interpolation",
    "testing",
    "weights",
    "selection",
    "conditional",
    "process_data",
    "guarded",
    "gaussian_process",
    "classification",
    "structure",
    "selector",
    "kernel_machine",
    "kernel_ridge",
    "kernel_ridge_cv",
    "features",
    "ridge_regression",
    "interpolator",
    "splitting",
    "support_vectors",
    "support_span",
    "support_path",
    "support_selection",
    "support",
    "saving",
    "plotting",
    "nested",
    "tables",
    "study",
    "report",
    "examples",
    "cli",
    "__main__",
]


def sources(root):
    for folder in ("cpp", "python/bindings"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".cpp", ".hpp", ".inl"}:
                yield path.relative_to(root).as_posix(), path.read_text()


def test_includes_go_down(root):
    files = dict(sources(root))
    assert len(files) > 25
    for name, text in files.items():
        rules = [rule for prefix, rule in LAYERS.items() if re.match(prefix + r"\b", name)]
        assert rules, f"{name}: no layer is named for it in this test"
        for include in re.findall(r'^#include "([^"]+)"', text, re.M):
            assert any(re.match(f"({rule})", include) for rule in rules), f"{name} includes {include}, which is above it"


def test_only_the_tile_kernels_know_eigen_and_only_one_file_openmp(root):
    for name, text in sources(root):
        assert ("<Eigen/" in text) == (name == "cpp/src/isa/tiles.inl"), name
        assert ("<omp.h>" in text) == (name == "cpp/src/threads.cpp"), name
        if name.startswith("python/") and name not in {"python/bindings/arrays.hpp"}:
            assert "pybind11/numpy.h" not in text, name
        if name.startswith("cpp/"):
            assert not re.search(r"\bthrow\b|Python\.h", re.sub(r"//.*", "", text)), name


def test_tile_kernels_use_no_standard_library(root):
    for name, text in sources(root):
        if name.endswith(".inl"):
            code = re.sub(r"//.*", "", text)
            assert "std::" not in code, name
            assert "#pragma omp" not in code, name


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "kernsel":
                yield from (alias.name for alias in node.names)
            elif node.module.startswith("kernsel."):
                yield node.module.split(".")[1]


@pytest.mark.parametrize("module", MODULES[1:-2])
def test_imports_go_down(root, module):
    path = root / "python" / "kernsel" / module
    for file in [path.with_suffix(".py")] if path.with_suffix(".py").exists() else sorted(path.glob("*.py")):
        for name in imported(file):
            assert MODULES.index(name) <= MODULES.index(module), f"{file.name} imports {name}, which is above it"


def test_every_module_has_a_layer(root):
    found = {p.stem for p in (root / "python/kernsel").iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert found - {"__init__"} == set(MODULES) - {"_core"}

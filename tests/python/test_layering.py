"""Data flows one way: no file includes or imports what lies above it."""

import ast
import re

import pytest

# The rooms of the core, lowest first: a file may include headers of its own room and of those before it. A public header
# belongs to the room that implements it.
ROOMS = {
    "isa": ["status", "view", "runtime", "version"],
    "base": ["measure"],
    "tiles": ["tiles", "cholesky", "jitter"],
    "kernels": ["kernel", "functionals", "gram", "kernel_json"],
    "criteria": ["fit", "criteria"],
    "likelihoods": ["likelihood"],
    "factors": ["factor", "neighbours", "nystrom", "rows", "vecchia"],
    "inference": ["inference"],
    "posterior": ["posterior", "trend", "nystrom_posterior", "conjugate_gradients", "vecchia_posterior"],
    "search": ["prior", "objective", "search", "data", "starts", "choose"],
    "paths": ["path", "least_squares", "decomposition"],
    "support": ["support"],
    "strings": ["strings"],
    "models": ["model"],
}
# What some of them must not know, although it lies below.
STRANGERS = {
    "tiles": ["kernels"],  # the factorization knows no kernels
    "criteria": ["base", "tiles", "kernels"],  # criteria are formulas
    "likelihoods": ["tiles", "kernels", "criteria"],  # likelihoods are formulas for one observation after the other
    "strings": ["tiles", "kernels", "criteria", "factors", "posterior", "search", "paths", "support"],
}
# Python's rooms, lowest first; those on one line do not know each other.
LAYERS = [
    ["_core"],
    ["_base"],
    ["kernels", "likelihoods"],
    ["structured", "testing", "_data"],
    ["approximations"],
    ["criteria", "features", "linalg"],
    ["_solve"],
    ["_sample"],
    ["_search"],
    ["estimators"],
    ["saving", "design"],
    ["study"],
    ["sensitivity"],
    ["plotting"],
    ["report", "examples"],
    ["cli"],
    ["__main__"],
]
LAYER = {room: number for number, layer in enumerate(LAYERS) for room in layer}
# Files of tests in the folder of a room that are about several of its modules, or about what no module is.
SUBJECTS = {
    "_search/test_evidence.py",  # what the core computes besides the choice
    "_search/test_shrinkage.py",
    "_search/test_spectrum.py",  # starts that see it
    "_solve/test_expectation_propagation.py",  # around factors of the core
    "_solve/test_hostile_vecchia.py",  # bad input of a factor of the core
    "_solve/test_laplace.py",  # criteria by an inference of the core
    "_solve/test_every_likelihood.py",  # criteria by an inference of the core
    "_solve/test_inducing.py",  # criteria and predictions by a factor of the core
    "_solve/test_nystrom.py",  # criteria by a factor of the core
    "_solve/test_nystrom_groups.py",  # what it leaves out together
    "_solve/test_points_gradient.py",  # some of the derivatives that evaluate gives
    "_solve/test_vecchia.py",  # criteria by a factor of the core
    "_solve/test_vecchia_reference.py",  # the slow twin of a factor of the core
    "cli/test_likelihoods.py",  # options of several commands
    "core/test_adding_a_kernel.py",  # what a new kernel takes
    "core/test_arrays.py",  # the compiled core, as a whole
    "core/test_isa.py",
    "core/test_pickling.py",
    "core/test_process.py",
    "core/test_tangents.py",
    "estimators/classification/test_sampled_hyperparameters.py",  # parts of binary.py and classifier.py
    "estimators/test_adding_an_estimator.py",  # what a new estimator takes
    "estimators/test_gaussian_process_defaults.py",  # test_gaussian_process.py has what does not choose
    "estimators/test_gaussian_process_search.py",
    "estimators/test_likelihoods.py",  # what observations of any likelihood mean to an estimator
    "estimators/test_hostile_likelihoods.py",  # observations that cannot be, and those at an end of what can be
    "estimators/test_left_out_together.py",  # what equal rows and groups mean to all of them
    "estimators/test_noise_of_rows.py",  # noise, weights and groups of the rows, in all of them and in cross-validation
    "estimators/test_one_factorization.py",
    "estimators/test_points_that_are_objects.py",
    "kernels/test_deep.py",  # very many parts, and parts within parts
    "saving/test_cpp.py",
    "saving/test_hostile.py",
    "study/test_select_likelihoods.py",  # selections, studies and nested folds with a likelihood
    "structured/test_kernels.py",  # what all kernels of objects have in common
}


def sources(root):
    for folder in ("cpp", "python/bindings"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".cpp", ".hpp", ".inl"}:
                yield path.relative_to(root).as_posix(), path.read_text()


def room_of(include):
    """Return the room of a header as it is included."""
    if include.startswith("kernsel/"):
        header = include.removeprefix("kernsel/").removesuffix(".hpp")
        return next((room for room, headers in ROOMS.items() if header in headers), "?")
    return include.partition("/")[0]


def test_includes_go_down(root):
    order = list(ROOMS)
    for name, text in sources(root):
        includes = re.findall(r'^#include "([^"]+)"', text, re.M)
        if name.startswith("cpp/include"):
            assert all(include.startswith("kernsel/") for include in includes), name
            room = room_of(name.removeprefix("cpp/include/"))
        elif name.startswith("cpp/src"):
            room = name.split("/")[2]
            includes = [include if "/" in include else f"{room}/{include}" for include in includes]
        else:
            continue
        assert room in order, f"{name}: no room is named for it in this test"
        for include in includes:
            assert room_of(include) in order[: order.index(room) + 1], f"{name} includes {include}, which is above it"
            assert room_of(include) not in STRANGERS.get(room, []), f"{name} includes {include}, which it must not know"


def test_only_the_tile_kernels_know_eigen_and_only_one_file_openmp(root):
    for name, text in sources(root):
        assert ("<Eigen/" in text) == (name == "cpp/src/isa/tiles.inl"), name
        assert ("<omp.h>" in text) == (name == "cpp/src/base/threads.cpp"), name
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


def rooms_imported(path):
    """Yield the rooms that a file imports from, at the top or within a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert not node.level or path.name == "__init__.py", f"{path}: imports of the package are absolute"
            module = node.module or ""
            if module == "kernsel":
                yield from (alias.name for alias in node.names)
            elif module.startswith("kernsel."):
                yield module.split(".")[1]


@pytest.mark.parametrize("room", [room for room in LAYER if room not in ("_core", "__main__")])
def test_imports_go_down(root, room):
    path = root / "python" / "kernsel" / room
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
        for other in rooms_imported(file):
            assert other == room or LAYER[other] < LAYER[room], f"{file.relative_to(root)} imports {other}"


def test_every_room_has_a_layer(root):
    found = {p.stem for p in (root / "python/kernsel").iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert found - {"__init__"} == set(LAYER) - {"_core"}


def test_each_file_of_tests_is_named_for_a_module(root):
    tests, package = root / "tests" / "python", root / "python" / "kernsel"
    found = [path for path in sorted(tests.rglob("test_*.py")) if path.parent != tests]
    for path in found:
        name, room = path.relative_to(tests).as_posix(), package / path.parent.relative_to(tests)
        module = path.stem.removeprefix("test_")
        if name not in SUBJECTS and module != room.name:  # the room itself is __init__.py, or the only module of its name
            assert (room / f"{module}.py").exists(), f"{name} names no module of its room; rename it, or add it to SUBJECTS"
    assert {path.relative_to(tests).as_posix() for path in found} >= SUBJECTS

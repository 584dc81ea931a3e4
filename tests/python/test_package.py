"""What is installed: these files and no others, small, typed, documented."""

import ast
import inspect
import re
from importlib.metadata import distribution
from pathlib import Path

import pytest

import kernsel as ks
from kernsel import _core

MADE = [  # by the build, beside what is in the source tree
    "_core.<abi>",
    "include/kernsel/version.hpp",
    "lib/cmake/kernsel/kernselConfig.cmake",
    "lib/cmake/kernsel/kernselConfigVersion.cmake",
    "lib/cmake/kernsel/kernselTargets-<config>.cmake",
    "lib/cmake/kernsel/kernselTargets.cmake",
    "lib/libkernsel.a",
]


def installed():
    for file in distribution("kernsel").files:
        path = file.as_posix()
        if "__pycache__" not in path:
            path = re.sub(r"_core\.[^/]*\.(so|pyd)$", "_core.<abi>", path)
            yield re.sub(r"kernselTargets-\w+\.cmake", "kernselTargets-<config>.cmake", path), file


def source_files(folder, *endings):
    files = (path for path in folder.rglob("*") if path.suffix in endings and "__pycache__" not in path.parts)
    return [path.relative_to(folder).as_posix() for path in files]


def test_the_list_of_files(root):
    if any("editable" in path for path, _ in installed()):
        pytest.skip("an editable installation has no files of its own")
    package = sorted(path.removeprefix("kernsel/") for path, _ in installed() if path.startswith("kernsel/"))
    modules = source_files(root / "python" / "kernsel", ".py", ".pyi", ".typed", ".csv", ".txt", ".css")
    headers = [f"include/{name}" for name in source_files(root / "cpp" / "include", ".hpp")]
    assert package == sorted([*MADE, *modules, *headers])
    others = {path.split("/")[0] for path, _ in installed()} - {"kernsel"}
    # The distribution's own folder, the command, and a repaired wheel's libraries.
    assert all(re.fullmatch(r"kernsel-[\d.]+\.dist-info|\.\.|kernsel\.libs", folder) for folder in others), others
    licences = [path for path, _ in installed() if "/licenses/" in path]
    assert sorted(Path(path).name for path in licences) == ["LICENSE", "LICENSE.MPL-2.0"]


def test_size():
    assert sum(Path(file.locate()).stat().st_size for _, file in installed() if Path(file.locate()).exists()) < 17e6


def test_one_version(root):
    text = (root / "pyproject.toml").read_text()
    assert f'\nversion = "{ks.__version__}"\n' in text
    assert distribution("kernsel").version == ks.__version__
    assert f'KERNSEL_VERSION "{ks.__version__}"' in (Path(ks.get_include()) / "kernsel/version.hpp").read_text()
    assert f"## {ks.__version__}" in (root / "CHANGELOG.md").read_text()
    assert f"version = {{{ks.__version__}}}" in (root / "python/docs/about/citing.md").read_text()
    if (root / ".github").exists():  # an sdist has none
        assert f"\nversion: {ks.__version__}\n" in (root / ".github/CITATION.cff").read_text()


def test_stubs_tell_the_truth():
    tree = ast.parse(Path(ks.__file__).with_name("_core.pyi").read_text())
    stubs = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    every = dict(stubs)
    public = {name for name in dir(_core) if not name.startswith("_")}
    # Types of dictionaries exist for type checkers alone, and say so.
    stubs = {name: node for name, node in stubs.items() if "type_check_only" not in map(ast.unparse, node.decorator_list)}
    numbers = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert {name for name in stubs if not name.startswith("_")} | numbers == public
    for name, node in stubs.items():
        if isinstance(node, ast.ClassDef) and node.body and isinstance(node.body[0], ast.FunctionDef):
            bodies = [
                node.body,
                *(every[base.id].body for base in node.bases if isinstance(base, ast.Name) and base.id in every),
            ]
            methods = {item.name for body in bodies for item in body if isinstance(item, ast.FunctionDef)}
            compiled = [getattr(_core, name)] if hasattr(_core, name) else [_core.CholeskyFloat32, _core.CholeskyFloat64]
            for one in compiled:
                theirs = {m for m in vars(one) if not m.startswith("_") or m in {"__add__", "__mul__", "__rmul__"}}
                assert methods - {"__init__"} == theirs, name


def signatures(body, owner):
    """Yield each function of a stub with its signature there, and that in the docstring that pybind11 has written."""
    for node in body:
        if isinstance(node, ast.ClassDef) and hasattr(owner, node.name):
            yield from signatures(node.body, getattr(owner, node.name))
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            compiled = (getattr(owner, node.name).__doc__ or "").partition("\n")[0]
            if "->" in compiled:  # properties have none
                yield node.name, node.args, ast.parse(f"def {compiled}: ...").body[0].args


def test_stubs_name_the_arguments_of_the_core():
    tree = ast.parse(Path(ks.__file__).with_name("_core.pyi").read_text())
    found = list(signatures(tree.body, _core))
    assert len(found) > 100
    for name, told, compiled in found:
        names = [[one.arg for one in (*args.posonlyargs, *args.args)] for args in (told, compiled)]
        for place, (one, other) in enumerate(zip(*names, strict=True)):
            if re.fullmatch(r"arg\d", other):  # pybind11's word for an argument that is told by its place alone
                assert place < len(told.posonlyargs), f"{name}: {one}"
            else:
                assert one == other, name
        assert [one.arg for one in told.kwonlyargs] == [one.arg for one in compiled.kwonlyargs], name
        assert len(told.defaults) == len(compiled.defaults), name


def test_no_eigen_in_the_checkout(root):
    import subprocess

    done = subprocess.run(["git", "ls-files", "extern"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    assert done.stdout.split() == ["extern/LICENSE.MPL-2.0", "extern/eigen.cmake"]


def public_objects():
    for module in (ks, ks.criteria, ks.features, ks.kernels, ks.linalg, ks.structured):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{module.__name__}.{name}", value


@pytest.mark.parametrize(("name", "value"), list(public_objects()))
def test_everything_public_is_documented_and_typed(name, value):
    assert inspect.getdoc(value), name
    methods = inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else [(name, value)]
    for method, function in methods:
        if function.__module__.startswith("kernsel") and not method.startswith("_"):
            assert inspect.getdoc(function), f"{name}.{method} has no docstring"
            for parameter in list(inspect.signature(function).parameters.values())[inspect.isclass(value) :]:
                assert parameter.annotation is not parameter.empty, f"{name}.{method}: {parameter.name} has no type"

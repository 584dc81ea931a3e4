"""What is installed: these files and no others, small, typed, documented."""

import ast
import inspect
import re
from importlib.metadata import distribution
from pathlib import Path

import pytest

import kernsel as ks
from kernsel import _core

FILES = [
    "__init__.py",
    "__main__.py",
    "_core.<abi>",
    "_core.pyi",
    "blas.py",
    "classification/__init__.py",
    "classification/binary.py",
    "classification/classifier.py",
    "classification/expectation_propagation.py",
    "classification/laplace.py",
    "classification/latent.py",
    "classification/links.py",
    "classification/multinomial.py",
    "classification/parameters.py",
    "classification/posterior.py",
    "classification/sampling.py",
    "classification/search.py",
    "classification/several.py",
    "classification/softmax.py",
    "cli.py",
    "conditional.py",
    "config.py",
    "criteria.py",
    "errors.py",
    "evaluation.py",
    "examples/__init__.py",
    "examples/boundary.py",
    "examples/cars.csv",
    "examples/clouds.py",
    "examples/data.py",
    "examples/drawing.py",
    "examples/integral_equation.py",
    "examples/mauna_loa.py",
    "examples/mauna_loa.txt",
    "examples/molecules.py",
    "examples/piston.py",
    "examples/promoters.py",
    "examples/stopping_distances.py",
    "factor.py",
    "features.py",
    "gaussian_process.py",
    "gram_matrix.py",
    "include/kernsel/criteria.hpp",
    "include/kernsel/factor.hpp",
    "include/kernsel/gram.hpp",
    "include/kernsel/kernel.hpp",
    "include/kernsel/measure.hpp",
    "include/kernsel/runtime.hpp",
    "include/kernsel/selection.hpp",
    "include/kernsel/status.hpp",
    "include/kernsel/strings.hpp",
    "include/kernsel/support.hpp",
    "include/kernsel/tiles.hpp",
    "include/kernsel/version.hpp",
    "include/kernsel/view.hpp",
    "interpolation.py",
    "interpolator.py",
    "kernel_machine.py",
    "kernel_ridge.py",
    "kernel_ridge_cv.py",
    "kernels/__init__.py",
    "kernels/algebra.py",
    "kernels/automatic.py",
    "kernels/base.py",
    "kernels/composition.py",
    "kernels/convert.py",
    "kernels/given.py",
    "kernels/hyperparameter.py",
    "kernels/inner_product.py",
    "kernels/leaf.py",
    "kernels/maps.py",
    "kernels/object_kernel.py",
    "kernels/objects.py",
    "kernels/pairwise.py",
    "kernels/priors.py",
    "kernels/simple.py",
    "kernels/stationary.py",
    "kernels/written.py",
    "least_squares.py",
    "lib/cmake/kernsel/kernselConfig.cmake",
    "lib/cmake/kernsel/kernselConfigVersion.cmake",
    "lib/cmake/kernsel/kernselTargets-<config>.cmake",
    "lib/cmake/kernsel/kernselTargets.cmake",
    "lib/libkernsel.a",
    "nested.py",
    "path.py",
    "points.py",
    "process_data.py",
    "py.typed",
    "ridge_regression.py",
    "selection/__init__.py",
    "selection/choice.py",
    "selection/progress.py",
    "selection/quasi_newton.py",
    "selection/starts.py",
    "selection/task.py",
    "selection/unknowns.py",
    "selector.py",
    "splitting.py",
    "structure.py",
    "structured/__init__.py",
    "structured/alignments.py",
    "structured/bags.py",
    "structured/barycenter.py",
    "structured/clouds.py",
    "structured/count_kernels.py",
    "structured/couplings.py",
    "structured/data.py",
    "structured/gaussians.py",
    "structured/graph_input.py",
    "structured/graphs.py",
    "structured/line.py",
    "structured/molecules.txt",
    "structured/numbering.py",
    "structured/pair_sums.py",
    "structured/sequences.py",
    "structured/set_kernels.py",
    "structured/sets.py",
    "structured/sliced.py",
    "structured/string_kernels.py",
    "structured/strings.py",
    "structured/threads.py",
    "structured/transport.py",
    "structured/transport_kernels.py",
    "support.py",
    "support_path.py",
    "support_selection.py",
    "support_span.py",
    "support_vectors.py",
    "testing.py",
    "trend.py",
    "weights.py",
]


def installed():
    for file in distribution("kernsel").files:
        path = file.as_posix()
        if "__pycache__" not in path:
            path = re.sub(r"_core\.[^/]*\.(so|pyd)$", "_core.<abi>", path)
            yield re.sub(r"kernselTargets-\w+\.cmake", "kernselTargets-<config>.cmake", path), file


def test_the_list_of_files():
    if any("editable" in path for path, _ in installed()):
        pytest.skip("an editable installation has no files of its own")
    package = sorted(path.removeprefix("kernsel/") for path, _ in installed() if path.startswith("kernsel/"))
    assert package == sorted(FILES)
    others = {path.split("/")[0] for path, _ in installed()} - {"kernsel"}
    # The distribution's own folder, the command, and a repaired wheel's libraries.
    assert all(re.fullmatch(r"kernsel-[\d.]+\.dist-info|\.\.|kernsel\.libs", folder) for folder in others), others
    licences = [path for path, _ in installed() if "/licenses/" in path]
    assert sorted(Path(path).name for path in licences) == ["LICENSE", "LICENSE.MPL-2.0"]


def test_size():
    assert sum(Path(file.locate()).stat().st_size for _, file in installed() if Path(file.locate()).exists()) < 8e6


def test_one_version(root):
    text = (root / "pyproject.toml").read_text()
    assert f'\nversion = "{ks.__version__}"\n' in text
    assert distribution("kernsel").version == ks.__version__
    assert f'KERNSEL_VERSION "{ks.__version__}"' in (Path(ks.get_include()) / "kernsel/version.hpp").read_text()
    assert f"## {ks.__version__}" in (root / "CHANGELOG.md").read_text()


def test_stubs_tell_the_truth():
    tree = ast.parse(Path(_core.__file__).with_name("_core.pyi").read_text())
    stubs = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert {name for name in stubs if not name.startswith("_")} == public
    for name, node in stubs.items():
        if isinstance(node, ast.ClassDef) and node.body and isinstance(node.body[0], ast.FunctionDef):
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            compiled = [getattr(_core, name)] if hasattr(_core, name) else [_core.CholeskyFloat32, _core.CholeskyFloat64]
            for one in compiled:
                theirs = {m for m in vars(one) if not m.startswith("_") or m in {"__add__", "__mul__", "__rmul__"}}
                assert methods - {"__init__"} == theirs, name


def test_no_eigen_in_the_checkout(root):
    import subprocess

    done = subprocess.run(["git", "ls-files", "extern"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    assert done.stdout.split() == ["extern/LICENSE.MPL-2.0", "extern/eigen.cmake"]


def public_objects():
    for module in (ks, ks.features, ks.kernels, ks.structured):
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

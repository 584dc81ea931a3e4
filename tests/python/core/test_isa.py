"""One binary, several instruction sets: the right one runs, each gives right results, none leaks into another."""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import kernsel as ks

import children

CONFIG = ks.show_config("dict")
X86 = len(CONFIG["isa_compiled"]) > 1
needs_x86 = pytest.mark.skipif(not X86, reason="one instruction set in this build")
needs_binutils = pytest.mark.skipif(not (shutil.which("nm") and shutil.which("objdump")), reason="no binutils on this machine")


@pytest.mark.core
def test_which_one_runs():
    wish = os.environ.get("KERNSEL_ISA") or CONFIG["isa_available"][-1]
    assert CONFIG["isa"] == wish
    assert CONFIG["isa_compiled"][: len(CONFIG["isa_available"])] == CONFIG["isa_available"]


OTHERS = [isa for isa in CONFIG["isa_available"] if isa != CONFIG["isa"]] or CONFIG["isa_compiled"][:1]


@pytest.fixture(scope="module")
def reruns(tmp_path_factory):
    """Run the tests of the core under each other level, all at once: most of them use one thread."""
    if "KERNSEL_ISA" in os.environ:
        pytest.skip("this is such a rerun")
    root, folder = Path(__file__).parents[3], tmp_path_factory.mktemp("reruns")
    files = [path for path in sorted((root / "tests/python").rglob("test_*.py")) if "mark.core" in path.read_text()]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "core", "-p", "no:cacheprovider", *map(str, files)]
    started = {}
    for isa in OTHERS:
        environment = children.environment(KERNSEL_ISA=isa, OMP_NUM_THREADS=threads_under(isa))
        with (folder / isa).open("w") as output:
            started[isa] = subprocess.Popen(command, env=environment, cwd=root, stdout=output, stderr=subprocess.STDOUT)
    yield lambda isa: (started[isa].wait(), (folder / isa).read_text())
    for process in started.values():
        process.kill()
        process.wait()


def threads_under(isa):
    return "1" if isa == "base" else "2"


@pytest.mark.slow
@pytest.mark.parametrize("isa", OTHERS)
def test_core_tests_under_each_level(isa, reruns):
    status, output = reruns(isa)
    assert status == 0, output[-5000:]
    assert f": {isa}, {threads_under(isa)} threads" in output or "passed" in output


@pytest.mark.slow
def test_levels_agree():
    """Rounding differs between levels, and nothing else."""
    code = """
        import sys, numpy as np, kernsel as ks
        X = np.random.default_rng(0).standard_normal((200, 3))
        k = ks.kernels.RBF([1.0, 2.0, 3.0])
        tree = ks.kernels.kernel(
            "Matern(1.5, nu=2.5, product=True) * ExpSineSquared(1.0, 3.0) + Normalize(ArcCosine(2)) * Wendland(5.0)"
            " + Exp(RationalQuadratic(1.0, 0.5)) + Cosine(3.0) * Matern(2.0, nu=0.7) ** 0.5"
            " + Transform(RBF(1.0), [[1, -1, 0.5]])"
        )
        F = ks.linalg.cholesky(ks.gram(k, X) + 0.1 * np.eye(200))
        W = F.inverse()
        print(repr([*F.solve(X[:, 0]).tolist(), F.logdet(), *k.pullback(X, W), *tree.pullback(X, W), *tree(X)[0]]))
    """
    with ThreadPoolExecutor() as pool:
        printed = list(pool.map(lambda isa: children.run(code, KERNSEL_ISA=isa), CONFIG["isa_available"]))
    results = [np.array(eval(text)) for text in printed]
    for result in results:
        assert result == pytest.approx(results[0], rel=200 * 2000 * np.finfo(float).eps)


def test_unknown_name():
    with pytest.raises(
        AssertionError, match=r"ImportError: KERNSEL_ISA=sse9 is not an instruction set of this build; it has \w+"
    ):
        children.run("import kernsel", KERNSEL_ISA="sse9")


@needs_x86
@pytest.mark.parametrize(("cpu", "levels"), [("Nehalem", 1), ("Haswell", 2), ("core2duo", 0)])
def test_on_older_machines(cpu, levels, tmp_path):
    """Emulated CPUs: the best level they have runs, a higher one is refused, below the baseline nothing runs."""
    emulator, compiler = shutil.which("qemu-x86_64"), shutil.which("g++")
    if not (emulator and compiler):
        pytest.skip("needs qemu-user and g++")
    source, program = Path(__file__).parents[2] / "cpp" / "show_isa.cpp", tmp_path / "isa"
    library = Path(ks.get_cmake_dir()).parents[1]
    command = [
        compiler,
        "-std=c++17",
        "-march=x86-64",
        f"-I{ks.get_include()}",
        str(source),
        f"-L{library}",
        "-lkernsel",
        "-fopenmp",
    ]
    subprocess.run([*command, "-o", str(program)], check=True)

    def on_it(**changes):
        done = subprocess.run(
            [emulator, "-cpu", cpu, program],
            env=children.environment(**changes),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip().split("|")

    isa, message, available, value = on_it()
    assert available == ",".join(CONFIG["isa_compiled"][:levels])
    if levels == 0:
        assert "older than x86-64-v2" in message
        return
    assert (isa, message, value) == (CONFIG["isa_compiled"][levels - 1], "", "0.6065")
    _, message, _, value = on_it(KERNSEL_ISA="avx512")
    assert message.startswith("KERNSEL_ISA=avx512 is above what this CPU and its operating system offer")
    assert value == "0.0000"


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Unpack the static library: one object for each instruction set, and the rest."""
    folder = tmp_path_factory.mktemp("objects")
    library = Path(ks.get_cmake_dir()).parents[1] / "libkernsel.a"
    subprocess.run(["ar", "x", str(library)], cwd=folder, check=True)
    return {path.name.split(".")[0]: path for path in folder.glob("*.o")}


def symbols(path):
    output = subprocess.run(["nm", "--defined-only", str(path)], capture_output=True, text=True, check=True).stdout
    return [line.split(maxsplit=2)[1:] for line in output.splitlines() if len(line.split(maxsplit=2)) == 3]


@needs_x86
@needs_binutils
def test_no_symbol_is_shared(objects):
    sets = [name for name in objects if name.startswith("tiles_")]
    assert sorted(sets) == ["tiles_avx2", "tiles_avx512", "tiles_base"]
    weak = {name: {symbol for kind, symbol in symbols(path) if kind in "WwVvu"} for name, path in objects.items()}
    for name in sets:
        others = set().union(*(weak[other] for other in objects if other != name))
        assert not weak[name] & others, f"{name} shares weak symbols: {sorted(weak[name] & others)[:5]}"
        exported = {symbol for kind, symbol in symbols(objects[name]) if kind in "TDRB"}
        assert len(exported) == 1, f"{name} exports more than its table: {exported}"


@needs_x86
@needs_binutils
def test_each_object_has_its_instructions(objects):
    def code(name):
        return subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", str(objects[name])], capture_output=True, text=True, check=True
        ).stdout

    base, avx2, avx512 = code("tiles_base"), code("tiles_avx2"), code("tiles_avx512")
    assert len(re.findall(r"vfmadd\w+pd .*%zmm", avx512)) > 100
    assert len(re.findall(r"vfmadd\w+ps .*%zmm", avx512)) > 100
    assert len(re.findall(r"vfmadd\w+pd .*%ymm", avx2)) > 100
    assert "%zmm" not in avx2
    assert "%ymm" not in base
    assert "vfmadd" not in base
    assert "mulpd" in base


@needs_x86
@needs_binutils
def test_the_extension_has_all_of_them():
    library = Path(ks._core.__file__)
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(library)], capture_output=True, text=True, check=True
    ).stdout
    for register in ("%zmm", "%ymm"):
        assert re.search(rf"vfmadd\w+pd .*{register}", text)

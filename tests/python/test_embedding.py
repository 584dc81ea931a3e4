"""The C++ guide's ways to use the library in a CMake project: installed, as a folder of it, fetched; without Python."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import kernsel as ks

import children
from building import needs_a_compiler, tool

SYSTEM_EIGEN = [Path(prefix, "share/eigen3/cmake/Eigen3Config.cmake") for prefix in ("/usr", "/usr/local", "/opt/homebrew")]
there_is_one = any(path.exists() for path in SYSTEM_EIGEN)
pytestmark = [
    needs_a_compiler,
    pytest.mark.skipif(
        not there_is_one and os.environ.get("TEST_EMBEDDING") != "required",
        reason="no system Eigen on this machine, such as Debian's libeigen3-dev",
    ),
]

# Beside the guide's lines: what the project sees after them that it did not see before.
WATCH = """
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
get_cmake_property(variables VARIABLES)
file(WRITE "${CMAKE_BINARY_DIR}/seen-%s" "targets ${targets} ${imported}\nvariables ${variables}\n"
     "flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_STANDARD} ${CMAKE_POSITION_INDEPENDENT_CODE} ${BUILD_TESTING} ${CMAKE_BUILD_TYPE}\n")
"""


@pytest.fixture
def blocks(root):
    guide = (root / "python/docs/cpp/guide.md").read_text()
    project, *ways = re.findall(r"^```cmake\n(.*?)^```", guide, re.M | re.S)
    program = re.findall(r"^```cpp\n(.*?)^```", guide, re.M | re.S)[0]
    assert len(ways) == 2
    return {"find_package": project, "program": program, **dict(zip(("add_subdirectory", "FetchContent"), ways, strict=True))}


@pytest.fixture
def checkout(root, tmp_path):
    """Return a copy of what is in the repository, without headers of Eigen that an sdist has brought."""
    folder = tmp_path / "app" / "kernsel"
    for part in ("cpp", "python/bindings", "extern"):
        shutil.copytree(root / part, folder / part, ignore=shutil.ignore_patterns("eigen"))
    for part in ("CMakeLists.txt", "pyproject.toml"):
        shutil.copy(root / part, folder / part)
    return folder


def cmake(*arguments):
    """Run CMake where there is no Python to be found."""
    environment = children.environment(PATH="/usr/bin:/bin")
    done = subprocess.run([tool("cmake"), *map(str, arguments)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def configure(folder, binary, lines, program, *definitions):
    (folder / "app.cpp").write_text(program)
    (folder / "CMakeLists.txt").write_text(lines)
    return cmake(
        *("-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-DCMAKE_BUILD_TYPE=Debug"),
        *("-S", folder, "-B", binary, *definitions),
    )


def seen(binary, name):
    lines = (binary / f"seen-{name}").read_text().splitlines()
    return {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in lines}


def watched(way):
    return WATCH % "before" + way + WATCH % "after"


def cache(binary):
    lines = (binary / "CMakeCache.txt").read_text().splitlines()
    return dict(re.match(r"([^:#/]+):\w+=(.*)", line).groups() for line in lines if re.match(r"[^:#/]+:\w+=", line))


def in_place_of_find_package(blocks, way):
    line = "find_package(kernsel 0.1 REQUIRED)\n"
    assert line in blocks["find_package"]
    return blocks["find_package"].replace(line, watched(way)) + "install(TARGETS app)\n"


@pytest.mark.parametrize("way", ["add_subdirectory", "cpp alone", pytest.param("FetchContent", marks=pytest.mark.slow)])
def test_as_a_part_of_a_project(way, blocks, checkout, tmp_path):
    folder, binary = checkout.parent, tmp_path / "build"
    line = "add_subdirectory(kernsel/cpp)\n" if way == "cpp alone" else blocks[way]
    place = ["-DSKBUILD=2"]  # as if scikit-build-core builds the project, which is not ours
    if way == "FetchContent":
        place.append(f"-DFETCHCONTENT_SOURCE_DIR_KERNSEL={checkout}")
    said = configure(folder, binary, in_place_of_find_package(blocks, line), blocks["program"], *place)
    assert "kernsel: Eigen 3" in said
    assert "Python" not in said
    assert not [name for name in cache(binary) if "python" in name.lower() and "FETCHCONTENT" not in name]

    before, after = seen(binary, "before"), seen(binary, "after")
    assert after["flags"] == before["flags"]
    assert after["targets"] == before["targets"]  # its own, not ours
    new = set(after["variables"].split(";")) - set(before["variables"].split(";"))
    common = "CMAKE_|__cmake_|FETCHCONTENT_|FIND_PACKAGE|FPHSA|OpenMP|Threads|THREADS|Eigen3_DIR|EIGEN3|_CMAKE|_OPENMP|_OpenMP"
    foreign = {name for name in new if not re.match(rf"_?(?i:kernsel)_|{common}", name)}
    assert foreign <= {"variables", "targets", "imported", "kernsel_POPULATED"}
    ours = {name for name in cache(binary) if "kernsel" in name.lower()}
    assert all(re.match("KERNSEL_|kernsel_|FETCHCONTENT_|_?kernsel", name) for name in ours)
    assert cache(binary)["KERNSEL_INSTALL"] == cache(binary)["KERNSEL_TESTS"] == "OFF"

    if way != "FetchContent":
        return  # all build the same
    cmake("--build", binary)
    assert "log det" in subprocess.run([binary / "app"], capture_output=True, text=True, check=True).stdout
    cmake("--install", binary, "--prefix", tmp_path / "of the project")
    installed = {path.name for path in (tmp_path / "of the project").rglob("*") if path.is_file()}
    assert installed == {"app"}
    # Asked for, the library comes with it, and is found there.
    configure(folder, binary, in_place_of_find_package(blocks, line), blocks["program"], *place, "-DKERNSEL_INSTALL=ON")
    cmake("--build", binary)
    cmake("--install", binary, "--prefix", tmp_path / "both")
    other = tmp_path / "other"
    other.mkdir()
    configure(other, tmp_path / "third", blocks["find_package"], blocks["program"], f"-DCMAKE_PREFIX_PATH={tmp_path / 'both'}")
    cmake("--build", tmp_path / "third")


def test_other_headers_of_eigen_are_no_error(blocks, checkout, tmp_path):
    (checkout / "extern" / "eigen" / "Eigen").mkdir(parents=True)
    (checkout / "extern" / "eigen" / "Eigen" / "Core").write_text("#error not these\n")
    said = configure(
        checkout.parent, tmp_path / "build", in_place_of_find_package(blocks, blocks["add_subdirectory"]), blocks["program"]
    )
    assert "kernsel: Eigen 3" in said
    assert str(checkout / "extern") not in said


def test_the_wheels_library(blocks, tmp_path):
    binary = tmp_path / "build"
    configure(tmp_path, binary, blocks["find_package"], blocks["program"], f"-Dkernsel_DIR={ks.get_cmake_dir()}")
    cmake("--build", binary)
    assert "log det" in subprocess.run([binary / "app"], capture_output=True, text=True, check=True).stdout

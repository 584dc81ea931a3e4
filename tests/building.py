"""C++ programs, built against the library that the package carries."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
needs_a_compiler = pytest.mark.skipif(compiler is None, reason="no C++ compiler on this machine")


def tool(name):
    """Return a program of this environment, or of the machine."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name) or pytest.fail(f"{name} not found")


def build(source, binary, *definitions):
    """Build what is in a folder."""
    configure = ["cmake", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-DCMAKE_BUILD_TYPE=Release", *definitions]
    for command in ([*configure, "-S", source, "-B", binary], ["cmake", "--build", binary]):
        done = subprocess.run([tool("cmake"), *map(str, command[1:])], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

"""The build and run-time configuration: versions, threads, and the paths of the C++ library."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal, TypedDict, overload

from kernsel import _core

__all__ = ["get_cmake_dir", "get_include", "get_num_threads", "set_num_threads", "show_config"]


# Whose threads compute, as it is printed.
THREADING = {"own": "of kernsel's own", "openmp": "of OpenMP", "none": "the calling one"}


class Config(TypedDict):
    """The dictionary that `show_config` returns."""

    version: str
    isa: str
    isa_available: list[str]
    isa_compiled: list[str]
    threads: int
    threading: Literal["own", "openmp", "none"]
    openmp: str | None
    eigen: str
    compiler: str
    memory_available: int | None


def get_num_threads() -> int:
    """Return the number of threads that computations started from this thread may use.

    By default it is the number of processors of the process, given its affinity (``taskset``) and the quota of its container.
    ``set_num_threads`` and the environment variable ``OMP_NUM_THREADS`` change it, ``threadpoolctl.threadpool_limits`` lowers
    it, and it is 1 in a child of ``fork``. Fewer threads may run while other work uses the processors: a computation never
    waits for a thread that has no processor.

    A limit of threadpoolctl holds for libraries that are loaded when it begins. This one is, once kernsel is imported; SciPy's
    BLAS is loaded by the first estimator that is used.

    Examples
    --------
    >>> import kernsel as ks
    >>> ks.get_num_threads() >= 1
    True
    """
    return _core.num_threads()


def set_num_threads(count: int) -> None:
    """Set the number of threads that computations may use.

    The limit holds for the whole process. It also sets OpenMP's number of threads for the calling thread, and never
    exceeds it, so that ``OMP_NUM_THREADS`` and ``threadpoolctl.threadpool_limits`` still hold. Results do not depend on it.

    Parameters
    ----------
    count : int
        At least 1.

    Examples
    --------
    >>> import kernsel as ks
    >>> ks.set_num_threads(1)
    >>> ks.get_num_threads()
    1
    """
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"count: expected an integer, got {count!r}")
    if count < 1:
        raise ValueError(f"count: expected at least 1 thread, got {count}")
    _core.set_num_threads(min(count, 2**31 - 1))


@overload
def show_config(mode: Literal["print"] = "print") -> None: ...
@overload
def show_config(mode: Literal["dict"]) -> Config: ...
def show_config(mode: Literal["print", "dict"] = "print") -> Config | None:
    """Print what kernsel was built with and what it runs on.

    ``threading`` says whose threads compute: "own" are those that kernsel starts itself, which need no OpenMP; "openmp" and
    "none", the calling thread alone, are choices of the build. ``openmp`` is the version of the OpenMP whose number of threads
    is respected, None if the compiler had none; ``OMP_NUM_THREADS`` holds in any case.

    Parameters
    ----------
    mode : {"print", "dict"}
        "dict" returns a dictionary instead.

    Returns
    -------
    config : dict or None
        None for "print".

    Examples
    --------
    >>> import kernsel as ks
    >>> sorted(ks.show_config("dict"))  # doctest: +NORMALIZE_WHITESPACE
    ['compiler', 'eigen', 'isa', 'isa_available', 'isa_compiled', 'memory_available', 'openmp', 'threading', 'threads',
    'version']
    """
    config: Config = {
        "version": _core.version(),
        "isa": _core.isa(),
        "isa_available": _core.isa_levels(),
        "isa_compiled": _core.isa_compiled(),
        "threads": _core.num_threads(),
        "threading": _core.threading(),
        "openmp": _core.openmp_version() or None,
        "eigen": _core.eigen_version(),
        "compiler": _core.compiler(),
        "memory_available": _core.available_memory() or None,
    }
    if mode == "dict":
        return config
    if mode != "print":
        raise ValueError(f'mode: expected "print" or "dict", got {mode!r}')
    memory = config["memory_available"]
    print(f"kernsel {config['version']}")
    print(f"  instruction set  {config['isa']}, of {', '.join(config['isa_available'])} (KERNSEL_ISA chooses)")
    print(f"  threads          {config['threads']}, {THREADING[config['threading']]}")
    print(f"  OpenMP           {config['openmp'] or 'none'}")
    print(f"  Eigen            {config['eigen']}")
    print(f"  compiler         {config['compiler']}")
    print(f"  memory           {'unknown' if memory is None else f'{memory / 2**30:.1f} GiB available'}")
    return None


def get_include() -> str:
    """Return the directory of the C++ headers, for builds without CMake."""
    return str(files("kernsel") / "include")


def get_cmake_dir() -> str:
    """Return the directory of kernselConfig.cmake, for ``cmake -Dkernsel_DIR=...``."""
    return str(files("kernsel") / "lib" / "cmake" / "kernsel")

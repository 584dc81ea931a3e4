"""Check the list of files of an sdist or a wheel: ``python tests/check_archive.py FILE``."""

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = [path for ending in ("csv", "txt") for path in sorted((ROOT / "python/kernsel").rglob(f"*.{ending}"))]


def check_wheel(path):
    names = zipfile.ZipFile(path).namelist()
    folders = {name.split("/")[0] for name in names}
    assert len(folders) == 2, f"more than the package and its description: {folders}"
    assert all(re.match(r"kernsel(-[\d.]+\.dist-info)?$", folder) for folder in folders), folders
    assert not [name for name in names if "Eigen" in name], "Eigen headers in a wheel"
    data = {f"kernsel/{p.relative_to(ROOT / 'python/kernsel').as_posix()}" for p in DATA}
    wanted_files = {"kernsel/py.typed", "kernsel/_core.pyi", "kernsel/lib/libkernsel.a", "kernsel/include/kernsel/gram.hpp"}
    for wanted in wanted_files | data:
        assert wanted in names, f"{wanted} is missing"
    assert path.stat().st_size < 8e6, "larger than 8 MB"
    return names


def check_sdist(path):
    with tarfile.open(path) as archive:
        names = [name.split("/", 1)[1] for name in archive.getnames() if "/" in name]
    for wanted in ("extern/eigen/Eigen/Core", "extern/LICENSE.MPL-2.0", "LICENSE", "PKG-INFO", "cpp/src/isa/tiles.inl"):
        assert wanted in names, f"{wanted} is missing"
    unwanted = [name for name in names if re.match(r"(build|dist|\.venv|\.ci|\.github)/|.*\.(so|o|a|pyc)$", name)]
    assert not unwanted, unwanted
    ours = {p.relative_to(ROOT).as_posix() for folder in ("cpp", "python", "tests") for p in (ROOT / folder).rglob("*.?pp")}
    ours |= {path.relative_to(ROOT).as_posix() for path in DATA}
    assert ours <= set(names), f"missing: {sorted(ours - set(names))[:5]}"
    return names


if __name__ == "__main__":
    archive = Path(sys.argv[1])
    listing = (check_wheel if archive.suffix == ".whl" else check_sdist)(archive)
    print(f"{archive.name}: {len(listing)} files, {archive.stat().st_size / 1e6:.2f} MB")

"""The pages of the Python API: each public module with a table of its names, and a page for each name.

They follow from `__all__`, so that no public name can be missing.
"""

import importlib
import inspect
from pathlib import Path

from sklearn.base import BaseEstimator

MODULES = {
    "kernsel": "Models, and what is done with them",
    "kernsel.kernels": "Kernels",
    "kernsel.kernels.priors": "Priors of hyperparameters",
    "kernsel.kernels.object_kernel": "Your own kernels of objects",
    "kernsel.structured": "Points that are not vectors",
    "kernsel.criteria": "Criteria",
    "kernsel.likelihoods": "Likelihoods",
    "kernsel.features": "Features for linear models",
    "kernsel.design": "Next points",
    "kernsel.sensitivity": "Which inputs matter",
    "kernsel.plotting": "Pictures",
    "kernsel.linalg": "Numerical routines",
    "kernsel.testing": "Checks of your own kernels",
    "kernsel.examples": "Examples",
}


def public_names(module):
    """Return the public classes, functions and constants of a module, without modules and what begins with an underscore."""
    value = importlib.import_module(module)
    return {
        name: getattr(value, name)
        for name in value.__all__
        if not name.startswith("_") and not inspect.ismodule(getattr(value, name))
    }


def modules():
    """Return the public modules and their titles: those above, and any other that `kernsel.__all__` names."""
    root = importlib.import_module("kernsel")
    named = [f"kernsel.{name}" for name in root.__all__ if inspect.ismodule(getattr(root, name))]
    return MODULES | {name: name for name in named if name not in MODULES}


def _groups(module):
    """Yield titles and names: estimators, other classes, functions and data."""
    names = public_names(module)
    kinds = {name: _kind(value) for name, value in names.items()}
    for kind in ("Estimators", "Classes", "Functions", "Data"):
        members = sorted((name for name in names if kinds[name] == kind), key=str.lower)
        if members:
            yield kind, members


def _kind(value):
    if inspect.isclass(value):
        return "Estimators" if issubclass(value, BaseEstimator) else "Classes"
    return "Functions" if callable(value) else "Data"


def _page(module, title):
    lines = [
        title,
        "=" * len(title),
        "",
        f".. module:: {module}",
        "",
        f".. automodule:: {module}",
        "   :no-members:",
        "   :no-index:",
        "",
    ]
    groups = list(_groups(module))
    for kind, names in groups:
        if len(groups) > 1:
            lines += [kind, "-" * len(kind), ""]
        lines += [".. autosummary::", "   :toctree:", "", *(f"   {name}" for name in names), ""]
    return "\n".join(lines)


def write_pages(app, config):
    """Write a page for each public module, and the one that lists them."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    pages = modules()
    for module, title in pages.items():
        _write(folder / f"{module}.rst", _page(module, title))
    listing = [
        "API reference",
        "=============",
        "",
        "Every public name of the package, by module.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
    ]
    _write(folder / "index.rst", "\n".join([*listing, *(f"   {module}" for module in pages), ""]))


def _write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def skip_inherited(app, what, name, obj, skip, options):
    """Skip what classes have from scikit-learn and from Python: its documentation is there."""
    function = getattr(obj, "fget", None) or obj
    home = getattr(function, "__module__", None) or ""
    return True if what == "class" and home and not home.startswith("kernsel") else None


def setup(app):
    """Write the pages before Sphinx looks for sources."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", skip_inherited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

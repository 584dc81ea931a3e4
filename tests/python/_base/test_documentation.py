"""Links from estimators to their pages, which are those that the build of the site makes."""

import importlib
import sys

import pytest
from sklearn.base import BaseEstimator

import kernsel as ks
from kernsel._base import documentation


@pytest.fixture
def published(monkeypatch):
    monkeypatch.setattr(documentation, "documentation_address", lambda: "https://docs.example")


def public_names(root):
    """Return what the build of the site has pages for."""
    sys.path.insert(0, str(root / "python/docs/_extensions"))
    try:
        pages = importlib.import_module("api_pages")
    finally:
        sys.path.pop(0)
    return {f"{module}.{name}": value for module in pages.modules() for name, value in pages.public_names(module).items()}


@pytest.mark.usefixtures("published")
def test_estimators_link_to_their_pages(root):
    named = {name: value for name, value in public_names(root).items() if isinstance(value, type)}
    estimators = {name: value for name, value in named.items() if issubclass(value, BaseEstimator)}
    assert len(estimators) > 10
    for name, estimator in estimators.items():
        assert estimator.__new__(estimator)._get_doc_link() == f"https://docs.example/api/{name}.html"
    assert 'href="https://docs.example/api/kernsel.SVR.html"' in ks.SVR()._repr_html_()


def test_the_address_is_that_of_the_installation(monkeypatch):
    entries = {"Project-URL": ["Source, https://code.example/", "Documentation, https://docs.example/kernsel/"]}
    monkeypatch.setattr(documentation, "metadata", lambda name: type("Metadata", (), {"get_all": entries.get}))
    documentation.documentation_address.cache_clear()
    try:
        assert documentation.documentation_address() == "https://docs.example/kernsel"
        entries.clear()
        documentation.documentation_address.cache_clear()
        assert documentation.documentation_address() == ""
        assert ks.KernelRidge()._get_doc_link() == ""
    finally:
        documentation.documentation_address.cache_clear()

"""The links from estimators to their pages of the documentation, which notebooks show.

Where the documentation is published is said in one place, `[project.urls]` of pyproject.toml, of which an installation keeps
the entry "Documentation". Without it there are no links.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata

__all__ = ["LinksToItsPage", "documentation_address"]


@cache
def documentation_address() -> str:
    """Return where the documentation is published, without a slash at the end; empty if nobody has said so.

    Examples
    --------
    >>> from kernsel._base.documentation import documentation_address
    >>> documentation_address().endswith("/")
    False
    """
    try:
        entries = metadata("kernsel").get_all("Project-URL") or []
    except PackageNotFoundError:  # a source tree that is not installed
        return ""
    addresses = (entry.partition(", ") for entry in entries)
    return next((address.rstrip("/") for name, _, address in addresses if name == "Documentation"), "")


class LinksToItsPage:
    """What scikit-learn asks of an estimator to link its picture to a page: the page of its class in the API reference."""

    _doc_link_module = "kernsel"

    @property
    def _doc_link_template(self) -> str:
        address = documentation_address()
        return f"{address}/api/{{page}}.html" if address else ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        room = type(self).__module__.split(".")[1]
        return {"page": ".".join(["kernsel", *([room] if room != "estimators" else []), type(self).__name__])}

"""Check the pages of the documentation without a network: ``python tests/check_site.py build/site``.

Every link inside leads to a page and to a place in it, every picture, script and style is there, nothing is fetched from
elsewhere, and each public name of the package has a page.
"""

import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "python/docs/_extensions"))

import api_pages

# What loads when a page is shown, by tag; links that a reader may follow are others.
LOADED = {"img": "src", "script": "src", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """The places, links and loaded files of a page."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag == "link" and attributes.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(attributes["href"])
        if attributes.get(LOADED.get(tag, "")):
            self.loaded.append(attributes[LOADED[tag]])


def dead_links(site):
    """Yield what leads nowhere, and what is loaded from elsewhere."""
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    assert len(pages) > 150, f"only {len(pages)} pages in {site}"
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    yield f"{path.relative_to(site)} loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{path.relative_to(site)} links to {link}, which does not exist"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{path.relative_to(site)} links to {link}, which has no such place"


def documented(site):
    """Return the names of Sphinx's inventory of the Python objects that have a place."""
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(inventory).decode().splitlines()
    return {line.split()[0] for line in lines if line.split()[1].startswith("py:")}


if __name__ == "__main__":
    built = Path(sys.argv[1]).resolve()
    names = {f"{module}.{name}" for module in api_pages.modules() for name in api_pages.public_names(module)}
    problems = [*dead_links(built), *(f"{name} has no page" for name in sorted(names - documented(built)))]
    print("\n".join(problems) or f"{len(names)} public names have their pages, and all links of {built.name} lead somewhere")
    sys.exit(bool(problems))

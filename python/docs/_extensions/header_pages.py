"""The pages of the C++ API: each public header, which is its own summary, with what its first comment says."""

import re
from pathlib import Path

HEADERS = Path(__file__).parents[3] / "cpp" / "include" / "kernsel"
FIRST = [
    "kernel",
    "view",
    "status",
    "gram",
    "cholesky",
    "choose",
    "posterior",
    "model",
    "criteria",
    "path",
    "least_squares",
    "support",
]


def _first_sentence(text):
    comment = " ".join(re.match(r"(?:// .*\n)+", text).group().replace("//", " ").split())
    sentence = re.match(r".*?\.(?= |$)", comment).group().rstrip(".")
    return re.sub(r"([\\`*_|])", r"\\\1", sentence)


def write_pages(app, config):
    """Write a page for each header, and the one that lists them."""
    folder = Path(app.srcdir) / "headers"
    folder.mkdir(exist_ok=True)
    names = sorted(
        (path.stem for path in HEADERS.glob("*.hpp")),
        key=lambda name: (name not in FIRST, FIRST.index(name) if name in FIRST else 0, name),
    )
    rows = []
    for name in names:
        path = HEADERS / f"{name}.hpp"
        title = f"kernsel/{name}.hpp"
        code = f"```{{literalinclude}} /../../cpp/include/kernsel/{name}.hpp\n:language: cpp\n```"
        _write(folder / f"{name}.md", f"# {title}\n\n{code}\n")
        rows.append(f"| [{title}]({name}.md) | {_first_sentence(path.read_text())} |")
    text = (
        "# C++ headers\n\nThe public headers are their own reference: short, and commented for readers. None needs Eigen.\n\n"
    )
    table = "\n".join(["| header | what it has |", "|---|---|", *rows])
    hidden = "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])
    _write(folder / "index.md", f"{text}{table}\n\n{hidden}\n")


def _write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def setup(app):
    """Write the pages before Sphinx looks for sources."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

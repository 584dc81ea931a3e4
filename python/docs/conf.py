"""The documentation site: `sphinx-build -W python/docs build/site`, after `pip install '.[docs]'`.

Pages are Markdown. Those in this folder are the user guide, which `index.md` lists: known ones in their order, and any other
after them. The folders `api`, `headers` and `gallery` are made by the build, from docstrings, C++ headers and the examples.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import picture_of_example  # noqa: E402

import kernsel  # noqa: E402

project = "kernsel"
author = project_copyright = "The kernsel developers"
version = release = kernsel.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "plain_signs",
    "api_pages",
    "api_links",
    "header_pages",
    "mathml",
    "picture_of_example",
]
exclude_patterns = ["_templates", "_extensions", "gallery_sources", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 3
default_role = "py:obj"
highlight_language = "python"

autodoc_typehints = "none"  # the numpydoc sections say the types
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_imported_members = True
numpydoc_show_class_members = False  # the template of classes lists them

html_theme = "furo"
html_title = "kernsel"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = picture_of_example.configuration(HERE)

"""Links to the Python API: names in code that name something public lead to its page.

In Markdown pages that is inline code such as `GaussianProcessRegressor` or `ks.Vecchia(20)`, so that pages need no markup of
Sphinx and read well elsewhere; in docstrings, names without their module.
"""

import re
from functools import cache

import api_pages
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform


@cache
def names():
    """Return the full name for each name that a text may use: full, after `ks.`, and alone where that tells which is meant."""
    found = {}
    for module in api_pages.modules():
        for name in api_pages.public_names(module):
            full = f"{module}.{name}"
            found.setdefault(name, full)  # the first module that has it: the top level before kernels, and so on
            for text in (full, full.removeprefix("kernsel."), full.replace("kernsel.", "ks.", 1)):
                found[text] = full
    return found


def _names_others(node):
    """Return whether code is in a table beside its last column: names of other packages, which may be the same."""
    while node is not None and not isinstance(node, nodes.entry):
        node = node.parent
    return node is not None and node is not node.parent[-1]


class LinkNamesInCode(SphinxPostTransform):
    """Make links of inline code that is a public name, or a call of one."""

    default_priority = 5

    def run(self):
        """Run on one page."""
        known = names()
        for node in list(self.document.findall(nodes.literal)):
            name = re.sub(r"\(.*\)$", "", node.astext())
            if name not in known or isinstance(node.parent, nodes.reference | addnodes.pending_xref | nodes.title):
                continue
            if self.env.docname.startswith("coming_from/") and _names_others(node):
                continue
            domain = self.env.get_domain("py")
            target = domain.objects.get(known[name])
            if target is None or target.docname == self.env.docname:
                continue
            uri = self.app.builder.get_relative_uri(self.env.docname, target.docname) + f"#{target.node_id}"
            node.replace_self(nodes.reference("", "", node.deepcopy(), refuri=uri, internal=True))


def find_by_last_part(app, env, node, contnode):
    """Resolve a reference to a name without its module."""
    if node.get("refdomain") != "py":
        return None
    full = names().get(node["reftarget"].removeprefix("~"))
    target = env.get_domain("py").objects.get(full)
    if target is None:
        return None
    uri = app.builder.get_relative_uri(node.get("refdoc", env.docname), target.docname) + f"#{target.node_id}"
    return nodes.reference("", "", contnode, refuri=uri, internal=True)


def setup(app):
    """Register both."""
    app.add_post_transform(LinkNamesInCode)
    app.connect("missing-reference", find_by_last_part)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Formulas as MathML, which browsers show by themselves: no script, and nothing to fetch from elsewhere."""

import re

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

_log = logging.getLogger(__name__)


def _mathml(node, as_block):
    if re.search(r"\\[td]?frac\s*\d\d", node.astext()):  # docutils takes 12 of \frac12 for one number
        _log.warning("formula %r: write \\frac{1}{2} for \\frac12", node.astext(), location=node)
    try:
        return latex2mathml.tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        _log.warning("formula %r: %s", node.astext(), error, location=node)
        return ""


def _inline(writer, node):
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block(writer, node):
    writer.body.append(f'<div class="formula">{_mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer, for `html_math_renderer = "mathml"`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

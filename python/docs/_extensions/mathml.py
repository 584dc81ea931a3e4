"""Formulas as MathML, which browsers show by themselves: no script, and nothing to fetch from elsewhere."""

from docutils import nodes
from docutils.utils.math import latex2mathml


def _inline(writer, node):
    writer.body.append(latex2mathml.tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer, node):
    text = node.astext()
    if r"\\" in text and r"\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    formula = latex2mathml.tex2mathml(text, as_block=True)
    writer.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer, for `html_math_renderer = "mathml"`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Signs of docstrings that are not markup here: |x| is an absolute value, and `coef_` an attribute.

reStructuredText would take the first for a substitution and the second, where it is not in backticks, for a link to a target.
"""

from docutils.parsers.rst.states import Inliner


def _as_it_is(inliner, match, line):
    return match.string[: match.end()], [], match.string[match.end() :], []


def setup(app):
    """Take both as they are."""
    Inliner.dispatch = Inliner.dispatch | {"|": _as_it_is, "_": _as_it_is}
    return {"parallel_read_safe": True, "parallel_write_safe": True}

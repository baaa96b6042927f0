"""Formulas as MathML: every current browser draws them itself, without a script, offline and in dark mode."""

import re

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Only bars that are paired by \left and \right are drawn equally high.
OPENING_BAR = re.compile(r"(?<!\\left)(?=\\l[vV]ert)")
CLOSING_BAR = re.compile(r"(?<!\\right)(?=\\r[vV]ert)")


def _mathml(node, as_block):
    formula = CLOSING_BAR.sub(r"\\right", OPENING_BAR.sub(r"\\left", node.astext()))
    try:
        return latex2mathml.tex2mathml(formula, as_block=as_block)
    except (AttributeError, MathError) as error:  # both come of what docutils cannot read
        logger.warning("cannot draw this formula: %s (%s)", formula, error, location=node)
        return node.astext()


def _visit_inline(translator, node):
    translator.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _visit_block(translator, node):
    formula = _mathml(node, as_block=True)
    translator.body.append(f'<div class="formula" tabindex="0">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

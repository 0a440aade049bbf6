"""Render formulas as MathML during the build; browsers show it without scripts or fonts."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from bounds.showing import notebook as mathml

from .text import BREAK


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(page: HTML5Translator, node: nodes.math) -> None:
    page.body.append(mathml.inline(node.astext()))
    raise nodes.SkipNode


def block(page: HTML5Translator, node: nodes.math_block) -> None:
    # formulas wrap at BREAK; a part that is too wide scrolls, also by keyboard
    parts = node.astext().split(BREAK)
    shown = "".join(map(mathml.displayed, parts)) if len(parts) > 1 else mathml.mathml(parts[0])
    page.body.append(f'<div class="formula" tabindex="0">{shown}</div>\n')
    raise nodes.SkipNode

"""HTML for notebooks, with its own style, readable on light and dark pages, and formulas as MathML."""

from __future__ import annotations

from html import escape

from ..errors import DeclarationError
from .latex_reader import LatexReader

STYLE = """\
.fedbounds { color: var(--jp-content-font-color1, var(--vscode-editor-foreground, inherit)); line-height: 1.45;
  max-width: 70rem; overflow-x: auto; }
.fedbounds p, .fedbounds ul { margin: .4em 0; }
.fedbounds .soft, .fedbounds mtext { opacity: .75; }
.fedbounds .name { font-family: var(--jp-code-font-family, ui-monospace, monospace); font-weight: 600; }
.fedbounds .formula { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5em .45em; margin: .7em 0; }
.fedbounds .formula > * { overflow-x: auto; overflow-y: hidden; padding-bottom: .2em; }
.fedbounds .formula mtext { font-size: .8em; }
.fedbounds table { border-collapse: collapse; margin: .4em 0; }
.fedbounds tr { background: none !important; }
.fedbounds th, .fedbounds td { color: inherit; background: none; text-align: left; vertical-align: baseline;
  padding: .15em .7em .15em 0; border: 0; border-bottom: 1px solid rgba(128, 128, 128, .4); }
.fedbounds th { font-weight: 600; }"""
"""The colours are those of the surrounding page: Jupyter's, VS Code's, or inherited."""


def card(*parts: str) -> str:
    """Return a piece of HTML with its style."""
    return f'<div class="fedbounds"><style>{STYLE}</style>{"".join(parts)}</div>'


def formula(latex: str) -> str:
    """Return a formula as inline MathML; LaTeX that cannot be read is shown as code."""
    try:
        return displayed(latex)
    except DeclarationError:
        return f"<code>{escape(latex)}</code>"


# ---- MathML, which all current browsers display ----

FORMS = {
    "group": "<mrow>{}</mrow>",
    "number": "<mn>{}</mn>",
    "letter": "<mi>{}</mi>",
    "upright": '<mi mathvariant="normal">{}</mi>',
    "operator": "<mo>{}</mo>",
    "fence": '<mo stretchy="false">{}</mo>',
    "stretchy": "<mo>{}</mo>",
    "text": "<mtext>{}</mtext>",
    "name": "<mi>{}</mi>",
    "space": '<mspace width="{}"></mspace>',
    "below": "<msub>{}{}</msub>",
    "under": "<munder>{}{}</munder>",
    "above": "<msup>{}{}</msup>",
    "both": "<msubsup>{}{}{}</msubsup>",
    "fraction": "<mfrac>{}{}</mfrac>",
    "sqrt": "<msqrt>{}</msqrt>",
    "root": "<mroot>{}<mrow>{}</mrow></mroot>",
    "named": '<munder class="term">{}{}</munder>',
    "accented": '<mover accent="true">{}<mo>{}</mo></mover>',
}
"""The elements, by the constructs of ``LatexReader``."""
SIGNS = {
    "space": {"quad": "1em", ";": "0.28em", ",": "0.17em"},
    "operator": {"-": "−", "*": "∗"},
    "accented": {"bar": "¯", "hat": "^", "widetilde": "~", "tilde": "~"},
}


def mathml(latex: str) -> str:
    """Return a ``<math>`` element that displays ``latex``; raise ``DeclarationError`` for unknown commands."""
    return f"<math display=block>{LatexReader(latex, _element).row()}</math>"


def displayed(latex: str) -> str:
    """Return a part of a formula, as tall as in a display."""
    return f'<math displaystyle="true">{LatexReader(latex, _element).row()}</math>'


def inline(latex: str) -> str:
    """Return a letter within a line."""
    return f"<math>{LatexReader(latex, _element).row()}</math>"


def _element(kind: str, *parts: str) -> str:
    if kind == "joined":
        return "".join(parts)
    *inside, last = parts
    last = SIGNS.get(kind, {}).get(last, last)
    return FORMS[kind].format(*inside, escape(last) if kind in ("operator", "text", "name") else last)

"""Convert the LaTeX of formulas to presentation MathML, which all current browsers display."""

from __future__ import annotations

from html import escape

from .latex_reader import LatexReader

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

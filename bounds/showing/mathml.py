"""From the LaTeX of the cards to presentation MathML, which every current browser draws without help."""

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
"""The elements by what ``LatexReader`` reads."""
SIGNS = {
    "space": {"quad": "1em", ";": "0.28em", ",": "0.17em"},
    "operator": {"-": "−", "*": "∗"},
    "accented": {"bar": "¯", "hat": "^", "widetilde": "~", "tilde": "~"},
}


def mathml(latex: str) -> str:
    """A ``<math>`` element that shows ``latex``; ``DeclarationError`` for a command that is not known."""
    return f"<math display=block>{LatexReader(latex, _element).row()}</math>"


def displayed(latex: str) -> str:
    """The same for a part of a formula, as tall as in a line of its own."""
    return f'<math displaystyle="true">{LatexReader(latex, _element).row()}</math>'


def inline(latex: str) -> str:
    """The same for a letter within a line."""
    return f"<math>{LatexReader(latex, _element).row()}</math>"


def _element(kind: str, *parts: str) -> str:
    if kind == "joined":
        return "".join(parts)
    *inside, last = parts
    last = SIGNS.get(kind, {}).get(last, last)
    return FORMS[kind].format(*inside, escape(last) if kind in ("operator", "text", "name") else last)

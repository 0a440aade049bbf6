"""From the LaTeX of the cards to presentation MathML, which every current browser draws without help."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .latex_reader import LatexReader

ACCENTS = {"bar": "¯", "hat": "^", "widetilde": "~", "tilde": "~"}
SPACES = {"quad": "1em", ";": "0.28em", ",": "0.17em"}
TYPED = {"-": "−", "*": "∗"}


def mathml(latex: str) -> str:
    """A ``<math>`` element that shows ``latex``; ``DeclarationError`` for a command that is not known."""
    return f"<math display=block>{LatexReader(latex, _MathML()).row()}</math>"


def displayed(latex: str) -> str:
    """The same for a part of a formula, as tall as in a line of its own."""
    return f'<math displaystyle="true">{LatexReader(latex, _MathML()).row()}</math>'


def inline(latex: str) -> str:
    """The same for a letter within a line."""
    return f"<math>{LatexReader(latex, _MathML()).row()}</math>"


class _MathML:
    notation = "MathML"

    def joined(self, parts: Sequence[str]) -> str:
        return "".join(parts)

    def group(self, inside: str) -> str:
        return f"<mrow>{inside}</mrow>"

    def number(self, digits: str) -> str:
        return f"<mn>{digits}</mn>"

    def letter(self, sign: str, upright: bool = False) -> str:
        return f'<mi mathvariant="normal">{sign}</mi>' if upright else f"<mi>{sign}</mi>"

    def operator(self, sign: str) -> str:
        return f"<mo>{escape(TYPED.get(sign, sign))}</mo>"

    def fence(self, sign: str, stretchy: bool) -> str:
        return f"<mo>{sign}</mo>" if stretchy else f'<mo stretchy="false">{sign}</mo>'

    def words(self, said: str, text: bool) -> str:
        tag = "mtext" if text else "mi"
        return f"<{tag}>{escape(said)}</{tag}>"

    def space(self, name: str) -> str:
        return f'<mspace width="{SPACES[name]}"></mspace>'

    def scripted(self, atom: str, below: str, above: str, tall: bool) -> str:
        if below and above:
            return f"<msubsup>{atom}{below}{above}</msubsup>"
        if below:
            return f"<munder>{atom}{below}</munder>" if tall else f"<msub>{atom}{below}</msub>"
        return f"<msup>{atom}{above}</msup>"

    def fraction(self, above: str, below: str) -> str:
        return f"<mfrac>{above}{below}</mfrac>"

    def root(self, inside: str, index: str) -> str:
        return f"<mroot>{inside}<mrow>{index}</mrow></mroot>" if index else f"<msqrt>{inside}</msqrt>"

    def named(self, body: str, name: str) -> str:
        return f'<munder class="term">{body}{name}</munder>'

    def accented(self, body: str, accent: str) -> str:
        return f'<mover accent="true">{body}<mo>{ACCENTS[accent]}</mo></mover>'

"""Print formulas with the quantities' names, with Unicode letters, or in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from ..operators import AxisReduction
from ..quantities import Quantity
from .latex_reader import GREEK
from .unicode_letters import in_unicode, is_sum

HALF = sp.Rational(1, 2)


class _Roots:
    """A printer mixin that prints ``sqrt(a*b/c)`` as one root, which SymPy splits into three."""

    root = "sqrt({})"

    def _print_Mul(self, expr: sp.Mul) -> str:
        roots = [f for f in expr.args if f.is_Pow and abs(f.exp) == HALF]
        if len(roots) < 2:
            return str(super()._print_Mul(expr))  # type: ignore[misc]
        inside = sp.Mul(*(f.base ** (2 * f.exp) for f in roots))
        whole = sp.Dummy(self.root.format(self._print(inside)))  # type: ignore[attr-defined]
        return str(self._print(sp.Mul(*(f for f in expr.args if f not in roots), whole)))  # type: ignore[attr-defined]

    def _print_Dummy(self, expr: sp.Dummy) -> str:
        return str(expr.name)


class _Words(_Roots, StrPrinter):
    def _reduction(self, expr: AxisReduction) -> str:
        return f"{expr.word}[{self._print(expr.args[0])}]"

    _print_ClientMean = _print_ClientSum = _print_ClientMax = _print_ClassSum = _print_ClassMax = _reduction


class _Letters(_Roots, LatexPrinter):
    """Prints LaTeX in the subset that matplotlib's mathtext understands."""

    root = r"\sqrt{{{}}}"

    def __init__(self, letters: Mapping[Quantity, str], **settings: str) -> None:
        super().__init__(settings)
        self.letters = letters

    def _print_Quantity(self, expr: Quantity) -> str:
        letter = self.letters[expr]
        return rf"\left({letter}\right)" if _is_sum(letter) else letter

    def _print_Pow(self, expr: sp.Pow) -> str:
        """Print one exponent for a letter that is a square itself: ``G^2`` cubed is ``G^6``, its root ``G``."""
        base, exponent = expr.args
        head = _squared(self.letters.get(base, "")) if isinstance(base, Quantity) else ""
        if head and exponent.is_Rational and exponent > 0:
            return head if exponent == HALF else f"{head}^{{{self._print(2 * exponent)}}}"
        return str(super()._print_Pow(expr))


def words(expression: sp.Basic) -> str:
    """Return the formula with the quantities' names and ``^`` for powers."""
    return str(_Words({"full_prec": False}).doprint(expression)).replace("**", "^")


def signs(expression: sp.Basic, letters: Mapping[Quantity, str]) -> str:
    """Return the formula in one line of Unicode; ``letters`` are the LaTeX letters of the quantities."""
    held = {q: rf"\left({x}\right)" for q, x in letters.items() if is_sum(in_unicode(x)) and not _is_sum(x)}
    return in_unicode(str(_Letters({**letters, **held}, mul_symbol="dot").doprint(expression)))


def latex(expression: sp.Basic, letters: Mapping[Quantity, str]) -> str:
    """Return the formula in LaTeX, with a letter for every quantity."""
    return str(_Letters(letters).doprint(expression))


def split_sign(term: sp.Expr) -> tuple[str, sp.Expr]:
    """Return ``("-", x)`` for a term ``-x`` with a negative number in front, else ``("+", term)``."""
    return ("-", -term) if term.as_coeff_Mul()[0].is_negative else ("+", term)


def _squared(letter: str) -> str:
    """Return ``G`` for ``G^2``, the letter under a final square, or an empty string."""
    match = re.fullmatch(r"(.+)\^(?:2|\{2\})", letter)
    head = match.group(1) if match else ""
    return "" if _is_sum(head) or re.search(r"\^[^|]*$", head) else head


def _is_sum(letter: str) -> bool:
    """Whether a letter is a sum, such as ``f-f^*``, which needs brackets in a product."""
    bare = re.sub(r"\\\|.*?\\\||\|.*?\||_-", "", letter)
    while bare != (shorter := re.sub(r"\{[^{}]*\}|\([^()]*\)", "", bare)):
        bare = shorter
    return bool(re.search(r"[+-]", bare))


__all__ = ["latex", "signs", "split_sign", "words"]


# ---- words ----

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "–": "--", "×": r"$\times$",
    "<": r"$<$", ">": r"$>$", "∞": r"$\infty$", "≤": r"$\le$", "≥": r"$\ge$", "²": r"$^2$", "|": r"$|$", "[": "{[}",
    "−": r"$-$", "·": r"$\cdot$", "′": "$'$", "→": r"$\to$", "≈": r"$\approx$", "…": r"\dots{}", "√": r"$\surd$",
}  # fmt: skip
"""LaTeX for special characters. A bracket at the start of a row would be an argument of the line break before."""


def escaped(words: str) -> str:
    """Escape plain text for LaTeX, in one line; other characters beyond ASCII are left to the font."""
    known = SPECIAL | {letter: rf"$\{name}$" for letter, name in GREEK.items()}
    return "".join(known.get(letter, letter) for letter in " ".join(words.split()))

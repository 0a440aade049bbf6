"""How formulas print: readable words for the terminal, letters for LaTeX; square roots of products stay together."""

from __future__ import annotations

import re
from collections.abc import Mapping

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from ..quantities import Quantity

HALF = sp.Rational(1, 2)


class _Roots:
    """SymPy splits ``sqrt(a*b/c)`` into three roots; printers with this mixin show one root again."""

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
    def _print_ClientMean(self, expr: sp.Function) -> str:
        return f"E_k[{self._print(expr.args[0])}]"

    def _print_ClientSum(self, expr: sp.Function) -> str:
        return f"sum_k[{self._print(expr.args[0])}]"

    def _print_ClientMax(self, expr: sp.Function) -> str:
        return f"max_k[{self._print(expr.args[0])}]"

    def _print_ClassSum(self, expr: sp.Function) -> str:
        return f"sum_c[{self._print(expr.args[0])}]"

    def _print_ClassMax(self, expr: sp.Function) -> str:
        return f"max_c[{self._print(expr.args[0])}]"


class _Letters(_Roots, LatexPrinter):
    """LaTeX inside the subset that matplotlib's mathtext draws too."""

    root = r"\sqrt{{{}}}"

    def __init__(self, letters: Mapping[Quantity, str]) -> None:
        super().__init__()
        self.letters = letters

    def _print_Quantity(self, expr: Quantity) -> str:
        letter = self.letters[expr]
        return rf"\left({letter}\right)" if _is_sum(letter) else letter

    def _print_Pow(self, expr: sp.Pow) -> str:
        """A letter that is a square itself (``G^2``) keeps one exponent: ``G^2`` cubed is ``G^6``, its root ``G``."""
        base, exponent = expr.args
        head = _squared(self.letters.get(base, "")) if isinstance(base, Quantity) else ""
        if head and exponent.is_Rational and exponent > 0:
            return head if exponent == HALF else f"{head}^{{{self._print(2 * exponent)}}}"
        return str(super()._print_Pow(expr))


def words(expression: sp.Basic) -> str:
    """The formula in the quantities' words, ``^`` for powers, as the terminal card shows it."""
    return str(_Words().doprint(expression)).replace("**", "^")


def latex(expression: sp.Basic, letters: Mapping[Quantity, str]) -> str:
    """The formula in LaTeX with a letter for every quantity."""
    return str(_Letters(letters).doprint(expression))


def split_sign(term: sp.Expr) -> tuple[str, sp.Expr]:
    """``("-", x)`` for a term ``-x`` with a negative number in front, else ``("+", term)``."""
    return ("-", -term) if term.as_coeff_Mul()[0].is_negative else ("+", term)


def _squared(letter: str) -> str:
    """``G`` for ``G^2``: the letter under a final square, or empty."""
    match = re.fullmatch(r"(.+)\^(?:2|\{2\})", letter)
    head = match.group(1) if match else ""
    return "" if _is_sum(head) or re.search(r"\^[^|]*$", head) else head


def _is_sum(letter: str) -> bool:
    """True for letters such as ``f-f^*`` that need brackets inside a product."""
    bare = re.sub(r"\\\|.*?\\\||\|.*?\|", "", letter)
    while bare != (shorter := re.sub(r"\{[^{}]*\}|\([^()]*\)", "", bare)):
        bare = shorter
    return bool(re.search(r"[+-]", bare))


__all__ = ["latex", "split_sign", "words"]


# ---- words ----

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "–": "--", "×": r"$\times$",
    "<": r"$<$", ">": r"$>$", "∞": r"$\infty$", "≤": r"$\le$", "≥": r"$\ge$", "²": r"$^2$", "|": r"$|$", "[": "{[}",
    "−": r"$-$", "·": r"$\cdot$", "′": "$'$", "→": r"$\to$", "≈": r"$\approx$", "…": r"\dots{}", "√": r"$\surd$",
}  # fmt: skip
"""A bracket at the start of a row would be an argument of the line break before it."""


NAMES = """alpha beta gamma delta varepsilon epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma varsigma tau
upsilon varphi phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
GREEK = dict(zip("αβγδεϵζηθικλμνξπρσςτυφϕχψωΓΔΘΛΞΠΣΥΦΨΩ", NAMES.split(), strict=True))


def escaped(words: str) -> str:
    """Plain words for LaTeX, in one line; what is beyond ASCII and has no entry is left to the font."""
    known = SPECIAL | {letter: rf"$\{name}$" for letter, name in GREEK.items()}
    return "".join(known.get(letter, letter) for letter in " ".join(words.split()))

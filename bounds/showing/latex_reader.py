"""Parse the LaTeX that SymPy and the papers' letters produce, for writers of other notations.

Unknown commands are errors.
"""

# SymPy's printers cannot replace this module: they print expressions, but the cards' letters, the names below a
# bound's terms and the documentation's formulas are LaTeX.

from __future__ import annotations

import re
from collections.abc import Callable

from ..errors import DeclarationError

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\S")
NAMES = """alpha beta gamma delta varepsilon epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma varsigma tau
upsilon varphi phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
GREEK = dict(zip("αβγδεϵζηθικλμνξπρσςτυφϕχψωΓΔΘΛΞΠΣΥΦΨΩ", NAMES.split(), strict=True))
LETTERS = {name: sign for sign, name in GREEK.items()} | {"ell": "ℓ", "nabla": "∇", "partial": "∂", "infty": "∞"}
OPERATORS = {
    "leq": "≤", "geq": "≥", "lesssim": "≲", "in": "∈", "cdot": "·", "star": "⋆", "leftrightarrow": "↔", "times": "×",
    "wedge": "∧", "vee": "∨", "neg": "¬", "neq": "≠",
}  # fmt: skip
FENCES = {"langle": "⟨", "rangle": "⟩", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "|": "‖"}
BIG = {"sum": "∑", "prod": "∏"}
SIGNS = {**BIG, **OPERATORS}
FUNCTIONS = ("max", "min", "sup", "log", "exp")
ACCENTS = ("bar", "hat", "widetilde", "tilde")
SPACES = ("quad", ";", ",")
VARIANTS = {
    "mathbb": dict(zip("CEHNPQRZ", "ℂ𝔼ℍℕℙℚℝℤ", strict=True)),
    "mathcal": dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵", strict=True)),
}
PRIME = "′"


class LatexReader:
    """A recursive-descent parser; every method stops after what it has read.

    ``write`` makes text of each construct, given its kind and parts: ``joined`` (atoms in a row), ``group`` (the
    contents of braces), ``number``, ``letter``, ``upright``, ``operator``, ``fence`` and ``stretchy`` (a bracket or
    bar, empty for the invisible one), ``text`` and ``name`` (words), ``space``, an atom with something ``below``,
    ``under`` or ``above`` it or ``both``, ``fraction``, ``sqrt``, ``root``, ``named`` (over its name), ``accented``.
    """

    def __init__(self, latex: str, write: Callable[..., str]) -> None:
        self.latex, self.write = latex, write
        self.tokens = [(t.group(), t.start()) for t in TOKEN.finditer(latex)]
        self.at = 0

    def row(self, end: str = "") -> str:
        """Read everything up to and including ``end``."""
        parts: list[str] = []
        while self.at < len(self.tokens):
            if self._peek() == end:
                self.at += 1
                return self.write("joined", *parts)
            parts.append(self._scripted())
        if end:
            raise DeclarationError(f"{end} is missing in the LaTeX {self.latex}")
        return self.write("joined", *parts)

    def _peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self.at += 1
        return token

    def _scripted(self) -> str:
        """Read one atom with its subscript and superscript."""
        tall = self._peek() in (r"\sum", r"\prod", r"\max", r"\min")
        atom = self._atom()
        scripts: dict[str, str] = {}
        while self._peek() in ("_", "^", "'"):
            mark = self._take()
            scripts["^" if mark == "'" else mark] = self.write("operator", PRIME) if mark == "'" else self._group()
        if len(scripts) == 2:
            return self.write("both", atom, scripts["_"], scripts["^"])
        if "_" in scripts:
            return self.write("under" if tall else "below", atom, scripts["_"])
        return self.write("above", atom, scripts["^"]) if scripts else atom

    def _group(self) -> str:
        """Read the argument of a command: a group in braces, or one atom."""
        if self._peek() != "{":
            return self._atom()
        self.at += 1
        return self.write("group", self.row("}"))

    def _atom(self) -> str:
        token = self._take()
        if token.startswith("\\"):
            return self._command(token[1:])
        if token == "{":
            return self.write("group", self.row("}"))
        if token[:1].isdigit():
            return self.write("number", token)
        if token.isalpha():
            return self.write("letter", token)
        if token and token in "()[]|":
            return self.write("fence", token)
        if token and token in "+-*/=<>,:;!":
            return self.write("operator", token)
        raise self._refused(token)

    def _command(self, name: str) -> str:
        if name in LETTERS:
            return self.write("letter", LETTERS[name])
        if name in FENCES:
            return self.write("fence", FENCES[name])
        if name in SIGNS:
            return self.write("operator", SIGNS[name])
        if name in FUNCTIONS:
            return self.write("name", name)
        if name in SPACES:
            return self.write("space", name)
        if name == "frac":
            return self.write("fraction", self._group(), self._group())
        if name == "sqrt":
            return self._root()
        if name == "left":
            opening = self._fence()
            return self.write("group", self.write("joined", opening, self.row(r"\right"), self._fence()))
        if name == "underset":
            below = self._group()
            return self.write("named", self._group(), below)
        if name in ACCENTS:
            return self.write("accented", self._group(), name)
        if name in ("text", "mathrm", "operatorname", *VARIANTS):
            return self._words(name)
        raise self._refused(f"\\{name}")

    def _root(self) -> str:
        if self._peek() != "[":
            return self.write("sqrt", self._group())
        self.at += 1
        index = self.row("]")
        return self.write("root", self._group(), index)

    def _fence(self) -> str:
        token = self._take()
        sign = FENCES.get(token[1:], token[1:]) if token.startswith("\\") else token
        return self.write("stretchy", "" if sign == "." else sign)

    def _words(self, name: str) -> str:
        """Read a group of plain letters, with its spaces."""
        if self._take() != "{":
            raise self._refused(f"\\{name}")
        start = self.tokens[self.at - 1][1] + 1
        while self._take() != "}":
            if self.at > len(self.tokens):
                raise self._refused(f"\\{name}")
        letters = self.latex[start : self.tokens[self.at - 1][1]]
        if name not in VARIANTS:
            return self.write("text" if name == "text" else "name", letters)
        if letters not in VARIANTS[name]:
            raise self._refused(f"\\{name}{{{letters}}}")
        return self.write("upright", VARIANTS[name][letters])

    def _refused(self, what: str) -> DeclarationError:
        return DeclarationError(f"{what} is not known, in the LaTeX {self.latex}")

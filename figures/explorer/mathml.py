"""From the LaTeX of the cards to presentation MathML, which every current browser draws without help.

Only what SymPy and the papers' letters print is understood; any other command is refused when the page is built.
"""

# SymPy's MathMLPresentationPrinter is no way around these 170 lines: it prints expressions, and the cards' letters, the
# words below a bound's terms and the documentation's formulas are LaTeX. A subclass for the page's formulas alone would
# come on top of them, since the letters within would still be read here.

from __future__ import annotations

import re
from html import escape

from bounds.errors import DeclarationError

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\S")
GREEK = {
    "alpha": "α", "beta": "β", "delta": "δ", "epsilon": "ϵ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ",
    "mu": "μ", "sigma": "σ", "tau": "τ", "phi": "ϕ", "omega": "ω", "gamma": "γ", "rho": "ρ", "pi": "π", "xi": "ξ",
    "zeta": "ζ", "nu": "ν", "chi": "χ", "psi": "ψ", "varepsilon": "ε", "varphi": "φ", "ell": "ℓ",
    "Gamma": "Γ", "Delta": "Δ", "Phi": "Φ", "Xi": "Ξ", "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Omega": "Ω",
    "Psi": "Ψ", "nabla": "∇", "partial": "∂", "infty": "∞",
}  # fmt: skip
OPERATORS = {
    "leq": "≤", "geq": "≥", "lesssim": "≲", "in": "∈", "cdot": "·", "star": "⋆", "leftrightarrow": "↔", "times": "×",
    "wedge": "∧", "vee": "∨", "neg": "¬", "neq": "≠",
}  # fmt: skip
FENCES = {"langle": "⟨", "rangle": "⟩", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "|": "‖"}
BIG = {"sum": "∑", "prod": "∏"}
SIGNS = {**BIG, **OPERATORS}
FUNCTIONS = ("max", "min", "sup", "log", "exp")
ACCENTS = {"bar": "¯", "hat": "^", "widetilde": "~", "tilde": "~"}
SPACES = {"quad": "1em", ";": "0.28em", ",": "0.17em"}
VARIANTS = {
    "mathbb": dict(zip("CEHNPQRZ", "ℂ𝔼ℍℕℙℚℝℤ", strict=True)),
    "mathcal": dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵", strict=True)),
}
ASCII = {"-": "−", "*": "∗", "'": "′"}


def mathml(latex: str) -> str:
    """A ``<math>`` element that shows ``latex``."""
    return f"<math display=block>{_Reader(latex).row('')}</math>"


def inline(latex: str) -> str:
    """The same for a letter within a line."""
    return f"<math>{_Reader(latex).row('')}</math>"


class _Reader:
    """Reads tokens from left to right; every method leaves off behind what it has read."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = [(t.group(), t.start()) for t in TOKEN.finditer(latex)]
        self.at = 0

    def row(self, end: str) -> str:
        """Everything up to ``end``, which is read as well."""
        parts: list[str] = []
        while self.at < len(self.tokens):
            if self._peek() == end:
                self.at += 1
                return "".join(parts)
            parts.append(self._scripted())
        if end:
            raise DeclarationError(f"no MathML for LaTeX that lacks {end}: {self.latex}")
        return "".join(parts)

    def _peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self.at += 1
        return token

    def _scripted(self) -> str:
        """One atom with what stands below and above it."""
        tall = self._peek() in (r"\sum", r"\prod", r"\max", r"\min")
        atom = self._atom()
        scripts: dict[str, str] = {}
        while self._peek() in ("_", "^", "'"):
            mark = self._take()
            scripts["^" if mark == "'" else mark] = "<mo>′</mo>" if mark == "'" else self._group()
        below, above = scripts.get("_"), scripts.get("^")
        if below and above:
            return f"<msubsup>{atom}{below}{above}</msubsup>"
        if below:
            return f"<munder>{atom}{below}</munder>" if tall else f"<msub>{atom}{below}</msub>"
        return f"<msup>{atom}{above}</msup>" if above else atom

    def _group(self) -> str:
        """The argument of a command: a group in braces, or one atom."""
        if self._peek() != "{":
            return self._atom()
        self.at += 1
        return f"<mrow>{self.row('}')}</mrow>"

    def _atom(self) -> str:
        token = self._take()
        if token.startswith("\\"):
            return self._command(token[1:])
        if token == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token in "()[]|":
            return f'<mo stretchy="false">{token}</mo>'
        if token in "+-*/=<>,:;!":
            return f"<mo>{escape(ASCII.get(token, token))}</mo>"
        raise self._refused(token)

    def _command(self, name: str) -> str:
        if name in GREEK:
            return f"<mi>{GREEK[name]}</mi>"
        if name in FENCES:
            return f'<mo stretchy="false">{FENCES[name]}</mo>'
        if name in SIGNS:
            return f"<mo>{SIGNS[name]}</mo>"
        if name in FUNCTIONS:
            return f"<mi>{name}</mi>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"></mspace>'
        if name == "frac":
            return f"<mfrac>{self._group()}{self._group()}</mfrac>"
        if name == "sqrt":
            return self._root()
        if name == "left":
            return self._fenced()
        if name == "underset":
            below = self._group()
            return f'<munder class="term">{self._group()}{below}</munder>'
        if name in ACCENTS:
            return f'<mover accent="true">{self._group()}<mo>{ACCENTS[name]}</mo></mover>'
        if name in ("text", "mathrm", "operatorname", *VARIANTS):
            return self._words(name)
        raise self._refused(f"\\{name}")

    def _root(self) -> str:
        if self._peek() != "[":
            return f"<msqrt>{self._group()}</msqrt>"
        self.at += 1
        index = self.row("]")
        return f"<mroot>{self._group()}<mrow>{index}</mrow></mroot>"

    def _fenced(self) -> str:
        opening = self._fence()
        inside = self.row(r"\right")
        return f"<mrow>{opening}{inside}{self._fence()}</mrow>"

    def _fence(self) -> str:
        token = self._take().removeprefix("\\")
        return f"<mo>{FENCES.get(token, token) if token != '.' else ''}</mo>"

    def _words(self, name: str) -> str:
        """A group of plain letters, with its spaces."""
        if self._take() != "{":
            raise self._refused(f"\\{name}")
        start = self.tokens[self.at - 1][1] + 1
        while self._take() != "}":
            if self.at > len(self.tokens):
                raise self._refused(f"\\{name}")
        said = self.latex[start : self.tokens[self.at - 1][1]]
        if name in VARIANTS:
            if said not in VARIANTS[name]:
                raise self._refused(f"\\{name}{{{said}}}")
            return f'<mi mathvariant="normal">{VARIANTS[name][said]}</mi>'
        tag = "mtext" if name == "text" else "mi"
        return f"<{tag}>{escape(said)}</{tag}>"

    def _refused(self, what: str) -> DeclarationError:
        return DeclarationError(f"there is no MathML for {what}, in {self.latex}")

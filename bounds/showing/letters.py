"""From the LaTeX of the cards to one line of Unicode letters, as a terminal can show them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..errors import DeclarationError
from .latex_reader import BIG, LatexReader, PRIME

RAISED = str.maketrans(
    "0123456789+-()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδϕχ",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᵠᵡ",
)
LOWERED = str.maketrans("0123456789+-()aehijklmnoprstuvxβγρϕχ", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ")
ACCENTS = {"bar": "\u0304", "hat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303"}
SPACED = "+-=<>≤≥≲∈↔∧∨≠×"
SPACE_INSIDE = re.compile(r"(?<=[‖|]) (?=[-∑∏])|(?<=[(\[{]) | (?=[)\]},;^_])")
WORD = re.compile(r"[^\W\d_]{2}")
SPACES = re.compile(r"\s+")


@lru_cache(maxsize=1024)
def in_unicode(latex: str) -> str:
    r"""One line: ``\mathbb{E}\|\nabla F\|^2`` is ``𝔼‖∇F‖²``; LaTeX that cannot be read stays as it is."""
    try:
        return LatexReader(latex, _Line()).row().strip()
    except DeclarationError:
        return latex


def raised(text: str, around: str = "{}") -> str:
    """``text`` as an exponent: small signs where there are all, else behind a ``^``, in brackets of the kind given."""
    if text in ("∗", "⋆", PRIME):
        return text
    return text.translate(RAISED) if _all_small(text, RAISED) else f"^{_held(text, around)}"


def lowered(text: str) -> str:
    """``text`` as an index: small signs where there are all, else behind a ``_``."""
    return text.translate(LOWERED) if _all_small(text, LOWERED) else f"_{_held(text)}"


def _all_small(text: str, table: dict[int, int]) -> bool:
    """A word stays in letters that can be read."""
    return all(ord(sign) in table for sign in text) and not WORD.search(text)


def _held(text: str, around: str = "{}") -> str:
    """In brackets unless it is a word or one sign."""
    return text if len(text) == 1 or (text.isascii() and text.isalnum()) else f"{around[0]}{text}{around[1]}"


class _Line:
    notation = "Unicode"

    def joined(self, parts: Sequence[str]) -> str:
        return SPACE_INSIDE.sub("", SPACES.sub(" ", "".join(parts)))

    def group(self, inside: str) -> str:
        return inside

    def number(self, digits: str) -> str:
        return digits

    def letter(self, sign: str, upright: bool = False) -> str:
        return sign

    def operator(self, sign: str) -> str:
        sign = sign.replace("*", "∗")
        return f" {sign} " if sign in SPACED or sign in BIG.values() else f"{sign} " if sign in ",;" else sign

    def fence(self, sign: str, stretchy: bool) -> str:
        return sign

    def words(self, said: str, text: bool) -> str:
        return f" {said} " if text or said in ("max", "min", "sup") else said

    def space(self, name: str) -> str:
        return " "

    def scripted(self, atom: str, below: str, above: str, tall: bool) -> str:
        small = lowered(_tight(below)) if below else ""
        high = raised(_tight(above)) if above else ""
        space = " " if atom.endswith(" ") else ""
        return f"{atom.rstrip()}{small}{high}{space}"

    def fraction(self, above: str, below: str) -> str:
        return f" {_factor(above)}/{_factor(below)} "

    def root(self, inside: str, index: str) -> str:
        return f"({inside})^(1/{index})" if index else f"√({inside.strip()})"

    def named(self, body: str, name: str) -> str:
        return body

    def accented(self, body: str, accent: str) -> str:
        return f"{body}{ACCENTS[accent]}" if len(body) == 1 else f"{accent}({body})"


def _tight(text: str) -> str:
    return text.replace(" ", "")


def _factor(text: str) -> str:
    """In brackets unless it is one number or letter with what stands at it."""
    text = text.strip()
    return text if re.fullmatch(r"\d+|\w[\u0300-\u036f]?[^\w\s/]*", text) else f"({text})"

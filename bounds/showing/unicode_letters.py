"""Convert the LaTeX of letters to one line of Unicode."""

from __future__ import annotations

import re
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
SPACE_INSIDE = re.compile(
    r"(?<=[‖|]) (?=[-∑∏])|(?<=[(\[{⌈·]) |(?<=[(\[{⌈‖|,] -) |(?<=^ -) |(?<=max|min) (?=\()| (?=[)\]},;^_⌉·\[])"
)
"""Spaces after an opening bracket, a sign or a function, and before a closing one."""
INSIDE = re.compile(r"‖[^‖]*‖|\|[^|]*\||\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|⟨[^⟨⟩]*⟩|⌈[^⌈⌉]*⌉")
"""The contents of the innermost brackets or bars."""
SMALL = "".join(map(chr, {*RAISED.values(), *LOWERED.values()}))
FACTOR = re.compile(rf"(\d+|√|\w[\u0300-\u036f]?(_\w+)?[{SMALL}∗⋆{PRIME}]*)?\^?")
"""A number, a root or a letter with its indices; with the contents of its brackets, one factor."""
WORD = re.compile(r"[^\W\d_]{2}")
SPACES = re.compile(r"\s+")


@lru_cache(maxsize=1024)
def in_unicode(latex: str) -> str:
    r"""Return one line of Unicode: ``\mathbb{E}\|\nabla F\|^2`` is ``𝔼‖∇F‖²``. Unreadable LaTeX is unchanged."""
    try:
        return LatexReader(latex, _written).row().strip()
    except DeclarationError:
        return latex


def _raised(text: str) -> str:
    """Return ``text`` as an exponent: superscripts if all exist, else after a ``^``."""
    if text in ("∗", "⋆", PRIME):
        return text
    return text.translate(RAISED) if _all_small(text, RAISED) else f"^{_held(text, '()')}"


def _lowered(text: str) -> str:
    """Return ``text`` as an index: subscripts if all exist, else after a ``_``."""
    return text.translate(LOWERED) if _all_small(text, LOWERED) else f"_{_held(text, '{}')}"


def _all_small(text: str, table: dict[int, int]) -> bool:
    """Whether all signs have small forms and form no word, which would be hard to read."""
    return all(ord(sign) in table for sign in text) and not WORD.search(text)


def _held(text: str, around: str) -> str:
    """Return the text in brackets, unless it is a word or one sign."""
    return text if len(text) == 1 or (text.isascii() and text.isalnum()) else f"{around[0]}{text}{around[1]}"


def _written(kind: str, *parts: str) -> str:
    """Return the text of a construct that ``LatexReader`` reads."""
    first, *more = parts or ("",)
    match kind:
        case "joined":
            return SPACE_INSIDE.sub("", SPACES.sub(" ", "".join(parts)))
        case "operator":
            sign = first.replace("*", "∗")
            return f" {sign} " if sign in SPACED or sign in BIG.values() else f"{sign} " if sign in ",;" else sign
        case "text":
            return f" {first} "
        case "name":
            return f" {first} " if first in ("max", "min", "sup") else first
        case "space":
            return " "
        case "below" | "under" | "above" | "both":
            small = "" if kind == "above" else _lowered(_tight(more[0]))
            high = _raised(_tight(more[-1])) if kind in ("above", "both") else ""
            return f"{first.rstrip()}{small}{high}{' ' if first.endswith(' ') else ''}"
        case "fraction":
            above = first.strip()
            return f" {f'({above})' if is_sum(above) else above}/{_factor(more[0])} "
        case "sqrt":
            return f"√({first.strip()})"
        case "root":
            return f"{_factor(first)}^(1/{more[0]})"
        case "accented":
            return f"{first}{ACCENTS[more[0]]}" if len(first) == 1 else f"{more[0]}({first})"
        case _:
            return first


def _tight(text: str) -> str:
    return text.replace(" ", "")


def _factor(text: str) -> str:
    """Return a divisor or the base of a power in brackets, unless it is one factor."""
    text = text.strip()
    return text if FACTOR.fullmatch(_outside(text)) else f"({text})"


def is_sum(text: str) -> bool:
    """Whether a formula needs brackets as a factor: it is a sum or a fraction."""
    return bool({" ", "/"} & {*_outside(text)})


def _outside(text: str) -> str:
    """Return a formula without the contents of its brackets."""
    while text != (shorter := INSIDE.sub("", text)):
        text = shorter
    return text

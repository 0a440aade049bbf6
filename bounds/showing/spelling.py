"""Signs for terminals that know no others than ASCII: every letter and sign of a formula spelled out."""

from __future__ import annotations

import re
import sys
import unicodedata
from itertools import groupby

PLAIN = {
    "±": "+/-", "≤": "<=", "≥": ">=", "≲": "<~", "≠": "!=", "≈": "~", "×": "x", "·": "*", "∗": "*", "⋆": "*",
    "−": "-", "–": "-", "—": "-", "…": "...", "√": "sqrt", "∑": "sum", "∏": "prod", "∂": "d", "∇": "grad ", "∞": "inf",
    "∈": " in ", "∧": " and ", "∨": " or ", "¬": "not ", "↔": "<->", "→": "->", "′": "'", "‖": "||", "⟨": "<", "⟩": ">",
    "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")", "ℓ": "ell", "\u0304": "bar", "\u0302": "hat", "\u0303": "tilde",
    "λ": "lambda", "Λ": "Lambda",
    **dict.fromkeys("▁▂▃▄▅▆▇█", "."),
}  # fmt: skip
GREEK_NAME = re.compile(r"GREEK (?:SMALL |CAPITAL )?(?:LETTER )?(?:FINAL |LUNATE )?([A-Z]+)(?: SYMBOL)?")
MARKS = {"<super>": "^", "<sub>": "_"}


def speaks_unicode() -> bool:
    """Whether standard output can say every letter."""
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")


def spelled(text: str) -> str:
    """``text`` in ASCII: ``β²·x̄`` is ``beta^2*xbar``; a sign without a spelling is its number."""
    parts: list[str] = []
    for mark, signs in groupby(text, _mark):
        names = [_one(sign) for sign in signs]
        if mark:
            names = [mark, _held("".join(names))]
        for name in names:
            apart = name.isalpha() and parts and _meet(parts[-1], name)
            parts.append(f" {name}" if apart else name)
    return "".join(parts)


def _mark(sign: str) -> str:
    """What goes before signs that are raised or lowered."""
    return MARKS.get(unicodedata.decomposition(sign).partition(" ")[0], "")


def _held(script: str) -> str:
    return script if script.isalnum() or script[0] == "(" else f"{{{script}}}"


def _one(sign: str) -> str:
    kind, _, number = unicodedata.decomposition(sign).rpartition(" ")
    if sign not in PLAIN and kind in ("<super>", "<sub>", "<font>"):
        sign = chr(int(number, 16))
    if sign.isascii() or sign in PLAIN:
        return PLAIN.get(sign, sign)
    if greek := GREEK_NAME.fullmatch(unicodedata.name(sign, "")):
        return greek[1].lower() if sign.islower() else greek[1].capitalize()
    return sign.encode("ascii", "backslashreplace").decode()


def _meet(before: str, after: str) -> bool:
    """Whether a name would run into another letter."""
    return (
        before[-1:].isalpha() and (len(before.strip()) > 1 or len(after) > 1) and after not in ("bar", "hat", "tilde")
    )

"""Typeset sentences with plain-text formulas, such as ``60 beta^2 <= N (1 - 72 beta^2)``, in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .latex_reader import GREEK
from .printing import escaped

NAMES = {
    **{name: rf"\{name}" for name in (*GREEK.values(), "exp", "inf", "ln", "log", "max", "min", "sum")},
    "ClientMean": r"\mathbb{E}_k", "ClientSum": r"\sum_k", "ClientMax": r"\max_k",
    "E": r"\mathbb{E}", "grad": r"\nabla", "sqrt": r"\sqrt", "oo": r"\infty",
}  # fmt: skip
ALONE = {*GREEK.values(), "grad", "oo"}
"""Names that are part of a formula even without signs around them."""
SIGNS = {
    "<=": r"\le ", ">=": r"\ge ", "<<": r"\ll ", ">>": r"\gg ", "->": r"\to ", "..": r"\dots ", "||": r"\|",
    "*": r"\cdot ", "+-": r"\pm ", "%": r"\%", "≤": r"\le ", "≥": r"\ge ", "·": r"\cdot ", "∗": "*",
    "{": r"\{", "}": r"\}",
}  # fmt: skip
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?"
NAME = r"(?<!\\)[A-Za-z]+(?:_[A-Za-z0-9]+)*|[α-ωΑ-Ω]"
PART = re.compile(rf"{NUMBER}|{NAME}|<=|>=|->|\.\.|[-+*/^_=<>(){{}}\[\],|%≤≥·]")
END = re.compile(r"[.,;:?]*$")
BEFORE_WORD = re.compile(r"([A-Z](?:_[a-z0-9])?|mu)(?=-[a-z]{4}|'s\b)")
"""``L`` of ``L-smooth``, ``mu`` of ``mu-strongly``, ``K`` of ``K's``."""
INSIDE = r"((?:[^()]|\([^()]*\))*)"
GROUPS = (
    (re.compile(r"([\^_])\{([^{}]*)\}"), r"\1⟦\2⟧"),
    (re.compile(rf"([\^_])\({INSIDE}\)"), r"\1⟦\2⟧"),
    (re.compile(r"([\^_])\*"), r"\1⟦∗⟧"),
    (re.compile(r"(\^)(-?\w+)"), r"\1⟦\2⟧"),
    (re.compile(rf"(sqrt)\({INSIDE}\)"), r"\1⟦\2⟧"),
    (re.compile(r"(?<=\w)\*(?=\s*(?:[-+=<>),]|$))"), "^⟦∗⟧"),
)
"""Superscripts, subscripts and roots, put between brackets that no formula has; the last one is the star of ``K*``."""


def typeset(text: str, letters: Mapping[str, str] | None = None) -> str:
    """Return the sentence with its formulas between dollar signs; ``letters`` has the LaTeX of names.

    Text that cannot be read as a formula is escaped.

    >>> typeset("It holds while 60 beta^2 <= N (1 - 72 beta^2), and fails at K = 5.")
    'It holds while $60 \\\\beta^{2} \\\\le N (1 - 72 \\\\beta^{2})$, and fails at $K = 5$.'
    """
    known, done, run = letters or {}, [""][:0], [""][:0]
    words = text.split()
    for before, word, following in zip(["", *words], words, [*words[1:], ""], strict=False):
        related = following in ("=", "<", ">", "<=", ">=")
        if before == "Appendix" or not _is_formula(word, known, related):
            done += [*_closed(run, known), _word(word)]
            run = []
            continue
        run.append(word)
        ends = END.search(word)[0] or (word in known and following[:1].isdigit())  # type: ignore[index]
        if ends and _depth(" ".join(run)) <= 0:
            done += _closed(run, known)
            run = []
    return " ".join([*done, *_closed(run, known)])


def _word(word: str) -> str:
    """Return a word with a leading letter and powers of units typeset; long names may be broken."""
    head = BEFORE_WORD.match(word)
    letter = f"${_name(head[1], {})}$" if head else ""
    rest = re.sub(r"\\textasciicircum\{\}(\d+)", r"$^{\1}$", escaped(word[len(head[1]) if head else 0 :]))
    return letter + rest.replace(r"\_", r"\_\allowbreak{}").replace("$<$=", r"$\le$").replace("$>$=", r"$\ge$")


def _depth(text: str) -> int:
    return sum(text.count(sign) for sign in "([{") - sum(text.count(sign) for sign in ")]}")


def _is_formula(word: str, letters: Mapping[str, str], related: bool) -> bool:
    """Whether a word is part of a formula; ``related`` if an equals sign or the like follows."""
    bare = END.sub("", word)
    parts = PART.findall(bare)
    if "".join(parts) != bare or not parts or re.search(r"^\(\d+\)$|[A-Za-z]\d", bare):  # (9), v2
        return False
    return all(not re.match(NAME, p) or _name(p, letters, len(parts) > 1 or related) for p in parts)


def _name(name: str, letters: Mapping[str, str], joined: bool = True) -> str:
    """Return the LaTeX of a name, or an empty string for a word; ``joined`` if signs stand around it."""
    head, _, index = name.partition("_")
    if name in letters and (joined or index):
        return letters[name]
    if index:
        low = re.sub(r"[A-Za-z]+", lambda m: f"{NAMES.get(m[0], m[0])} ", index.replace("_", ","))
        return f"{NAMES.get(head, head)}_{{{low.strip()}}}" if len(head) == 1 or head in NAMES else ""
    if name in NAMES:
        return NAMES[name] if joined or name in ALONE else ""
    if len(name) == 1:
        return rf"\{GREEK[name]}" if name in GREEK else name if joined or name not in "aAIs" else ""
    return " ".join(name) if joined and re.fullmatch(r"[a-z]?[A-Z]{1,4}", name) else ""


def _closed(run: list[str], letters: Mapping[str, str]) -> list[str]:
    """Return a run of words as a formula; signs alone and bare numbers stay words."""
    text = END.sub("", " ".join(run))
    end = " ".join(run)[len(text) :]
    before, after = "(" * (text[:1] == "(" and _depth(text) > 0), ")" * (text[-1:] == ")" and _depth(text) < 0)
    text = text[len(before) : len(text) - len(after)]
    if not re.search(rf"^[+]?-\d|{NAME}|\^|\d [=<>]", re.sub(NUMBER, "0", text)):
        return [_word(word) for word in run]
    text = text.replace("**", "^")
    for pattern, group in GROUPS:
        while (changed := pattern.sub(group, text)) != text:
            text = changed
    if _depth(text) or re.search(r"\^⟦[^⟧]*⟧\^|\^(?!⟦)", text):
        return [_word(word) for word in run]
    return [f"{before}${_latex(text, letters)}${after}{end}"]


def _latex(text: str, letters: Mapping[str, str]) -> str:
    text = re.sub(r"(\d)e\+?(-?)0*(\d+)", r"\1*10^⟦\2\3⟧", text)

    def named(found: re.Match[str]) -> str:
        letter = _name(found[0], letters)
        raised = "^" in letter and text[found.end() : found.end() + 1] == "^"
        return rf"\left({letter}\right)" if raised else f"{letter} "

    signs = "|".join(map(re.escape, SIGNS))
    text = re.sub(rf"({NAME})|({signs})", lambda m: named(m) if m[1] else SIGNS[m[2]], text)
    text = text.replace("⟦", "{").replace("⟧", "}")
    return re.sub(r" +(?=[ )}\],^_/])|(?<=[(\[{/]) +", "", text).strip()

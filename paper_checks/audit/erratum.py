"""A short LaTeX note of what a paper prints, why it fails, and the corrected statement with what supports it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bounds.core import Bound
from bounds.papers import PAPERS
from bounds.showing import printing
from bounds.showing.cards import displayed, letters_of
from bounds.showing.printing import escaped
from bounds.showing.prose import typeset

from ..claims.claim import Claim, Kind
from ..claims.review import NAMED
from .records import brief
from .running import Verdict, Word

HEAD = r"""\documentclass{article}
\usepackage{amsmath, amssymb}
\usepackage[a4paper, margin=2.3cm]{geometry}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{3pt plus 1pt}
\setlength{\emergencystretch}{4em}
"""
STATEMENTS = (Kind.THEOREM, Kind.ASSUMPTION, Kind.DEFINITION, Kind.ALGORITHM)
"""What a reader builds upon: its correction stands in the note even where words say it and no bound does."""
OURS = re.compile(r"\b(derived|repaired|replaced|sharpened|counted|assembled|without|quantities|with the sign)\b")
"""Words by which the place of a bound says that the paper does not print it there."""
REBUILT = re.compile(r"[^.]*\b(?:rebuilt|damaged|uncertain|read as)\b.*?(?:\.(?=\s|$)|$)")
"""The sentences of a note that say how an unclear print was read."""
EQUATION = re.compile(r"\(\d+\)")
NAME = re.compile(r"\b(?:Theorem|Lemma|Corollary|Remark|Assumption|Algorithm|Proposition) [A-Z]?[\d.]*\d")


def belongs(claim: Claim, book: Mapping[str, Bound]) -> bool:
    """Whether the correction of a claim, if it is found to hold, is one for the note."""
    if claim.repair is None:
        return False
    return claim.repair.bound in book or (claim.passage.kind in STATEMENTS and not claim.ours)


def erratum(
    verdicts: Sequence[Verdict],
    book: Mapping[str, Bound],
    again: Mapping[str, str],
    sentences: Mapping[str, str] | None = None,
) -> str:
    """The note: the claims that belong in it and whose correction was found to hold.

    ``again`` has the argument of ``fedbounds check`` for claims without a name in the catalogue, ``sentences`` those of
    a review that replace the evidence of a claim.
    """
    mended = [v for v in verdicts if v.word is Word.REPAIRED]
    papers = list(dict.fromkeys(v.claim.paper for v in mended))
    titles = [f"{PAPERS[p].title} ({', '.join(PAPERS[p].authors)})" if p in PAPERS else p for p in papers]
    lines = [rf"\title{{Corrections to: {escaped('; '.join(titles))}}}", r"\date{}", r"\begin{document}", r"\maketitle"]
    if mended:
        lines.append("Formulas are in the letters of the paper; sums are written out, each term with its name.")
    else:
        lines.append("No statement that fails has a correction.")
    unclear = {v.claim.passage.place: v.claim.damaged for v in verdicts if v.claim.damaged}
    for number, verdict in enumerate(mended, start=1):
        name = verdict.claim.name
        said = NAMED.sub("", (sentences or {}).get(name, "")).replace(" .", ".")
        lines += ["", *_entry(number, verdict, book, unclear, again.get(name, name), said)]
    return HEAD + "\n".join([*lines, r"\end{document}"]) + "\n"


def _entry(
    number: int, verdict: Verdict, book: Mapping[str, Bound], unclear: Mapping[str, str], again: str, said: str
) -> list[str]:
    claim, repair, held = verdict.claim, verdict.claim.repair, verdict.repair
    assert repair is not None
    assert held is not None  # REPAIRED
    corrected = book.get(repair.bound)
    own = [bound for bound in book.values() if bound.source.paper == claim.paper]
    about = [b for b in own if b.name in verdict.bounds and b is not corrected and _speaks_of(claim, b)]
    places = [bound.source for bound in (*about, *([corrected] if corrected else []))]
    alike = {place for place in places if places.count(place) > 1}
    letters = {q.name: letter for bound in own for q, letter in letters_of(bound).items()}
    found = said or brief(verdict.finding.evidence, verdict.finding.witness)
    defect = f" ({claim.defect})" if claim.defect else ""
    whose = "A statement of ours" if claim.ours else "Stated"
    lines = [rf"\subsection*{{{number}. {typeset(_sentence(claim.passage.place))}{defect}}}"]
    lines += [rf"\emph{{{whose}.}} {typeset(claim.words, letters)}", ""]
    for bound in about:
        lines += [*_displayed(_label(bound, own, unclear), bound, bound.source in alike), ""]
    lines += [rf"\emph{{Found.}} {typeset(_sentence(found), letters)}", ""]
    if corrected:
        lines += _displayed(("Corrected", typeset(repair.words, letters)), corrected, corrected.source in alike)
        lines += [rf"\emph{{If}} {'; '.join(_conditions(corrected))}."] if corrected.conditions else []
    else:
        lines.append(rf"\emph{{Corrected.}} {typeset(_sentence(repair.words), letters)}.")
    support = typeset(_sentence(brief(held.evidence, held.witness)), letters)
    command = escaped(again).replace(r"\_", r"\_\allowbreak{}").replace(".", r".\allowbreak{}")
    return [*lines, "", rf"\emph{{Support ({held.grade}).}} {support} \texttt{{fedbounds check {command}}}"]


def _sentence(text: str) -> str:
    """With a capital, unless it begins with a formula."""
    first = text.split()[0]
    return text[0].upper() + text[1:] if typeset(first) == first and (len(first) > 1 or first == "a") else text


def _speaks_of(claim: Claim, bound: Bound) -> bool:
    """Whether the claim names the place of the formula."""
    if bound.source.version and claim.passage.version and bound.source.version != claim.passage.version:
        return False
    place = bound.source.place
    return _same(place, claim.passage.place) or (is_printed(bound) and _same(place, claim.words))


def is_printed(bound: Bound) -> bool:
    """Whether a paper prints the formula, as its place and its note have it."""
    return not (OURS.search(bound.source.place) or bound.note.startswith("Derived"))


def _label(bound: Bound, own: Sequence[Bound], unclear: Mapping[str, str]) -> tuple[str, str]:
    """How a formula is introduced (printed, as read, ours) and where it stands.

    How an unclear print is read follows from the note of the bound, of one that defines an abbreviation of it, or of a
    claim about its place.
    """
    place = typeset(", ".join(filter(None, (bound.source.version, bound.source.place))))
    if not is_printed(bound):
        return "Ours", place
    notes = [bound.note, *(other.note for other in own if other.target in bound.where)]
    read = list(dict.fromkeys(said.strip() for note in notes for said in REBUILT.findall(note)))
    read = read or [said for where, said in unclear.items() if _same(where, bound.source.place)][:1]
    if not read:
        return "Printed", place
    return "As read", f"{place} (the print is unclear: {typeset(' '.join(read).rstrip('.'))})"


def _same(one: str, other: str) -> bool:
    """Whether two places name an equation of one number; where one of them names none, a statement of one name."""
    numbers = set(EQUATION.findall(one)), set(EQUATION.findall(other))
    names = set(NAME.findall(one)), set(NAME.findall(other))
    return bool(numbers[0] & numbers[1] if all(numbers) else names[0] & names[1])


def _displayed(label: tuple[str, str], bound: Bound, told_apart: bool) -> list[str]:
    """The formula under its label, a line for each term, and what its abbreviations stand for.

    ``told_apart``: its note begins with what it is, since others come from the same place.
    """
    of = f" ({typeset(bound.note.partition('. ')[0].rstrip('.'))})" if told_apart and bound.note else ""
    return [rf"\emph{{{label[0]},}} {label[1]}{of}:", *displayed(bound)]


def _conditions(bound: Bound) -> Iterator[str]:
    """Each condition once: a relation of numbers in the letters of the paper, anything else in words."""
    letters = letters_of(bound)
    yield from dict.fromkeys(
        typeset(c.words) if c.relation is None else f"${printing.latex(c.relation, letters)}$" for c in bound.conditions
    )

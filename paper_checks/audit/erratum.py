"""Write a short LaTeX note: what a paper prints, why it fails, and the corrected statement with its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bounds.core import Bound
from bounds.papers import PAPERS
from bounds.showing import printing
from bounds.showing.cards import displayed, letters_of
from bounds.showing.printing import escaped
from bounds.showing.prose import typeset

from ..claims.claim import Claim, Kind, Status
from ..claims.review import NAMED
from .records import brief
from .running import Verdict

HEAD = r"""\documentclass{article}
\usepackage{amsmath, amssymb}
\usepackage[a4paper, margin=2.3cm]{geometry}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{3pt plus 1pt}
\setlength{\emergencystretch}{4em}
"""
STATEMENTS = (Kind.THEOREM, Kind.ASSUMPTION, Kind.DEFINITION, Kind.ALGORITHM)
"""Kinds of claims that readers build upon: their corrections are in the note even if no bound states them."""
OURS = re.compile(r"\b(derived|repaired|replaced|sharpened|counted|assembled|without|quantities|with the sign)\b")
"""Words in the ``place`` of a bound that say that the paper does not print it."""
REBUILT = re.compile(r"[^.]*\b(?:rebuilt|damaged|uncertain|read as)\b.*?(?:\.(?=\s|$)|$)")
"""The sentences of a bound's note that say how an unclear print was read."""
EQUATION = re.compile(r"\(\d+\)")
NAME = re.compile(r"\b(?:Theorem|Lemma|Corollary|Remark|Assumption|Algorithm|Proposition) [A-Z]?[\d.]*\d")


def belongs(claim: Claim, book: Mapping[str, Bound]) -> bool:
    """Whether the correction of a claim, if it holds, belongs in the note."""
    if claim.repair is None:
        return False
    return claim.repair.bound in book or (claim.passage.kind in STATEMENTS and not claim.ours)


def erratum(verdicts: Sequence[Verdict], book: Mapping[str, Bound], sentences: Mapping[str, str] | None = None) -> str:
    """Return the note in LaTeX on those of the claims whose correction holds.

    ``sentences`` are a review's, by claim, which replace the evidence of the check.
    """
    repaired = [v for v in verdicts if v.status is Status.REPAIRED]
    papers = list(dict.fromkeys(v.claim.paper for v in repaired))
    titles = [f"{PAPERS[p].title} ({', '.join(PAPERS[p].authors)})" if p in PAPERS else p for p in papers]
    lines = [rf"\title{{Corrections to: {escaped('; '.join(titles))}}}", r"\date{}", r"\begin{document}", r"\maketitle"]
    if repaired:
        lines.append("Formulas use the paper's symbols; sums are written out, each term with its name.")
    else:
        lines.append("No failing statement has a correction.")
    unclear = {v.claim.passage.place: v.claim.damaged for v in verdicts if v.claim.damaged}
    for number, verdict in enumerate(repaired, start=1):
        sentence = NAMED.sub("", (sentences or {}).get(verdict.claim.name, "")).replace(" .", ".")
        lines += ["", *_entry(number, verdict, book, unclear, sentence)]
    return HEAD + "\n".join([*lines, r"\end{document}"]) + "\n"


def _entry(
    number: int, verdict: Verdict, book: Mapping[str, Bound], unclear: Mapping[str, str], sentence: str
) -> list[str]:
    """Return the section on one claim: the statement, its printed formulas, what is wrong, the correction, evidence."""
    claim, repair, support_finding = verdict.claim, verdict.claim.repair, verdict.repair
    assert repair is not None
    assert support_finding is not None  # the verdict is REPAIRED
    corrected = book.get(repair.bound)
    own = [bound for bound in book.values() if bound.source.paper == claim.paper]
    about = [b for b in own if b.name in verdict.bounds and b is not corrected and _mentions(claim, b)]
    places = [bound.source for bound in (*about, *([corrected] if corrected else []))]
    shared_places = {place for place in places if places.count(place) > 1}
    letters = {q.name: letter for bound in own for q, letter in letters_of(bound).items()}
    found = sentence or brief(verdict.finding.evidence, verdict.finding.witness)
    defect = f" ({claim.defect})" if claim.defect else ""
    whose = "A statement of ours" if claim.ours else "Stated"
    lines = [rf"\subsection*{{{number}. {typeset(_sentence(claim.passage.place))}{defect}}}"]
    lines += [rf"\emph{{{whose}.}} {typeset(claim.words, letters)}", ""]
    for bound in about:
        lines += [*_displayed(_label(bound, own, unclear), bound, bound.source in shared_places), ""]
    lines += [rf"\emph{{Found.}} {typeset(_sentence(found), letters)}", ""]
    if corrected:
        label = "Corrected", typeset(repair.words, letters)
        lines += _displayed(label, corrected, corrected.source in shared_places)
        lines += [rf"\emph{{If}} {'; '.join(_conditions(corrected))}."] if corrected.conditions else []
    else:
        lines.append(rf"\emph{{Corrected.}} {typeset(_sentence(repair.words), letters)}.")
    support = typeset(_sentence(brief(support_finding.evidence, support_finding.witness)), letters)
    command = escaped(claim.command).replace(r"\_", r"\_\allowbreak{}").replace(".", r".\allowbreak{}")
    return [*lines, "", rf"\emph{{Support ({support_finding.grade}).}} {support} \texttt{{fedbounds check {command}}}"]


def _sentence(text: str) -> str:
    """Return the text with a capital letter, unless it begins with a formula."""
    first = text.split()[0]
    return text[0].upper() + text[1:] if typeset(first) == first and (len(first) > 1 or first == "a") else text


def _mentions(claim: Claim, bound: Bound) -> bool:
    """Whether the claim names the place of the bound in the paper."""
    if bound.source.version and claim.passage.version and bound.source.version != claim.passage.version:
        return False
    place = bound.source.place
    return _same(place, claim.passage.place) or (is_printed(bound) and _same(place, claim.words))


def is_printed(bound: Bound) -> bool:
    """Whether the paper prints the formula, according to the place and the note of the bound."""
    return not (OURS.search(bound.source.place) or bound.note.startswith("Derived"))


def _label(bound: Bound, own: Sequence[Bound], unclear: Mapping[str, str]) -> tuple[str, str]:
    """Return how a formula is introduced ("Printed", "As read" or "Ours") and its place in the paper.

    How an unclear print is read follows from the note of the bound, from that of a bound which defines one of its
    abbreviations, or else from a claim about its place.
    """
    place = typeset(", ".join(filter(None, (bound.source.version, bound.source.place))))
    if not is_printed(bound):
        return "Ours", place
    notes = [bound.note, *(other.note for other in own if other.target in bound.where)]
    readings = list(dict.fromkeys(sentence.strip() for note in notes for sentence in REBUILT.findall(note)))
    readings = readings or [text for where, text in unclear.items() if _same(where, bound.source.place)][:1]
    if not readings:
        return "Printed", place
    return "As read", f"{place} (the print is unclear: {typeset(' '.join(readings).rstrip('.'))})"


def _same(one: str, other: str) -> bool:
    """Whether two places name the same equation number or, if one of them names no equation, the same statement."""
    numbers = set(EQUATION.findall(one)), set(EQUATION.findall(other))
    names = set(NAME.findall(one)), set(NAME.findall(other))
    return bool(numbers[0] & numbers[1] if all(numbers) else names[0] & names[1])


def _displayed(label: tuple[str, str], bound: Bound, with_note: bool) -> list[str]:
    """Return the formula under its label, a line for each term, and its abbreviations.

    ``with_note``: add the first sentence of its note, because another formula comes from the same place.
    """
    of = f" ({typeset(bound.note.partition('. ')[0].rstrip('.'))})" if with_note and bound.note else ""
    return [rf"\emph{{{label[0]},}} {label[1]}{of}:", *displayed(bound)]


def _conditions(bound: Bound) -> Iterator[str]:
    """Yield each condition once: a numeric relation in the paper's symbols, any other in words."""
    letters = letters_of(bound)
    yield from dict.fromkeys(
        typeset(c.words) if c.relation is None else f"${printing.latex(c.relation, letters)}$" for c in bound.conditions
    )

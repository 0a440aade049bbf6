"""The reference of bounds: a page for each, with its formula, its claims, and the lines that compute it."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from bounds.catalog import BOUNDS
from bounds.core import Bound, Condition
from bounds.numerics.closed import Optimum
from bounds.papers import Paper, PAPERS
from bounds.points import POINTS
from bounds.showing import printing
from bounds.showing.cards import as_json, KINDS, latex_parts, letters_of
from bounds.showing.printing import words
from figures.catalogue import artefact, NAMES
from figures.explorer import optima, verdicts
from paper_checks.comparing.audit_status import AUDIT_STATUS

from . import claim_pages, committed, explorer
from .figure_pages import MADE
from .search import asked
from .text import alone, cell_math, lines_of_math, page, plain, table

KIN = re.compile(r"_(printed|appendix|v1|v2|repaired|sharp|order|derived|capped|cap|claimed|counted|joined)$")
"""What the names of the forms of one statement end with."""
STEP = "proof step"


# ---- of a paper ----


def of_paper(paper: Paper) -> str:
    """The list of a paper's bounds."""
    mine = [b for b in BOUNDS.values() if b.source.paper == paper.key]
    about = f"{plain(', '.join(paper.authors))}: *{plain(paper.title)}*." if not paper.works else ""
    read = f"Read: {plain(paper.read)}."
    listed = table(
        ["name", "what it bounds", "where"],
        ([f"[{b.name}]({path(b.name, '')})", f"`{b.target.name} {b.relation}`", plain(b.source.place)] for b in mine),
    )
    others = f"[Claims of {paper.short}](../claims/{paper.key}.md)"
    others += (
        f" · [figures and tables of {paper.short}](../figures/{paper.key}.md)" if paper.key in _with_figures() else ""
    )
    return page(f"# Bounds of {paper.short}", about, read, others, listed)


@cache
def _with_figures() -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in NAMES)


def path(name: str, up: str = "../") -> str:
    """A bound's page, from that of another one (``up``) or from a paper's list."""
    return f"{up}{name.replace('.', '/', 1)}.md"


# ---- of a bound ----


def of_bound(bound: Bound) -> str:
    """The page of one bound."""
    paper = PAPERS[bound.source.paper]
    up = f"[Bounds](../index.md) / [{paper.short}](../{paper.key}.md)"
    return alone(f"# {bound.name}", up, *_statement(bound), *_uses(bound), *_beside(bound), *_cited(bound, paper))


def _statement(bound: Bound) -> Iterator[str | list[str]]:
    """The card: formula, terms, abbreviations, conditions, quantities."""
    card, letters = as_json(bound), letters_of(bound)
    yield from asked(bound)
    yield " · ".join(_facts(card))
    yield lines_of_math(latex_parts(bound))
    yield "Its terms:" if len(bound.terms) > 1 else "Its term:"
    yield [f"- **{plain(name)}**: `{words(term)}`" for name, term in bound.terms.items()]
    if bound.where:
        yield "where"
        yield [
            f"- ${letters[q]} = {printing.latex(body, letters)}$, `{q.name} = {words(body)}`: {plain(q.card.meaning)}"
            for q, body in bound.where.items()
        ]
    yield "## Conditions"
    yield [_condition(c) for c in bound.conditions] or "None: it speaks wherever its quantities lie in their domains."
    if card["note"]:
        yield f"*Note.* {plain(card['note'])}"
    yield "## Quantities"
    yield _quantities([card["target"], *card["quantities"]])


def _facts(card: Mapping[str, Any]) -> list[str]:
    about = [f"of `{card['about']}`"] if card["about"] else []
    statistic = [plain(card["statistic"])] if card["statistic"] else []
    level = ["up to a constant: slopes can be compared, levels cannot"] if card["relation"] == "<~" else []
    return [f"*{plain(card['source'])}*", *about, *statistic, *level]


def _condition(condition: Condition) -> str:
    relation = "" if condition.relation is None else f": `{words(condition.relation)}`"
    return f"- {plain(condition.words)} ({KINDS[condition.kind]}){relation}"


def _quantities(cards: list[Mapping[str, Any]]) -> list[str]:
    rows = (
        [cell_math(q["letter"]), f"`{q['name']}`", plain(q["meaning"]), plain(_domain(q)), plain(q["unit"])]
        for q in cards
    )
    return table(["letter", "quantity", "meaning", "domain", "unit"], rows)


def _domain(quantity: Mapping[str, Any]) -> str:
    axis = {"clients": "; per client", "classes": "; per class"}.get(quantity["axis"] or "", "")
    return f"{quantity['domain']}{axis}"


# ---- to compute with ----


def _uses(bound: Bound) -> Iterator[str | list[str]]:
    """The same made-up numbers on the page with sliders, in Python and in the shell, and the closed minimisers."""
    yield "## Compute with it"
    point = POINTS[bound.name]
    lists = bool({q.name for q in bound.quantities if q.card.axis} & set(point))
    given = ",\n      ".join(f"{name}={value!r}" for name, value in point.items())
    address = f"../../../{explorer.link(bound.name)}"
    yield f'<a href="{address}">Open it with sliders</a>, or type it; the numbers are made up:'
    yield f'```python\nfrom bounds import BOUNDS\n\nbound = BOUNDS["{bound.name}"]\nbound({given})\n```'
    said = " ".join(f"{name}={_typed(value)}" for name, value in point.items())
    yield f"```sh\nfedbounds show {bound.name}\nfedbounds eval {bound.name} {said}\n```".replace(" \n", "\n")
    if lists:
        yield "A list holds one number for each client."
    if best := optima.derived(bound):
        yield "Where it is smallest, derived from the formula above:"
        yield [f"- over `{over}`: {_closed(bound, found)}" for over, found in best.items()]
    if stated := optima.stated(bound):
        yield "Minimisers that are stated:"
        yield [f"- over `{over}`: {', '.join(_link(b) for b in found)}" for over, found in stated.items()]


def _typed(value: Any) -> str:
    return ",".join(map(str, value)) if np.ndim(value) else str(value)


def _closed(bound: Bound, found: Optimum) -> str:
    letters = letters_of(bound)
    needs = "".join(f", if `{words(relation)}`" for relation in found.requires)
    return f"${letters[found.over]} = {printing.latex(found.at, letters)}${needs}"


def _link(bound: Bound) -> str:
    return f"[{bound.name}]({path(bound.name)})"


# ---- what stands beside it ----


def _beside(bound: Bound) -> Iterator[str | list[str]]:
    """Other forms, the verdicts of its claims (steps of proofs apart), the figures that use it."""
    if kin := [b for b in BOUNDS.values() if b is not bound and _stem(b) == _stem(bound)]:
        yield "## Other forms of it"
        yield [f"- {_link(b)}: {plain(b.source.place)}" for b in kin]
    found = _claims()[bound.name]
    if standing := AUDIT_STATUS.get(bound.name):
        home = f"../../claims/{claim_pages.place(standing.claim)}"
        yield f"The inequality itself, in the audit: **{standing}** ([{standing.claim}]({home}))."
    for title, part in (
        ("Claims about it", [c for c in found if c[1].kind.partition(",")[0] != STEP]),
        ("Steps of its derivation", [c for c in found if c[1].kind.partition(",")[0] == STEP]),
    ):
        if part:
            yield f"## {title}"
            yield [f"- **{entry.judged}** [{entry.name}]({home}): {entry.words}" for home, entry in part]
    if used := _figures()[bound.name]:
        yield "## Figures that use it"
        yield [
            f"- [{name}](../../figures/{name.replace('.', '/', 1)}.md): {plain(artefact(name).title)}" for name in used
        ]


def _stem(bound: Bound) -> tuple[str, str]:
    name, before = bound.name, ""
    while name != before:
        before, name = name, KIN.sub("", name)
    return name, bound.target.name


@cache
def _claims() -> dict[str, list[tuple[str, committed.Entry]]]:
    """The claims that look each bound up or speak of it, with the verdicts of the committed report."""
    homes = claim_pages.homes()
    told = {name: entry for paper in PAPERS for name, entry in committed.entries(paper).items()}
    return {
        name: [(f"../../claims/{claim_pages.place(c.name)}", told[c.name]) for c in claims if c.name in homes]
        for name, claims in verdicts.by_bound(BOUNDS).items()
    }


@cache
def _figures() -> dict[str, list[str]]:
    """The figures and tables whose code or committed numbers name each bound."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in NAMES:
        numbers = MADE / f"{name}.csv"
        text = inspect.getsource(inspect.getmodule(artefact(name).data) or artefact)
        text += numbers.read_text(encoding="utf-8") if numbers.exists() else ""
        for bound in sorted({*re.findall(r"[a-z][a-z_0-9]*(?:\.[a-z_0-9]+)+", text)} & set(BOUNDS)):
            found[bound].append(name)
    return found


def _cited(bound: Bound, paper: Paper) -> Iterator[str]:
    work = next((w for w in paper.works if bound.source.version in (w.key, w.short)), paper)
    if not work.works:
        yield "## Cite"
        yield f"{plain(str(bound.source))}:"
        yield f"```bibtex\n{work.bibtex}\n```"

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
from bounds.quantities import Quantity
from bounds.showing import printing
from bounds.showing.cards import as_json, KINDS, latex_parts, letters_of
from bounds.showing.printing import words
from figures.catalogue import artefact, NAMES
from figures.explorer import optima, verdicts
from paper_checks.comparing.audit_status import AUDIT_STATUS

from . import claim_pages, committed, explorer
from .figure_pages import MADE
from .search import asked
from .text import alone, cell_math, folded, lines_of_math, page, plain, table

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
    yield _sentence(bound)
    yield f"*{plain(card['source'])}*"
    yield from _audited(bound)
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
    yield [
        _condition(c, letters) for c in bound.conditions
    ] or "None: it holds wherever its quantities lie in their domains."
    if card["note"]:
        yield f"*Note.* {plain(card['note'])}"
    yield "## Quantities"
    yield _quantities([card["target"], *card["quantities"]])


RELATIONS = {
    "<=": "An upper bound on the {}",
    "<~": "An upper bound up to a constant factor, so that slopes can be compared and levels cannot, on the {}",
    ">=": "A lower bound on the {}",
    "=": "A formula for the {}",
}
"""What a bound is, by its relation, of the meaning of its target."""


def _sentence(bound: Bound) -> str:
    """What is bounded, for which algorithm, in which statistic."""
    about = f", for `{bound.about}`" if bound.about else ""
    statistic = f": {plain(str(bound.statistic))}" if bound.statistic else ""
    return f"{RELATIONS[bound.relation].format(plain(bound.target.card.meaning))}{about}{statistic}."


def _audited(bound: Bound) -> Iterator[str]:
    """The verdict on the inequality itself, where one claim decides it."""
    if standing := AUDIT_STATUS.get(bound.name):
        home = f"../../claims/{claim_pages.place(standing.claim)}"
        yield f"The inequality itself, in the audit: **{standing}** ([{standing.claim}]({home}))."


def _condition(condition: Condition, letters: Mapping[Quantity, str]) -> str:
    relation = "" if condition.relation is None else f": ${printing.latex(condition.relation, letters)}$"
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
    about = [claim for claim in found if claim[1].kind.partition(",")[0] != STEP]
    if about:
        yield "## Claims about it"
        yield _listed(about)
    if steps := [claim for claim in found if claim not in about]:
        yield "## Steps of its derivation"
        yield from folded(f"{len(steps)} claims", _listed(steps))
    if used := _figures()[bound.name]:
        yield "## Figures that use it"
        yield [
            f"- [{name}](../../figures/{name.replace('.', '/', 1)}.md): {plain(artefact(name).title)}" for name in used
        ]


def _listed(claims: list[tuple[str, committed.Entry]]) -> list[str]:
    return [f"- **{entry.judged}** [{entry.name}]({home}): {entry.words}" for home, entry in claims]


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

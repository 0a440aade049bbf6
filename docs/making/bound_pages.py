"""The reference of bounds: the card of each, by paper, with the verdicts of the claims that ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bounds.catalog import BOUNDS
from bounds.core import Condition
from bounds.papers import Paper
from bounds.showing.cards import as_json, KINDS
from bounds.showing.printing import words
from paper_checks.audit.reporting import Record

from .text import cell_math, page, plain, slug, table


def of_paper(paper: Paper, found: Sequence[Record]) -> str:
    """The page of one paper."""
    cards = [as_json(b) for b in BOUNDS.values() if b.source.paper == paper.key]
    head = f"# Bounds of {paper.short}"
    about = f"{plain(', '.join(paper.authors))}: *{plain(paper.title)}*. Read: {plain(paper.read)}."
    listed = table(
        ["name", "", "where"],
        ([f"[{c['name']}](#{slug(c['name'])})", f"`{c['target']['name']} {c['relation']}`", _place(c)] for c in cards),
    )
    return page(head, about, listed, *(part for card in cards for part in _card(card, found)))


def _place(card: Mapping[str, Any]) -> str:
    return plain(card["source"].partition(", ")[2])


def _card(card: Mapping[str, Any], found: Sequence[Record]) -> Iterator[str | list[str]]:
    yield f"## {card['name']}"
    yield " · ".join(_facts(card))
    yield f"$$\n{card['latex']}\n$$"
    bound = BOUNDS[card["name"]]
    yield [f"- **{plain(name)}**: `{words(term)}`" for name, term in bound.terms.items()]
    if bound.where:
        yield "where"
        yield [f"- `{q.name} = {words(body)}`: {plain(q.card.meaning)}" for q, body in bound.where.items()]
    if bound.conditions:
        yield "if"
        yield [_condition(c) for c in bound.conditions]
    yield _quantities([card["target"], *card["quantities"]])
    if card["note"]:
        yield f"*Note.* {plain(card['note'])}"
    yield from _verdicts(card["name"], found)
    yield f"```sh\nfedbounds show {card['name']}\n```"


def _facts(card: Mapping[str, Any]) -> list[str]:
    about = [f"of `{card['about']}`"] if card["about"] else []
    statistic = [plain(card["statistic"])] if card["statistic"] else []
    level = ["up to a constant: slopes can be compared, levels cannot"] if card["relation"] == "<~" else []
    return [f"*{plain(card['source'])}*", *about, *statistic, *level]


def _condition(condition: Condition) -> str:
    relation = "" if condition.relation is None else f": `{words(condition.relation)}`"
    return f"- {plain(condition.words)} ({KINDS[condition.kind]}){relation}"


def _quantities(cards: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = (
        [f"`{q['name']}`", cell_math(q["letter"]), plain(q["unit"]), plain(_domain(q)), plain(q["meaning"])]
        for q in cards
    )
    return table(["quantity", "letter", "unit", "domain", "meaning"], rows)


def _domain(quantity: Mapping[str, Any]) -> str:
    axis = {"clients": "; per client", "classes": "; per class"}.get(quantity["axis"] or "", "")
    return f"{quantity['domain']}{axis}"


def _verdicts(name: str, found: Sequence[Record]) -> Iterator[str | list[str]]:
    """Of the claims whose checks look the bound up."""
    about = [r for r in found if name in r.bounds]
    if about:
        yield "Claims about it:"
        yield [
            f"- **{r.verdict}** ({r.grade}) [{r.name}](../claims/{r.paper}.md#{slug(r.name)}): {plain(r.words)}"
            for r in about
        ]

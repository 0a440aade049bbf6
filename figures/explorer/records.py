"""Bounds as the page needs them: plain data, and beside it the code of their formulas as JavaScript."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.numerics.closed import Optimum
from bounds.operators import varies
from bounds.quantities import AXES, Quantity
from bounds.scenario_values import DESIGN, role_of
from bounds.showing import cards, printing
from bounds.showing.mathml import inline, mathml
from bounds.showing.tables import plain
from bounds.vocabulary import classes, clients
from paper_checks.claims.claim import Claim, Status

from . import optima, ranges, verdicts
from .javascript import function
from .titles import titles

FIRST = ("local_steps", "step_size", "cohort", "rounds")
"""What a run chooses, in the order of the page; the rest of it follows."""
COUNTS: dict[str, Quantity] = dict(zip(AXES, (clients, classes), strict=True))
INEQUALITIES = {"<=": "le", "<": "lt", ">=": "ge", ">": "gt"}
"""The page's own functions for them, which tell both sides of a condition that fails."""
OWN = ("letter", "value", "slider", "count")
"""What a bound says of a quantity for itself."""
Record = dict[str, Any]


@dataclass(frozen=True)
class NamedBound:
    """A bound and what the page calls it: its name in the catalogue, or ``path/file.py:variable``."""

    bound: Bound
    label: str

    @property
    def own(self) -> bool:
        """Whether it comes out of a file of the user."""
        return ":" in self.label


def data(entries: Sequence[NamedBound]) -> Record:
    """Everything the page shows but the code: the bounds, their papers, and the claims about them."""
    named = {e.label: e.bound for e in entries}
    claims = verdicts.by_bound(named)
    named_titles = titles(e.bound for e in entries)
    used = list(dict.fromkeys(c.name for group in claims.values() for c in group))
    place = {name: i for i, name in enumerate(used)}
    by_name = {c.name: _claim(c) for group in claims.values() for c in group}
    told = [
        record(e)
        | {"claims": [place[c.name] for c in claims[e.label]], "title": named_titles.get(e.bound.name, e.label)}
        for e in entries
    ]
    return {"claims": [by_name[name] for name in used], "quantities": _cards(told), "bounds": told}


def _cards(bounds: Sequence[Record]) -> list[Record]:
    """What many bounds share about a quantity, once; each of them keeps its place, and what is its own."""
    found: dict[str, int] = {}
    for bound in bounds:
        each = [(one, {key: one.pop(key) for key in OWN if key in one}) for one in bound["quantities"]]
        bound["quantities"] = [[found.setdefault(json.dumps(one), len(found)), own] for one, own in each]
    return [json.loads(text) for text in found]


def _claim(claim: Claim) -> list[str]:
    """A claim with its verdict and the kind of it; why, where it fails."""
    why = claim.note if claim.known is Status.FAILS else ""
    kind = verdicts.kinds().get(claim.name, "")
    return [claim.name, verdicts.verdict(claim), claim.words, str(claim.source), kind, why]


def alone(entries: Sequence[NamedBound]) -> Record:
    """What a page of single bounds contains: it compares nothing, and starts from the example of each bound."""
    nothing: Record = {"targets": [], "flags": [], "situations": [], "lists": [], "bounds": {}, "plan": {}}
    named = titles(e.bound for e in entries)
    usual: Record = {"words": "The example of the bound.", "up_to": {}, "plan": {}}
    examples = [
        usual | {"name": named.get(e.bound.name, e.label), "of": e.label, "given": example(e.bound)} for e in entries
    ]
    return nothing | {"federations": examples}


def example(bound: Bound) -> Record:
    """A number of every quantity, or a list where clients or classes differ; equal weights go without saying."""
    values = ranges.start(bound)
    count = {bound.axis: ranges.members(bound)} if bound.axis else {}
    weights = {q.name for q in bound.quantities if q.card.domain.simplex}
    return {**count, **{name: x for name, x in values.items() if name not in weights}, **ranges.lists(bound)}


def record(entry: NamedBound) -> Record:
    """One bound: what it says, its quantities with where they start, and where it is smallest."""
    bound, letters = entry.bound, cards.letters_of(entry.bound)
    values = ranges.start(bound)
    count = [COUNTS[bound.axis]] if bound.axis and bound.axis not in values else []
    own = ranges.lists(bound)
    listed = {bound.axis} if own or any(np.ndim(v) for v in bound.given.values()) else set()
    free = [q.name for q in (*bound.quantities, *count) if not q.card.axis and q.name not in listed]
    target, best = bound.target, _optima(bound)
    return {
        "name": entry.label,
        "paper": bound.source.paper if entry.label in BOUNDS else "",
        "source": str(bound.source),
        "about": str(bound.about or ""),
        "statistic": str(bound.statistic or ""),
        "note": bound.note,
        "relation": bound.relation,
        "target": {"name": target.name, "unit": str(target.card.unit), "meaning": target.card.meaning,
                   "axis": target.card.axis, "letter": inline(letters[target])},
        "latex": bound.latex(),
        "math": mathml(bound.latex()),
        "axis": bound.axis,
        "members": ranges.members(bound),
        "lists": own,
        "dropped": _dropped(bound),
        "terms": list(bound.terms),
        "conditions": _conditions(bound),
        "quantities": [
            *(_quantity(q, letters[q], values[q.name]) for q in bound.quantities),
            *(_quantity(q, q.card.letter, ranges.members(bound)) | {"count": True} for q in count),
        ],
        "given": {name: plain(value) for name, value in bound.given.items()},
        "x": ranges.first_axis(free, [o["over"] for o in best]),
        "trivial": ranges.trivial(bound, values),
        "optima": best,
    }  # fmt: skip


def _dropped(bound: Bound) -> list[str]:
    """What the special case of equal clients, which the command line takes for equal weights, does not need."""
    if bound.axis != clients.name or not any(q.card.domain.simplex for q in bound.quantities):
        return []
    needed = {q.name for q in bound.equal_clients().quantities}
    return [q.name for q in (*bound.quantities, clients) if q.name not in needed and not q.card.domain.simplex]


def _quantity(quantity: Quantity, letter: str, value: float) -> Record:
    card, domain = quantity.card, quantity.card.domain
    low, high, log, zero = ranges.slider(quantity, value)
    ends = {"low": domain.low, "high": domain.high}
    return {
        "name": card.name,
        "letter": inline(letter),
        "meaning": card.meaning,
        "unit": str(card.unit),
        "axis": card.axis,
        "domain": cards.domain_words(quantity),
        **{k: v for k, v in ends.items() if abs(v) < float("inf")},
        "open": [domain.open_low, domain.open_high],
        "whole": domain.whole,
        "simplex": domain.simplex,
        "choice": _choice(card.name),
        "value": value,
        "slider": [low, high, int(log), int(zero)],
    }


def _choice(word: str) -> int:
    """The place of a word among what a run may choose, from 1; 0 for what is a number of the problem."""
    return 0 if role_of(word) != DESIGN else FIRST.index(word) + 1 if word in FIRST else len(FIRST) + 1


def _conditions(bound: Bound) -> list[Record]:
    """Those that numbers decide come first, in the order of their code."""
    letters = cards.letters_of(bound)
    decided = [
        {"words": c.words, "kind": "numeric", "formula": printing.words(c.relation),
         "latex": printing.latex(c.relation, letters), "math": inline(printing.latex(c.relation, letters))}
        for c in bound.numeric_conditions
    ]  # fmt: skip
    rest = [(words, "domain") for words in _limits(bound)]
    rest += [(c.words, c.kind) for c in bound.conditions if c.kind != "numeric"]
    return [
        *decided,
        *({"words": w, "kind": kind, "formula": "", "latex": rf"\text{{{printing.escaped(w)}}}"} for w, kind in rest),
    ]


def _limits(bound: Bound) -> dict[str, str]:
    """Pairs of quantities of which one never exceeds the other, as words with their JavaScript."""
    names = {q.name for q in bound.quantities} | ({bound.axis} if bound.axis else set())
    pairs = [(q.name, q.card.at_most.name) for q in bound.quantities if q.card.at_most is not None]
    return {f"{a} is at most {b}".replace("_", " "): f"v.{a}<=v.{b}" for a, b in pairs if b in names}


def _optima(bound: Bound) -> list[Record]:
    derived, stated = optima.derived(bound), optima.stated(bound)
    return [
        {
            "over": over,
            "derived": _closed(derived[over], bound) if over in derived else None,
            "stated": [b.name for b in stated.get(over, [])],
        }
        for over in dict.fromkeys((*derived, *stated))
    ]


def _closed(optimum: Optimum, bound: Bound) -> Record:
    letters = cards.letters_of(bound)
    at = f"{letters[optimum.over]} = {printing.latex(optimum.at, letters)}"
    return {"math": mathml(at), "needs": [printing.words(r) for r in optimum.requires]}


# ---- the code ----


def code(entry: NamedBound) -> str:
    """The functions of a bound: terms, conditions (and whether each must hold for every member), closed minimisers."""
    bound = entry.bound
    relations = [_relation(r, bound.axis) for r in bound.relations]
    relations += [f"[v=>{limit},0]" for limit in _limits(bound).values()]
    closed = [
        f"{over}:[{function(best.at)},[{','.join(map(function, best.requires))}]]"
        for over, best in optima.derived(bound).items()
    ]
    terms = ",".join(map(function, bound.spelled_terms.values()))
    return f"{{t:[{terms}],c:[{','.join(relations)}],o:{{{','.join(closed)}}}}}"


def _relation(relation: Any, axis: str) -> str:
    each = int(bool(axis) and varies(relation, axis))
    if (named := INEQUALITIES.get(getattr(relation, "rel_op", ""))) is None:
        return f"[{function(relation)},{each}]"
    return f"[{function(relation.lhs, relation.rhs, of=f'{named}({{}},{{}},s)')},{each}]"

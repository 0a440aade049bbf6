"""Return the bounds as the page needs them: plain data, and the JavaScript of their formulas."""

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
from bounds.scenario_values import Role, role_of
from bounds.showing import cards, printing
from bounds.showing.notebook import inline, mathml
from bounds.showing.tables import plain
from bounds.vocabulary import classes, clients
from paper_checks.claims.claim import Claim, Status

from . import optima, ranges, verdicts
from .javascript import function
from .titles import titles

FIRST = ("local_steps", "step_size", "cohort", "rounds")
"""The first quantities that a run chooses, in the order of the page; the others follow."""
COUNTS: dict[str, Quantity] = dict(zip(AXES, (clients, classes), strict=True))
INEQUALITIES = {"<=": "le", "<": "lt", ">=": "ge", ">": "gt"}
"""The page's functions for inequalities, which report both sides if the condition fails."""
OWN = ("letter", "value", "slider", "count")
"""Fields of a quantity that differ between bounds."""
Record = dict[str, Any]


@dataclass(frozen=True)
class NamedBound:
    """A bound and its label on the page: its name in the catalogue, or ``path/file.py:variable``."""

    bound: Bound
    label: str

    @property
    def own(self) -> bool:
        """Whether it comes from a file of the user."""
        return ":" in self.label


def data(entries: Sequence[NamedBound]) -> Record:
    """Return all data of the page but the comparison: bounds, quantities, and the claims about the bounds."""
    named = {e.label: e.bound for e in entries}
    claims = verdicts.by_bound(named)
    named_titles = titles(e.bound for e in entries)
    used = list(dict.fromkeys(c.name for group in claims.values() for c in group))
    place = {name: i for i, name in enumerate(used)}
    by_name = {c.name: _claim(c) for group in claims.values() for c in group}
    bounds = [
        record(e)
        | {"claims": [place[c.name] for c in claims[e.label]], "title": named_titles.get(e.bound.name, e.label)}
        for e in entries
    ]
    return {"claims": [by_name[name] for name in used], "quantities": _cards(bounds), "bounds": bounds}


def _cards(bounds: Sequence[Record]) -> list[Record]:
    """Return the shared fields of all quantities, each once; bounds keep an index into them and their own fields."""
    shared: dict[str, int] = {}
    for bound in bounds:
        each = [(one, {key: one.pop(key) for key in OWN if key in one}) for one in bound["quantities"]]
        bound["quantities"] = [[shared.setdefault(json.dumps(one), len(shared)), own] for one, own in each]
    return [json.loads(text) for text in shared]


def _claim(claim: Claim) -> list[str]:
    """Return a claim as name, verdict, text, source, kind of verdict, and the reason if it fails."""
    why = claim.note if claim.audited is Status.FAILS else ""
    kind = verdicts.kinds().get(claim.name, "")
    return [claim.name, verdicts.verdict(claim), claim.words, str(claim.source), kind, why]


def alone(entries: Sequence[NamedBound]) -> Record:
    """Return the atlas of a page of single bounds: nothing to compare, and the example of each bound as a start."""
    nothing: Record = {"targets": [], "flags": [], "situations": [], "lists": [], "bounds": {}, "plan": {}}
    named = titles(e.bound for e in entries)
    usual: Record = {"words": "The example of the bound.", "up_to": {}, "plan": {}}
    examples = [
        usual | {"name": named.get(e.bound.name, e.label), "of": e.label, "given": example(e.bound)} for e in entries
    ]
    return nothing | {"federations": examples}


def example(bound: Bound) -> Record:
    """Return the example values of a bound, lists where clients or classes differ; without equal weights."""
    values = ranges.start(bound)
    count = {bound.axis: ranges.members(bound)} if bound.axis else {}
    weights = {q.name for q in bound.quantities if q.card.domain.simplex}
    return {**count, **{name: x for name, x in values.items() if name not in weights}, **ranges.lists(bound)}


def record(entry: NamedBound) -> Record:
    """Return the record of one bound: its statement, its quantities with initial values, and its minimisers."""
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
        "statistic": str(bound.statistic or ""),
        "note": bound.note,
        "relation": bound.relation,
        "target": {"name": target.name, "unit": str(target.card.unit), "axis": target.card.axis},
        "latex": cards.latex(bound),
        "math": mathml(cards.latex(bound)),
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
    """Return the quantities that the special case of equal clients (used for equal weights) does not need."""
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
    """Return the position of a quantity among those that a run chooses, from 1; 0 for constants of the problem."""
    return 0 if role_of(word) != Role.DESIGN else FIRST.index(word) + 1 if word in FIRST else len(FIRST) + 1


def _conditions(bound: Bound) -> list[Record]:
    """Return the conditions of a bound; the numeric ones come first, in the order of their code."""
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
    """Return the JavaScript of the limits of quantities by one another, by text (``cohort is at most clients``)."""
    names = {q.name for q in bound.quantities} | ({bound.axis} if bound.axis else set())
    pairs = [(q.name, q.card.at_most.name) for q in bound.quantities if q.card.at_most is not None]
    return {f"{a} is at most {b}".replace("_", " "): f"v.{a}<=v.{b}" for a, b in pairs if b in names}


def _optima(bound: Bound) -> list[Record]:
    derived, printed = optima.derived(bound), optima.stated(bound)
    return [
        {
            "over": over,
            "derived": _closed(derived[over], bound) if over in derived else None,
            "stated": [b.name for b in printed.get(over, [])],
        }
        for over in dict.fromkeys((*derived, *printed))
    ]


def _closed(optimum: Optimum, bound: Bound) -> Record:
    letters = cards.letters_of(bound)
    at = f"{letters[optimum.over]} = {printing.latex(optimum.at, letters)}"
    return {"math": mathml(at), "needs": [printing.words(r) for r in optimum.requires]}


# ---- the code ----


def code(entry: NamedBound) -> str:
    """Return the JavaScript of a bound: terms, conditions (and whether each holds per member), closed minimisers."""
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

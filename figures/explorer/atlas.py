"""The atlas: what the page needs to compare all theorems at one federation, as ``paper_checks.comparing`` does.

``data`` depends on structure only: by situation (full participation, a single local step, ...) which assumptions hold
and which bounded quantities conversions lead to. ``code`` depends on numbers: identities, factors of conversions, sides
of conditions and trivial values, as JavaScript of the same expressions that Python evaluates.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import sympy as sp

from bounds import one_machine, substituting, trivial_bounds
from bounds.assumptions import Assumption, INDEPENDENT_NOISE
from bounds.bounded_quantity import (
    BoundedQuantity,
    Conversion,
    implicit_conditions,
    MEANING,
    mismatch,
    never,
    Refusal,
    Route,
    routes,
)
from bounds.catalog import BOUNDS
from bounds.classics.common import EQUAL_WEIGHTS
from bounds.core import Bound
from bounds.dissimilarity import convex_pair
from bounds.fedinit.stability import DECAYING_STEP
from bounds.identities import Identity
from bounds.places import SERVER
from bounds.quantities import CLIENTS, quantities_of
from bounds.resolving import IDENTITY_ORDER
from bounds.scenario import Scenario
from bounds.scenario_values import ADMISSIBLE, QUANTITIES, Role, role_of, ROLES
from bounds.vocabulary import optimum_dissimilarity, smoothness, strong_convexity
from paper_checks.comparing.audit_status import AUDIT_STATUS
from paper_checks.comparing.evidence import at_server, is_single_number
from paper_checks.comparing.rows import is_identity, is_outcome, substitutes_for, UPPER, why_other

from . import committed, federations, worst
from .federations import Record
from .javascript import function, javascript
from .records import NamedBound

TARGETS = (
    "optimality_gap", "grad_norm_sq", "distance_sq", "divergence", "consensus_distance",
    "generalization_gap", "stability", "excess_risk",
)  # fmt: skip
"""The targets on which a page compares theorems."""
FLAGS: dict[str, dict[str, tuple[Any, ...]]] = {
    "full": {"cohort": (5, 10)},
    "single": {"local_steps": (3, 1)},
    "relaxed": {"relaxation": (0, 0.1)},
    "convex": {"strong_convexity": (None, 0.5), "pl_constant": (None, 0.5)},
    "exact": {
        "gradient_variance": (0.3, 0, None), "client_gradient_variance": (0.3, 0, None),
        "grad_cap_sq": (20.0, 20.0, None),  # from which a variance follows
    },
    "identical": {
        "uniform_dissimilarity": (0.4, 0, None), "optimum_dissimilarity": (0.4, 0, None),
        "heterogeneity": (0.1, 0, None),
    },
}  # fmt: skip
"""What distinguishes situations: for each flag, example values of quantities if it is false, true, and unknown."""
REST = {"clients": 10, "smoothness": 1.5, "sample_smoothness": 1.5, "initial_loss": 2.0, "optimal_loss": 0.5,
        "initial_distance_sq": 2.0, "initial_grad_norm_sq": 3.0, "rounds": 50,
        "step_size": 0.01}  # fmt: skip
"""All other quantities of the example federations; no result depends on these numbers."""
LEFT_OUT = ("lipschitz", "loss_cap")
"""Constants that are not given: a federation that gives one meets the assumption that it exists."""
ENDS = {"up": (Role.UP, Role.PAIR), "down": (Role.DOWN,)}
"""The safe end of an interval by role."""
LARGE = 1e300
"""Stands for no lower end."""
SPLIT = sp.Symbol("s", positive=True)


@dataclass
class Index:
    """Numbers its items in the order in which they are first added."""

    items: dict[Any, int] = field(default_factory=dict)

    def add(self, item: Any) -> int:
        """Return the number of an item, a new one if it was not added before."""
        return self.items.setdefault(item, len(self.items))


def situations() -> dict[str, Scenario]:
    """Return the example scenarios by their flags as digits.

    Keys ``m...`` are those equivalent to one machine, keys ``o...`` those of one client that always takes part.
    """
    scenarios: dict[str, Scenario] = {}
    for flags in product(*(range(len(next(iter(by_word.values())))) for by_word in FLAGS.values())):
        words: dict[str, Any] = dict(REST)
        for flag, by_word in zip(flags, FLAGS.values(), strict=True):
            words |= {word: ends[flag] for word, ends in by_word.items() if ends[flag] is not None}
        key = "".join(map(str, flags))
        scenarios[key] = Scenario.of(words)
        if (machine := scenarios[key].machine) is not None:
            scenarios[f"m{key}"] = machine[0]
        if words["cohort"] == words["clients"]:
            scenarios[f"o{key}"] = Scenario.of(words | {"clients": 1, "cohort": 1})
    return scenarios


@dataclass(frozen=True)
class Atlas:
    """``data`` is packed into the page, ``code`` is part of its script."""

    data: Record
    code: str


def atlas(entries: Sequence[NamedBound]) -> Atlas:
    """Return the atlas of these bounds, with the federations that the page starts from."""
    known = situations()
    shown = [e for e in entries if e.bound.relation in UPPER or is_identity(e.bound)]
    starts = sorted({BoundedQuantity.of(e.bound) for e in shown})
    reached = {(start, key): routes(start, s) for start in starts for key, s in known.items()}
    kinds = sorted({way.to for ways, _ in reached.values() for way in ways if way.to.target in TARGETS})
    factors, records, places = Index(), Index(), {kind: place for place, kind in enumerate(kinds)}
    of_starts: dict[int, list[int]] = {}
    for place, start in enumerate(starts):
        each = [_reached(start, s, *reached[start, key], places, factors) for key, s in known.items()]
        if any(each):
            of_starts[place] = [records.add(json.dumps(one)) for one in each]
    of_them = [e for e in shown if starts.index(BoundedQuantity.of(e.bound)) in of_starts]
    assumed = list(dict.fromkeys(c.assumption for e in of_them for c in e.bound.conditions if c.assumption is not None))
    data = {
        "targets": TARGETS,
        "flags": list(FLAGS),
        "situations": list(known),
        "assumptions": ["".join(_digit(a.holds(*s.facts)) for s in known.values()) for a in assumed],
        "classes": [_kind(kind) for kind in kinds],
        "conversions": MEANING,
        "reached": [json.loads(text) for text in records.items],
        "ways": of_starts,
        "bounds": {e.label: _bound(e.bound, starts, kinds, assumed) for e in of_them},
        "machine": {"kept": one_machine.KEPT, "alone": one_machine.ALONE, "places": one_machine.IDENTICAL,
                    "targets": one_machine.TARGETS, "assumed": INDEPENDENT_NOISE.words},
        "worst": worst.data(e.bound for e in of_them if BOUNDS.get(e.bound.name) is e.bound),
        "search": {"splits": substituting.SPLITS.tolist(), "shares": substituting.SHARES.tolist(),
                   "zooms": substituting.ZOOMS, "fine": substituting.FINE},
        "start_values": trivial_bounds.START_VALUES,
        "roles": {end: [w for w, role in ROLES.items() if role in roles] for end, roles in ENDS.items()},
        "lists": [name for name, quantity in QUANTITIES.items() if quantity.card.axis == CLIENTS],
        "plan": {"relaxation": 0},
        "federations": embedded(),
    }  # fmt: skip
    return Atlas(data, code(list(factors.items)))


def embedded() -> list[Record]:
    """Return the federations of the page with their committed measurements and exact numbers."""
    known = committed.read()
    return [
        {**one, "exact": known["exact"].get(one["name"], {})} for one in (*federations.typed(), *known["federations"])
    ]


def _digit(answer: bool | None) -> str:
    return "?" if answer is None else str(int(answer))


def _reached(
    start: BoundedQuantity,
    known: Scenario,
    reached: Sequence[Route],
    refused: Sequence[Refusal],
    places: Mapping[BoundedQuantity, int],
    factors: Index,
) -> Record:
    """Return by target the conversions that apply (quantity, names, factor, assumptions), else why none does."""
    by_target: Record = {}
    for target in TARGETS:
        here = [way for way in reached if way.to.target == target]
        if why := _never(start, target):
            by_target[target] = why
        elif own := [way for way in here if not mismatch(way.to, known)]:
            by_target[target] = [
                [places[w.to], list(w.names), factors.add(_times(w.steps)), list(dict.fromkeys(w.trusted))] for w in own
            ]
        elif here:
            by_target[target] = why_other(here, refused, known)
    return by_target


@cache
def _never(start: BoundedQuantity, target: str) -> str:
    return never(start, target=target)


def _times(steps: Sequence[Conversion]) -> sp.Expr:
    """Return the product of the factors of conversions."""
    return sp.Mul(*(step.factor for step in steps if step.factor != 1))


def _kind(kind: BoundedQuantity) -> Record:
    """Return a bounded quantity: its text, whether only conversions yield it, its iterate, and how runs measure it."""
    at = at_server(kind) or kind
    read = (
        [at.statistic, "C4" if at is not kind else ""]
        if (at.over, at.at) == ("rounds", SERVER) and is_single_number(at)
        else 0
    )
    return {"words": str(kind), "target": kind.target, "made": kind.joins, "at": kind.at, "runs": read}


def _bound(
    bound: Bound, starts: list[BoundedQuantity], kinds: list[BoundedQuantity], assumed: list[Assumption]
) -> Record:
    """Return one bound: its bounded quantity, conditions that its numbers do not decide, origin of its inputs."""
    start, standing = BoundedQuantity.of(bound), AUDIT_STATUS.get(bound.name)
    rest: list[list[Any]] = []
    for condition in (*bound.conditions, *implicit_conditions(bound)):
        if condition.assumption is not None:
            given = [w for w in LEFT_OUT if w == getattr(condition.assumption.holds, "attribute", "")]
            rest.append([condition.words, "assumed", assumed.index(condition.assumption), *given])
        elif condition.kind == "words":
            kind = "falling" if condition == DECAYING_STEP else "equation" if condition.sides else "undecided"
            rest.append([condition.words, kind if condition in bound.conditions else "equal weights"])
    names = [q.name for q in bound.quantities]
    return {
        "start": starts.index(start),
        "kind": kinds.index(start) if start in kinds else -1,
        "once": start.statistic in ("last", "expectation"),
        "order": bound.relation == "<~",
        "audit": str(standing or "") if BOUNDS.get(bound.name) is bound else "",
        "claim": standing.claim if standing and BOUNDS.get(bound.name) is bound else "",
        "rest": rest,
        "decided": [c.words for c in bound.numeric_conditions],
        "needs": [n for n in names if role_of(n) not in (Role.FREE, Role.PAIR)],
        "from": {n: bound.word_of(n) for n in names if bound.word_of(n) != n},
        "pair": [n for n in names if role_of(n) == Role.PAIR],
        "free": next((n for n in names if role_of(n) == Role.FREE), ""),
        "trivial": {t: [_met(one, bound) for one in trivial_bounds.TRIVIAL.get(t, ())] for t in TARGETS},
        "made": _made(bound, kinds),
        "lows": {n: max(QUANTITIES[n].card.domain.low, -LARGE) for n in names if n in QUANTITIES and is_outcome(n)},
        "off": int(bool(bound.off_by)),
    }


def _met(one: trivial_bounds.TrivialBound, bound: Bound) -> list[int]:
    """Return for each group of premises whether the bound has one of them."""
    return [int(bool(trivial_bounds.premises_of(bound) & set(group))) for group in one.premises]


def _made(bound: Bound, kinds: list[BoundedQuantity]) -> Record:
    """Return for each quantity of a run those whose bounds may replace it, with targets and bounded quantities."""
    if bound.expr in bound.quantities:
        return {}
    replaceable = {}
    for word in (q.name for q in bound.quantities if is_outcome(q.name)):
        each = [
            [one, place[0], [k for k, kind in enumerate(kinds) if kind.place == place]]
            for one, place in substitutes_for(word, bound)
        ]
        replaceable[word] = [one for one in each if one[2]]
    return replaceable


# ---- the code ----


def code(factors: Iterable[sp.Expr]) -> str:
    """Return the JavaScript of identities (in order of evaluation), factors, sides of conditions, trivial values."""
    identities = [each for each in IDENTITY_ORDER if not each.counts_entries]
    pairs = convex_pair(optimum_dissimilarity, smoothness, strong_convexity, SPLIT)
    equations = (EQUAL_WEIGHTS, *(condition for bound in BOUNDS.values() for condition in bound.conditions))
    return "".join(
        f"const {name} = {text};\n"
        for name, text in {
            "IDENTITIES": _listed(map(_identity, identities)),
            "FACTORS": _listed(function(factor) for factor in factors),
            "SIDES": _named({c.words: _needing(*c.sides) for c in equations if c.sides}),
            "TRIVIAL": _named(
                {t: _listed(_needing(o.expression) for o in trivial_bounds.TRIVIAL.get(t, ())) for t in TARGETS}
            ),
            "PAIR": f"[{','.join(f'(v,s)=>{javascript(part)}' for part in pairs)}]",
            "MACHINE_NOISE": function(one_machine.INDEPENDENT),
            "DERIVED": _named({word: _following(*following) for word, following in federations.FOLLOWS.items()}),
        }.items()
    )


def _following(expression: sp.Expr, limits: Mapping[str, sp.Expr]) -> str:
    return f"[{function(expression)},{_named({other: function(limit) for other, limit in limits.items()})}]"


def _identity(identity: Identity) -> str:
    """Return an identity: left side, relation, quantities it needs, whether integer or list, right side."""
    card = identity.left.card
    kind = "list" if card.axis else "whole" if card.domain.whole else ""
    defined = role_of(identity.left.name) not in ADMISSIBLE
    return (
        f"[{json.dumps(identity.left.name)},{json.dumps(identity.relation)},{json.dumps(list(identity.inputs))},"
        f"{json.dumps(kind)},{function(identity.right)},{int(defined)}]"
    )


def _needing(*expressions: sp.Expr) -> str:
    """Return the quantities of the expressions, and each expression as a function."""
    words = json.dumps([q.name for q in quantities_of(expressions)])
    return f"[{words},{','.join(map(function, expressions))}]"


def _listed(parts: Iterable[str]) -> str:
    return f"[{','.join(parts)}]"


def _named(parts: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in parts.items()) + "}"

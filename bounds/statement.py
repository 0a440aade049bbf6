"""A theorem as an immutable description: what is bounded, by which terms, under which conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import Any, Self, TypeVar

import numpy as np
import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanAtom, BooleanFunction

from .assumptions import Assumption, ASSUMPTIONS
from .errors import BoundsError, DeclarationError
from .operators import AxisReduction, equal_clients, varies
from .papers import Source
from .places import PLACES
from .quantities import quantities_of, Quantity
from .units import ONE, Unit
from .weights import Weights

T = TypeVar("T")
RELATIONS = ("<=", "=", ">=", "<~")
READINGS = ("intended", "printed", "code", "proof")
STATISTICS = ("last", "min", "mean", "every", "expectation")
OVER = ("rounds", "iterations", "local iterations", "the training samples")
MIXED = None
COMPUTED = (sp.exp, sp.log, sp.Max, sp.Min, sp.Abs, sp.ceiling, sp.floor, sp.Piecewise, AxisReduction)
"""The functions that can be computed, besides sums, products and powers."""
LOGIC = (sp.And, sp.Or, sp.Not, sp.ITE, Relational, BooleanAtom, sp.Tuple)
ALLOWED = (sp.Symbol, sp.Rational, sp.Float, type(sp.pi), type(sp.E), sp.Add, sp.Mul, sp.Pow, *COMPUTED, *LOGIC)


@dataclass(frozen=True)
class Condition:
    """A condition of a theorem in words, with the relation of quantities or the assumption that decides it, if any.

    If it fixes a quantity of the plan in words ("the step size is 1/L"), ``sides`` are the two expressions that a plan
    makes equal: the quantity and its value.
    """

    words: str
    relation: sp.Basic | None = None
    assumption: Assumption | None = None
    sides: tuple[sp.Expr, sp.Expr] | None = None

    def __post_init__(self) -> None:
        if self.relation is not None and self.assumption is not None:
            raise DeclarationError(f"condition {self.words!r}: give a relation or an assumption, not both")
        if self.relation is not None and not _decides(self.relation):
            raise DeclarationError(f"condition {self.words!r} needs a relation such as x <= 1; got {self.relation!r}")
        if self.relation in (sp.true, sp.false):
            raise DeclarationError(f"condition {self.words!r} is {self.relation} for all numbers; remove or correct it")

    @classmethod
    def assume(cls, assumption: Assumption | str) -> Condition:
        """Return a condition for an assumption, or for the one in ``bounds.ASSUMPTIONS`` with this name."""
        found = ASSUMPTIONS.get(assumption) if isinstance(assumption, str) else assumption
        if not isinstance(found, Assumption):
            raise DeclarationError(f"assume takes an assumption, such as 'convex'; got {assumption!r}")
        return cls(found.words, assumption=found)

    @property
    def kind(self) -> str:
        """How it is decided: ``numeric`` (by values), ``assumption`` (by problem and algorithm) or ``words`` (not)."""
        if self.relation is not None:
            return "numeric"
        return "assumption" if self.assumption is not None else "words"


def assumed(*names: str) -> tuple[Condition, ...]:
    """Return a condition for each of these named assumptions.

    >>> [condition.words for condition in assumed("convex", "one_client")]
    ["every client's loss is convex", 'there is one client']
    """
    return tuple(map(Condition.assume, names))


def _decides(relation: object) -> bool:
    """Whether it is a relation or a logical combination of relations. (A symbol alone would count as true in SymPy.)"""
    if isinstance(relation, BooleanFunction):
        return all(map(_decides, relation.args))
    return isinstance(relation, (Relational, bool)) or relation in (sp.true, sp.false)


def _check_choice(what: str, word: object, allowed: tuple[str, ...]) -> None:
    if word not in allowed:
        raise DeclarationError(f"{what} must be one of {', '.join(repr(w) for w in allowed if w)}; got {word!r}")


@dataclass(frozen=True)
class About:
    """The algorithm that a theorem covers, and which variant: as intended, printed, in the code, or in the proof."""

    algorithm: str
    reading: str = "intended"

    def __post_init__(self) -> None:
        _check_choice("the reading of an algorithm", self.reading, READINGS)

    def __str__(self) -> str:
        return self.algorithm if self.reading == "intended" else f"{self.algorithm} (reading: {self.reading})"


@dataclass(frozen=True)
class Statistic:
    """Which statistic of a run is bounded: last, min or mean, over rounds or local iterations, at which model.

    ``weights`` are those of a mean or of an average of iterates; None if they are equal.
    """

    kind: str
    over: str = ""
    at: str = ""
    weights: Weights | None = None

    def __post_init__(self) -> None:
        _check_choice("a statistic", self.kind, STATISTICS)
        _check_choice("the index set of a statistic", self.over, ("", *OVER))
        _check_choice("the model of a statistic", self.at, ("", *PLACES))
        if not isinstance(self.weights, Weights | None):
            raise DeclarationError(f"weights of a statistic must be Weights(...); got {self.weights!r}")
        if self.weights is not None and self.kind not in ("mean", "expectation"):
            raise DeclarationError(f"weights are for a mean or an expectation; got the statistic {self.kind!r}")

    def __str__(self) -> str:
        over = f" over {self.over}" if self.over else ""
        weights = "" if self.weights is None else f" with weights {self.weights}"
        place = f" at the {self.at}" if self.at else ""
        return f"{self.kind}{over}{weights}{place}"


@dataclass(frozen=True, eq=False)
class Statement:
    """A theorem: ``target relation sum of terms``, if all conditions hold.

    ``relation`` is ``<=``, ``=``, ``>=`` or ``<~`` (up to a constant). ``terms`` are named, and nonnegative unless
    listed in ``signed``. ``about`` is the algorithm and ``statistic`` the statistic of a run, if there is one.
    ``where`` has abbreviations (quantities that stand for an expression), ``letters`` the paper's LaTeX letters where
    they differ from the vocabulary's, and ``given`` values that were fixed. ``off_by`` has, for a term whose unit
    differs from the target's, the quotient: the unit of a constant that O(.) hides, or a flaw of the printed formula
    (``MIXED`` if the term adds different units).
    """

    name: str
    target: Quantity
    terms: Mapping[str, sp.Expr]
    source: Source
    conditions: tuple[Condition, ...] = ()
    relation: str = "<="
    about: About | None = None
    statistic: Statistic | None = None
    where: Mapping[Quantity, sp.Expr] = field(default_factory=dict)
    letters: Mapping[Quantity, str] = field(default_factory=dict)
    signed: tuple[str, ...] = ()
    off_by: Mapping[str, Unit | None] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        if fault := next(_faults(self), ""):
            raise DeclarationError(f"bound {self.name!r}: {fault}")

    # ---- contents ----

    @cached_property
    def spelled_terms(self) -> dict[str, sp.Expr]:
        """The terms with abbreviations written out."""
        return {name: self._spelled(f"term {name!r}", term) for name, term in self.terms.items()}

    def _spelled(self, place: str, expression: Any) -> Any:
        """Write out abbreviations, and check the result again: one may be the zero by which another is divided."""
        spelled = spell(expression, self.where)
        return spelled if spelled is expression else _computable(self, f"{place}, written out,", spelled)

    @cached_property
    def expr(self) -> sp.Expr:
        """The right-hand side as one SymPy expression, with abbreviations written out and fixed numbers substituted."""
        return sp.Add(*self.spelled_terms.values()).subs(self.fixed_scalars)

    @property
    def fixed_scalars(self) -> dict[Quantity, sp.Expr]:
        """The exact values of the fixed quantities that are single numbers."""
        fixed = (q for q in self.all_quantities if q.name in self.given and np.ndim(self.given[q.name]) == 0)
        return {q: sp.nsimplify(self.given[q.name]) for q in fixed}

    @cached_property
    def relations(self) -> tuple[sp.Basic, ...]:
        """The numeric conditions with abbreviations written out, in the order of ``numeric_conditions``."""
        return tuple(self._spelled(f"condition {c.words!r}", c.relation) for c in self.numeric_conditions)

    @cached_property
    def numeric_conditions(self) -> tuple[Condition, ...]:
        return tuple(c for c in self.conditions if c.kind == "numeric")

    @cached_property
    def all_quantities(self) -> tuple[Quantity, ...]:
        """The quantities of terms and conditions, sorted by name, including those that are fixed."""
        relations = (c.relation for c in self.conditions if c.relation is not None)
        found = quantities_of((*self.terms.values(), *relations))
        for _ in range(len(self.where)):  # same result as writing abbreviations out, but fast
            found = quantities_of(self.where.get(q, q) for q in found)
        return found

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities whose values the bound needs, sorted by name, without those that are fixed."""
        return tuple(q for q in self.all_quantities if q.name not in self.given)

    @property
    def axis(self) -> str:
        """The axis that some quantity varies over (``clients`` or ``classes``), or an empty string."""
        return next((q.card.axis for q in self.all_quantities if q.card.axis), "")

    def quantity(self, name: str) -> Quantity:
        """Return the quantity with this name; raise ``BoundsError`` with similar names if there is none."""
        for q in self.quantities:
            if q.name == name:
                return q
        if name == self.axis:
            raise BoundsError(f"{self.name} takes one value for each of the {name}; give lists instead of {name}")
        from .letters import unknown_quantity

        raise unknown_quantity(f"quantity of {self.name}", name, [q.name for q in self.quantities], self.source.paper)

    def word_of(self, name: str) -> str:
        """Return the name of the problem's constant that is the value of the quantity ``name`` in this theorem.

        It is ``name`` unless an assumption of the theorem says otherwise. For example, a theorem on single samples uses
        the smoothness of the samples' losses, ``sample_smoothness``; other theorems use that of the clients' losses.

        >>> from bounds.catalog import get
        >>> get("fedals.one_round").word_of("smoothness"), get("fedinit.theorem_1").word_of("smoothness")
        ('sample_smoothness', 'smoothness')
        """
        constants = (pair for c in self.conditions if c.assumption is not None for pair in c.assumption.constants)
        return dict(constants).get(name, name)

    # ---- variants ----

    def equal_clients(self) -> Self:
        """Return the special case of ``clients`` identical clients: weights ``1/clients``, one value for all."""
        return replace(
            self,
            terms={n: equal_clients(t) for n, t in self.spelled_terms.items()},
            conditions=tuple(c for c in map(self._of_equal_clients, self.conditions) if c is not None),
            where={},
            letters={k: v for k, v in self.letters.items() if not k.card.axis},
            note=f"{self.note} For equal clients.".strip(),
        )

    def _of_equal_clients(self, condition: Condition) -> Condition | None:
        """Return the condition for identical clients, or None if these always meet it (such as equal weights)."""
        if condition.kind != "numeric":
            return condition
        relation = equal_clients(spell(condition.relation, self.where))
        return None if relation == sp.true else replace(condition, relation=relation)

    def __repr__(self) -> str:
        return f"<Bound {self.name}: {self.target.name} {self.relation} {' + '.join(self.terms)}>"

    def __getstate__(self) -> dict[str, Any]:
        return {f: self.__dict__[f] for f in self.__dataclass_fields__}


def declared(kind: type[T], *modules: ModuleType) -> tuple[T, ...]:
    """Return the objects of a type that modules declare under public names, alone or in a tuple or list, in order.

    The contents of dictionaries are not included.
    """
    named = (value for module in modules for name, value in vars(module).items() if not name.startswith("_"))
    flat = (one for value in named for one in (value if isinstance(value, tuple | list) else (value,)))
    return tuple({id(one): one for one in flat if isinstance(one, kind)}.values())


def spell(expression: Any, where: Mapping[Quantity, sp.Expr]) -> Any:
    """Replace abbreviations in ``expression`` until none is left; they may contain one another."""
    for _ in range(len(where)):
        if not (set(where) & expression.free_symbols):
            break
        expression = expression.xreplace(where)
    return expression


def _faults(bound: Statement) -> Iterator[str]:
    """Yield what is wrong with a declaration, which would otherwise fail much later."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*", bound.name):
        yield "a name is lower-case words joined by '_' and '.', such as 'paper.theorem_1'"
    for attribute, kind, description in (
        ("target", Quantity, "a quantity"),
        ("source", Source, "a Source, such as Source('my notes', 'Lemma 1')"),
        ("about", About | None, "an About, such as About('fedavg')"),
        ("statistic", Statistic | None, "a Statistic, such as Statistic('min', 'rounds')"),
        ("terms", Mapping, "a dict of expressions by name"),
        ("given", Mapping, "a dict of values by name"),
    ):
        if not isinstance(value := getattr(bound, attribute), kind):
            yield f"{attribute} must be {description}; got {value!r}"
        if kind is Mapping:
            for key in value:
                if not isinstance(key, str) or not key:
                    yield f"{attribute} must have names as keys; got {key!r}"
    for attribute, value in (("where", bound.where), ("letters", bound.letters)):
        if not isinstance(value, Mapping) or not all(isinstance(q, Quantity) for q in value):
            yield f"{attribute} must be a dict by quantity; got {value!r}"
    for condition in bound.conditions:
        if not isinstance(condition, Condition):
            yield f"conditions must be Condition objects; got {condition!r}"
    stated = [c.words for c in bound.conditions if isinstance(c, Condition)]
    for words in {words for words in stated if stated.count(words) > 1}:
        yield f"two conditions have the words {words!r}; give each its own"
    if bound.relation not in RELATIONS:
        yield f"relation must be one of {' '.join(RELATIONS)}; got {bound.relation!r}"
    if not bound.terms:
        yield "needs at least one named term"
    for label in (*bound.signed, *bound.off_by):
        if label not in bound.terms:
            yield f"unknown term {label!r}; terms: {', '.join(bound.terms)}"
    for label, term in bound.terms.items():
        if not isinstance(term, sp.Expr):
            yield f"term {label!r} must be an expression of quantities; got {term!r}"
    terms = [(f"term {label!r}", term) for label, term in bound.terms.items()]
    meanings = [(f"abbreviation {q.name}", meaning) for q, meaning in bound.where.items()]
    relations = [(f"condition {c.words!r}", c.relation) for c in bound.conditions if c.relation is not None]
    expressions = [_computable(bound, place, expression) for place, expression in (*terms, *meanings, *relations)]
    symbols = {s for e in expressions for s in e.free_symbols}  # without writing abbreviations out, which takes time
    declared = [s for s in symbols if isinstance(s, Quantity)]
    if len(declared) < len(symbols):
        strangers = sorted(str(s) for s in symbols if not isinstance(s, Quantity))
        yield f"{', '.join(strangers)} must be declared with quantity(...)"
    names = sorted(q.name for q in declared)
    if len(set(names)) < len(names):
        yield f"two quantities share the name {next(n for n in names if names.count(n) > 1)!r}"
    for name in bound.given:
        if name not in names:
            yield f"given has the unknown quantity {name!r}; quantities: {', '.join(names)}"
    axes = {q.card.axis for q in declared if q.card.axis}
    if len(axes) > 1:
        yield "quantities vary over more than one axis"
    for axis in axes - {bound.target.card.axis}:
        shared = [meaning for q, meaning in zip(bound.where, meanings, strict=True) if q.card.axis != axis]
        for place, expression in (*terms, *shared):
            if varies(expression, axis):
                yield f"{place} has one value for each of the {axis}, but the target has one: sum or average it"


def _not_computable(expression: sp.Basic) -> str:
    """Return what cannot be computed in an expression, and what to use instead; empty if everything can."""
    strange = next((part for part in sp.preorder_traversal(expression) if not isinstance(part, ALLOWED)), None)
    if strange is None:
        return ""
    functions = ", ".join(sorted(kind.__name__ for kind in COMPUTED[:-1]))
    return (
        f"contains {strange}, which cannot be computed: use real numbers, powers, {functions}, and over clients "
        "ClientSum, ClientMean or ClientMax"
    )


def _computable(bound: Statement, place: str, expression: sp.Basic) -> sp.Basic:
    """Return the expression; raise ``DeclarationError`` if something in it cannot be computed."""
    if fault := _not_computable(expression):
        raise DeclarationError(f"bound {bound.name!r}: {place} {fault}")
    return expression


__all__ = ["MIXED", "ONE", "About", "Condition", "Statement", "Statistic", "assumed", "declared", "spell"]

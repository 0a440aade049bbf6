"""A statement of a text as a frozen description: what is bounded, by which terms, under which conditions."""

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
from sympy.logic.boolalg import BooleanFunction

from .assumptions import Assumption, ASSUMPTIONS
from .errors import BoundsError, DeclarationError
from .operators import equal_clients, varies
from .papers import Source
from .places import PLACES
from .quantities import quantities_of, Quantity
from .unfinished import unfinished
from .units import ONE, Unit
from .weights import Weights

T = TypeVar("T")
RELATIONS = ("<=", "=", ">=", "<~")
READINGS = ("intended", "printed", "code", "proof")
STATISTICS = ("last", "min", "mean", "every", "expectation")
OVER = ("rounds", "iterations", "local iterations", "the training samples")
MIXED = None


@dataclass(frozen=True)
class Condition:
    """What a statement needs: words, and a relation of quantities or an assumption where one can decide it."""

    words: str
    relation: sp.Basic | None = None
    assumption: Assumption | None = None

    def __post_init__(self) -> None:
        if self.relation is not None and self.assumption is not None:
            raise DeclarationError(f"condition {self.words!r}: give a relation or an assumption, not both")
        if self.relation is not None and not _decides(self.relation):
            raise DeclarationError(f"condition {self.words!r} needs a relation such as x <= 1; got {self.relation!r}")
        if self.relation in (sp.true, sp.false):
            raise DeclarationError(f"condition {self.words!r} is {self.relation} whatever the numbers; drop or mend it")

    @classmethod
    def assume(cls, assumption: Assumption | str) -> Condition:
        """An assumption, or the one of ``bounds.ASSUMPTIONS`` that has this name."""
        found = ASSUMPTIONS.get(assumption) if isinstance(assumption, str) else assumption
        if not isinstance(found, Assumption):
            raise DeclarationError(f"assume takes an assumption, such as 'convex'; got {assumption!r}")
        return cls(found.words, assumption=found)

    @property
    def kind(self) -> str:
        """``numeric`` (numbers decide), ``assumption`` (problem, algorithm and setting decide) or ``words``."""
        if self.relation is not None:
            return "numeric"
        return "assumption" if self.assumption is not None else "words"


def assumed(*names: str) -> tuple[Condition, ...]:
    """A condition for each of these assumptions.

    >>> [condition.words for condition in assumed("convex", "one_client")]
    ["every client's loss is convex", 'there is one client']
    """
    return tuple(map(Condition.assume, names))


def _decides(relation: object) -> bool:
    """Whether numbers make it true or false: a relation, or several joined (a symbol alone is true for SymPy)."""
    if isinstance(relation, BooleanFunction):
        return all(map(_decides, relation.args))
    return isinstance(relation, (Relational, bool)) or relation in (sp.true, sp.false)


def _one_of(what: str, word: object, known: tuple[str, ...]) -> None:
    if word not in known:
        raise DeclarationError(f"{what} must be one of {', '.join(repr(w) for w in known if w)}; got {word!r}")


@dataclass(frozen=True)
class About:
    """The algorithm a statement is about, and the reading of it (intended, printed, code, proof)."""

    algorithm: str
    reading: str = "intended"

    def __post_init__(self) -> None:
        _one_of("the reading of an algorithm", self.reading, READINGS)

    def __str__(self) -> str:
        return self.algorithm if self.reading == "intended" else f"{self.algorithm} (reading: {self.reading})"


@dataclass(frozen=True)
class Statistic:
    """Which number of a run is bounded: last, min or mean, over rounds or local iterations, at which model.

    ``weights``: of a mean, or of the iterates that an average is of; none where all have equal weight.
    """

    kind: str
    over: str = ""
    at: str = ""
    weights: Weights | None = None

    def __post_init__(self) -> None:
        _one_of("a statistic", self.kind, STATISTICS)
        _one_of("what a statistic is over", self.over, ("", *OVER))
        _one_of("the model that a statistic is at", self.at, ("", *PLACES))
        if not isinstance(self.weights, Weights | None):
            raise DeclarationError(f"weights of a statistic must be Weights(...); got {self.weights!r}")
        if self.weights is not None and self.kind not in ("mean", "expectation"):
            raise DeclarationError(f"weights are those of a mean; got them with the statistic {self.kind!r}")

    def __str__(self) -> str:
        weighed = "" if self.weights is None else f" with weights {self.weights}"
        place = f" at the {self.at}" if self.at else ""
        return self.kind + (f" over {self.over}" if self.over else "") + weighed + place


@dataclass(frozen=True, eq=False)
class Statement:
    """One statement: ``target relation sum of terms``, if all conditions hold.

    ``terms`` are named and nonnegative on the domain unless listed in ``signed``. ``where`` holds abbreviations
    (quantities that stand for an expression). ``letters`` overrides the LaTeX letter of a quantity. ``off_by`` gives,
    for a term, the unit by which it differs from the target's: the unit of the constant an O(.) hides, or a flaw of the
    printed formula (``MIXED`` when the term adds different units). ``given`` holds values that were fixed.
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

    # ---- what it is made of ----

    @cached_property
    def spelled_terms(self) -> dict[str, sp.Expr]:
        """The terms with abbreviations written out."""
        return {name: self._spelled(f"term {name!r}", term) for name, term in self.terms.items()}

    def _spelled(self, place: str, expression: Any) -> Any:
        """Looked at once more where abbreviations were put in: one may be the zero that another is divided by."""
        spelled = spell(expression, self.where)
        return spelled if spelled is expression else _finished(self, f"{place}, written out,", spelled)

    @cached_property
    def expr(self) -> sp.Expr:
        """The right-hand side as one SymPy expression, abbreviations written out, fixed scalars put in."""
        scalars = {q: sp.nsimplify(self.given[q.name]) for q in self._all if np.ndim(self.given.get(q.name, [])) == 0}
        return sp.Add(*self.spelled_terms.values()).subs(scalars)

    @cached_property
    def relations(self) -> tuple[sp.Basic, ...]:
        """The numeric conditions with abbreviations written out, in the order of ``numeric_conditions``."""
        return tuple(self._spelled(f"condition {c.words!r}", c.relation) for c in self.numeric_conditions)

    @cached_property
    def numeric_conditions(self) -> tuple[Condition, ...]:
        return tuple(c for c in self.conditions if c.kind == "numeric")

    @cached_property
    def _all(self) -> tuple[Quantity, ...]:
        relations = (c.relation for c in self.conditions if c.relation is not None)
        found = quantities_of((*self.terms.values(), *relations))
        for _ in range(len(self.where)):  # as writing the abbreviations out would, which takes long
            found = quantities_of(self.where.get(q, q) for q in found)
        return found

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities whose values the bound needs, sorted by name (those that are fixed left out)."""
        return tuple(q for q in self._all if q.name not in self.given)

    @property
    def axis(self) -> str:
        """The axis some quantity varies over (``clients`` or ``classes``), or empty."""
        return next((q.card.axis for q in self._all if q.card.axis), "")

    def quantity(self, name: str) -> Quantity:
        """The quantity of this name; an unknown one is refused with the nearest names."""
        for q in self.quantities:
            if q.name == name:
                return q
        if name == self.axis:
            raise BoundsError(
                f"{name} is not a symbol of {self.name}, but how many numbers its lists have: give numbers"
            )
        from .letters import unknown_quantity

        raise unknown_quantity(f"quantity of {self.name}", name, [q.name for q in self.quantities], self.source.paper)

    def word_of(self, name: str) -> str:
        """The word of a problem's constants that gives the quantity of this name its value.

        Its own name, unless an assumption says otherwise: a theorem on single samples takes the smoothness of their
        losses, ``sample_smoothness``, where others are content with that of the clients' mean losses.

        >>> from bounds.catalog import get
        >>> get("fedals.one_round").word_of("smoothness"), get("fedinit.theorem_1").word_of("smoothness")
        ('sample_smoothness', 'smoothness')
        """
        asked = (pair for c in self.conditions if c.assumption is not None for pair in c.assumption.constants)
        return dict(asked).get(name, name)

    # ---- relatives ----

    def equal_clients(self) -> Self:
        """The special case of ``clients`` equal clients: weights ``1/clients``, per-client quantities shared by all."""
        return replace(
            self,
            terms={n: equal_clients(t) for n, t in self.spelled_terms.items()},
            conditions=tuple(c for c in map(self._of_equal_clients, self.conditions) if c is not None),
            where={},
            letters={k: v for k, v in self.letters.items() if not k.card.axis},
            note=f"{self.note} For equal clients.".strip(),
        )

    def _of_equal_clients(self, condition: Condition) -> Condition | None:
        """The condition for equal clients, None where these meet it whatever the numbers (equal weights, say)."""
        if condition.kind != "numeric":
            return condition
        relation = equal_clients(spell(condition.relation, self.where))
        return None if relation == sp.true else replace(condition, relation=relation)

    def __repr__(self) -> str:
        return f"<Bound {self.name}: {self.target.name} {self.relation} {' + '.join(self.terms)}>"

    def __getstate__(self) -> dict[str, Any]:
        return {f: self.__dict__[f] for f in self.__dataclass_fields__}


def declared(kind: type[T], *modules: ModuleType) -> tuple[T, ...]:
    """What the modules declare of a kind, in that order: all with a public name of their own, alone or in a tuple.

    Lists count as well; what a dictionary holds has names of its own, and does not.
    """
    named = (value for module in modules for name, value in vars(module).items() if not name.startswith("_"))
    flat = (one for value in named for one in (value if isinstance(value, tuple | list) else (value,)))
    return tuple({id(one): one for one in flat if isinstance(one, kind)}.values())


def spell(expression: Any, where: Mapping[Quantity, sp.Expr]) -> Any:
    """``expression`` with abbreviations replaced until none is left (they may stand for one another)."""
    for _ in range(len(where)):
        if not (set(where) & expression.free_symbols):
            break
        expression = expression.subs(where)
    return expression


def _faults(bound: Statement) -> Iterator[str]:
    """What is wrong with a declaration: a slip would otherwise surface far away."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*", bound.name):
        yield "a name is lower-case words joined by '_' and '.', such as 'paper.theorem_1'"
    for word, kind, wanted in (
        ("target", Quantity, "a quantity"),
        ("source", Source, "a Source, such as Source('my notes', 'Lemma 1')"),
        ("about", About | None, "an About, such as About('fedavg')"),
        ("statistic", Statistic | None, "a Statistic, such as Statistic('min', 'rounds')"),
        ("terms", Mapping, "a dict of expressions by name"),
        ("given", Mapping, "a dict of values by name"),
    ):
        if not isinstance(held := getattr(bound, word), kind):
            yield f"{word} must be {wanted}; got {held!r}"
        if strange := [key for key in held if not isinstance(key, str) or not key] if kind is Mapping else []:
            yield f"{word} must be named by words; got {strange[0]!r}"
    for word, held in (("where", bound.where), ("letters", bound.letters)):
        if not isinstance(held, Mapping) or not all(isinstance(q, Quantity) for q in held):
            yield f"{word} must be a dict by quantity; got {held!r}"
    for condition in bound.conditions:
        if not isinstance(condition, Condition):
            yield f"conditions must be Condition objects; got {condition!r}"
    if bound.relation not in RELATIONS:
        yield f"relation must be one of {' '.join(RELATIONS)}; got {bound.relation!r}"
    if not bound.terms:
        yield "needs at least one named term"
    for label in (*bound.signed, *bound.off_by):
        if label not in bound.terms:
            yield f"there is no term {label!r}; terms: {', '.join(bound.terms)}"
    for label, term in bound.terms.items():
        if not isinstance(term, sp.Expr):
            yield f"term {label!r} must be an expression of quantities; got {term!r}"
    terms = [(f"term {label!r}", term) for label, term in bound.terms.items()]
    meanings = [(f"abbreviation {q.name}", meaning) for q, meaning in bound.where.items()]
    relations = [(f"condition {c.words!r}", c.relation) for c in bound.conditions if c.relation is not None]
    found = [_finished(bound, place, expression) for place, expression in (*terms, *meanings, *relations)]
    symbols = {s for e in found for s in e.free_symbols}  # not spelled out, which takes time
    declared = [s for s in symbols if isinstance(s, Quantity)]
    if len(declared) < len(symbols):
        strangers = sorted(str(s) for s in symbols if not isinstance(s, Quantity))
        yield f"{', '.join(strangers)} must be declared with quantity(...)"
    names = sorted(q.name for q in declared)
    if len(set(names)) < len(names):
        yield f"two quantities share the name {next(n for n in names if names.count(n) > 1)!r}"
    for name in bound.given:
        if name not in names:
            yield f"given holds {name!r}, which is none of its quantities: {', '.join(names)}"
    axes = {q.card.axis for q in declared if q.card.axis}
    if len(axes) > 1:
        yield "quantities vary over more than one axis"
    for axis in axes - {bound.target.card.axis}:
        shared = [found for q, found in zip(bound.where, meanings, strict=True) if q.card.axis != axis]
        for place, expression in (*terms, *shared):
            if varies(expression, axis):
                yield f"{place} is a number for every one of the {axis}, where one is bounded: sum or average it"


def _finished(bound: Statement, place: str, expression: sp.Basic) -> sp.Basic:
    """The expression, unless something in it cannot be computed: better said here than at its first value."""
    if said := unfinished(expression):
        raise DeclarationError(f"bound {bound.name!r}: {place} {said}")
    return expression


__all__ = ["MIXED", "ONE", "About", "Condition", "Statement", "Statistic", "assumed", "declared", "spell"]

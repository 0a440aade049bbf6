"""Checks as a row of ``claims.toml`` writes them: one statement on formulas, and clauses after it.

A formula has the paper's letters, the quantities of the vocabulary, the names of the paper's bounds and what the file's
``define`` gives a name. ``theorem_1["noise", "start"]`` are terms of a bound, ``theorem_1(eta=1/L)`` has expressions
put in for quantities, as has ``at(FORMULA, eta=1/L)``; ``slope(FORMULA, eta)`` is its derivative, ``of(f)`` what a
function of the book in Python gives, ``point(K=5)`` numbers for ``given``. Of formulas A, B, a bound T, quantities K, n
and conditions c, d:

    A == B                          Same            clauses: ratio R, difference D, where c, d
    A <= B                          ImpliedBy                where, under T, squares A, B, within K 1..40, n 0..0.1
    A rises in K, A falls in K      MonotoneIn               where
    A -> B as K -> oo               TendsTo                  where
    A is of order B as K -> oo      OrderIs                  where (``at most of order``: O for Theta)
    A is smallest at B over K       ArgminIs                 where
    A has slope R +- E in K from 10^4 to 10^18 by 10^2
                                    SlopeIs                  given
    A has unit U                    MeasuredIn               off by V (``has mixed units for U``)
    A can be below B                Informative              where, under, within, given K=5, n=2
    T ends at K <= B                EdgeIs                   where (``<``: without the edge; ``>=``: from there on)
    T requires c, d                 requires                 several, joined by ``;``
    T requires c, d assumes x, y    States                   words 2 (conditions that are words)
    T survives a search             Dominates                family quadratics
    not STATEMENT                   Refuted

Anything else is a check in Python from the module of the rows, ``noisy``, or one with arguments after the book,
``noisy(0)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import sympy as sp
from sympy.parsing.sympy_parser import auto_number, parse_expr

from bounds import units, vocabulary
from bounds.catalog import BOUNDS
from bounds.operators import ClassMax, ClassSum, ClientMax, ClientMean, ClientSum

from .checkers import (
    All,
    ArgminIs,
    At,
    Dominates,
    EdgeIs,
    ImpliedBy,
    Informative,
    MeasuredIn,
    MonotoneIn,
    OrderIs,
    Refuted,
    requires,
    resolve,
    Same,
    SlopeIs,
    States,
    TendsTo,
    term,
)
from .checkers.formulas import Formula, slope_of
from .checkers.numbers import value
from .claim import Book, Check, Checks, ClaimError

CLAUSES = r" (where|under|within|squares|ratio|difference|as|over|off by|given|assumes|words|family) "
FUNCTIONS = {
    name: getattr(sp, name)
    for name in ("sqrt", "exp", "log", "Max", "Min", "Or", "summation", "Integer", "Float", "oo")
}
FUNCTIONS |= {f.__name__: f for f in (ClientSum, ClientMean, ClientMax, ClassSum, ClassMax)}


class Named(sp.Dummy):
    """A formula that depends on the book of bounds, as a symbol of an expression; ``names`` are those of its text."""

    formula: Formula
    names: Mapping[str, Any]

    @classmethod
    def of(cls, formula: Formula, names: Mapping[str, Any]) -> Named:
        made = cls("formula")
        made.formula, made.names = formula, names
        return made

    def __getitem__(self, terms: str | tuple[str, ...]) -> Named:
        return Named.of(term(str(self.formula), *((terms,) if isinstance(terms, str) else terms)), self.names)

    def __call__(self, **put: Any) -> Named:
        return Named.of(At(self.formula, {self.names[q]: _formula(new) for q, new in put.items()}), self.names)


@dataclass(frozen=True)
class Composed:
    """An expression with symbols that stand for formulas."""

    expression: sp.Basic
    parts: Mapping[sp.Symbol, Formula]

    def __call__(self, book: Book) -> sp.Basic:
        return self.expression.xreplace({symbol: resolve(formula, book) for symbol, formula in self.parts.items()})


def _formula(made: Any) -> Any:
    """What a text made as a checker takes it: a bound's name, an expression, or one with formulas in it."""
    if isinstance(made, Named):
        return made.formula
    inside = made.atoms(Named) if isinstance(made, sp.Basic) else ()
    return Composed(made, {part: part.formula for part in inside}) if inside else made


class Texts:
    """What the names in the texts of one table stand for: letters, quantities, bounds, definitions, Python checks."""

    def __init__(self, paper: str, define: Mapping[str, str], made: Mapping[str, Any]) -> None:
        letters = {} if paper == "classics" else vars(import_module(f"bounds.{paper}.letters"))
        self.names: dict[str, Any] = {**vars(units), **vars(vocabulary), **letters}
        for name in BOUNDS:
            if name.startswith(f"{paper}."):
                self.names[name.removeprefix(f"{paper}.")] = Named.of(name, self.names)
        self.names |= {**made, **FUNCTIONS, "at": self.put}
        self.names["of"] = lambda formula: Named.of(formula, self.names)
        self.names["slope"] = lambda formula, by: Named.of(
            lambda book: slope_of(resolve(_formula(formula), book), by), self.names
        )
        self.names["point"] = lambda **values: {self.names[q]: number for q, number in values.items()}
        for name, text in define.items():
            self.names[name] = self.value(text)

    def value(self, text: str) -> Any:
        """What a text stands for: an expression, or a tuple of them where it has commas."""
        try:
            return parse_expr(" ".join(text.split()), self.names, (auto_number,), FUNCTIONS)
        except Exception as error:
            raise ClaimError(f"{text!r} is not a formula: {error}") from error

    def put(self, formula: Any, *pair: sp.Basic, **put: Any) -> Named:
        """A formula with expressions in the place of quantities, or the second of two in that of the first."""
        swapped = {_formula(old): _formula(new) for old, new in zip(pair[::2], pair[1::2], strict=True)}
        swapped |= {self.names[q]: _formula(new) for q, new in put.items()}
        return Named.of(At(_formula(formula), swapped), self.names)

    def formula(self, text: str) -> Formula:
        return _formula(self.value(text))

    def several(self, text: str) -> tuple[Any, ...]:
        return tuple(map(_formula, _flat(self.value(f"({text},)") if text else ())))

    def checked(self, check: str | Mapping[str, Any], wrong: Iterable[str] = ()) -> Checks:
        """The check of a text, or those of several by label; ``wrong`` are labels audited as failing."""
        if isinstance(check, str):
            return self.check(check)
        found: dict[str, Check] = {}
        for label, part in check.items():
            made = self.checked(part)
            found[label] = All(made) if isinstance(made, Mapping) else made
        return All(found, tuple(wrong)) if wrong else found

    def check(self, text: str) -> Check:
        text = " ".join(text.split())
        if text.startswith("not "):
            return Refuted(self.check(text.removeprefix("not ")))
        head, *rest = re.split(CLAUSES, text)
        clauses = dict(zip(rest[::2], rest[1::2], strict=True))
        try:
            matches = ((make, re.fullmatch(pattern, head)) for pattern, make in HEADS.items())
            made = next((make(self, clauses, *match.groups()) for make, match in matches if match), None)
        except (KeyError, ValueError, TypeError) as error:
            raise ClaimError(f"{text!r}: {error!r}") from error
        if made is None:
            return self.in_python(text)
        if clauses:
            raise ClaimError(f"{text!r} has no use for {', '.join(clauses)}")
        return made

    def in_python(self, text: str) -> Check:
        """A check that the module of the rows defines, with the arguments after the book that the text gives."""
        found = re.fullmatch(r"(\w+)(?:\((.*)\))?", text)
        check = self.names.get(found[1]) if found else None
        if found is None or not callable(check) or isinstance(check, sp.Basic):
            raise ClaimError(f"{text!r} is not a statement, nor a check of its module")
        if found[2] is None:
            return cast(Check, check)
        names = {**self.names, "given": lambda *plain, **named: (plain, named)}
        given, named = parse_expr(f"given({found[2]})", names, (), {})
        return lambda book: check(book, *given, **named)

    def options(self, clauses: dict[str, str], *names: str) -> dict[str, Any]:
        """Arguments of a checker from clauses, which are taken out."""
        found: dict[str, Any] = {}
        for name in set(names) & set(clauses):
            text = clauses.pop(name)
            if name in ("where", "squares"):
                found[name] = self.several(text)
            elif name == "under":
                found[name] = tuple(str(bound) for bound in self.several(text))
            elif name == "within":
                ranges = (part.replace("..", " ").split() for part in text.split(", "))
                found[name] = {self.names[q]: (float(low), float(high)) for q, low, high in ranges}
            elif name == "given":
                found[name] = self.value(f"point({text})") if "=" in text else self.names[text]
            else:
                found[name] = self.formula(text)
        return found


def _flat(parts: Any) -> Iterable[Any]:
    for part in parts:
        yield from _flat(part) if isinstance(part, tuple) else (part,)


Clauses = dict[str, str]


def _same(t: Texts, clauses: Clauses, left: str, right: str) -> Check:
    return Same(t.formula(left), t.formula(right), **t.options(clauses, "ratio", "difference", "where"))


def _implied(t: Texts, clauses: Clauses, left: str, right: str) -> Check:
    return ImpliedBy(t.formula(left), t.formula(right), **t.options(clauses, "where", "under", "squares", "within"))


def _monotone(t: Texts, clauses: Clauses, of: str, way: str, by: str) -> Check:
    return MonotoneIn(t.formula(of), t.names[by], way == "rises", **t.options(clauses, "where"))


def _limit(t: Texts, clauses: Clauses, of: str, limit: str) -> Check:
    by, to = clauses.pop("as").split(" -> ")
    return TendsTo(t.formula(of), t.names[by], t.value(to), t.formula(limit), **t.options(clauses, "where"))


def _order(t: Texts, clauses: Clauses, of: str, most: str, order: str) -> Check:
    by, to = clauses.pop("as").split(" -> ")
    parts = t.formula(of), t.names[by], t.formula(order), t.value(to)
    return OrderIs(*parts, at_most=bool(most), **t.options(clauses, "where"))


def _smallest(t: Texts, clauses: Clauses, of: str, printed: str) -> Check:
    by = t.names[clauses.pop("over")]
    return ArgminIs(t.formula(of), by, t.formula(printed), **t.options(clauses, "where"))


def _slope(
    t: Texts, clauses: Clauses, of: str, power: str, off: str | None, by: str, first: str, last: str, step: str | None
) -> Check:
    formula, quantity, given = t.formula(of), t.names[by], t.options(clauses, "given").get("given", {})
    tens = [sp.Integer(10) ** e for e in range(int(first), int(last) + 1, int(step or 1))]

    def curve(book: Book) -> tuple[list[float], list[float]]:
        plain = resolve(formula, book).xreplace({q: v for q, v in given.items() if q != quantity})
        return [float(x) for x in tens], [float(value(plain, {quantity: x})) for x in tens]

    return SlopeIs(curve, float(t.value(power)), float(off or 0.05))


def _unit(t: Texts, clauses: Clauses, of: str, mixed: str, unit: str) -> Check:
    off = t.value(clauses.pop("off by")) if "off by" in clauses else None
    return MeasuredIn(t.formula(of), t.value(unit), off, bool(mixed))


def _informative(t: Texts, clauses: Clauses, bound: str, trivial: str) -> Check:
    return Informative(t.formula(bound), t.formula(trivial), **t.options(clauses, "given", "where", "under", "within"))


def _edge(t: Texts, clauses: Clauses, bound: str, by: str, side: str, edge: str) -> Check:
    below, closed = side.startswith("<"), side.endswith("=")
    return EdgeIs(str(t.formula(bound)), t.names[by], t.formula(edge), below, closed, **t.options(clauses, "where"))


def _requires(t: Texts, clauses: Clauses, bound: str, conditions: str) -> Check:
    if "assumes" in clauses:
        named = (t.names.get(name, name) for name in clauses.pop("assumes").split(", "))
        assumed = tuple(name for one in named for name in (one if isinstance(one, tuple) else (str(one),)))
        words = int(clauses.pop("words", 0))
        return States(str(t.formula(bound)), t.several(conditions), assumed, words)
    asked: dict[str, tuple[sp.Basic, ...]] = {}
    for part in f"{bound} requires {conditions}".split("; "):
        names, _, wanted = part.partition(" requires ")
        asked |= dict.fromkeys((str(t.formula(name)) for name in names.split(", ")), t.several(wanted))
    return requires(asked)


def _dominates(t: Texts, clauses: Clauses, bound: str) -> Check:
    return Dominates(str(t.formula(bound)), family=clauses.pop("family", None))


HEADS: dict[str, Callable[..., Check]] = {
    r"(.+?) requires ?(.*)": _requires,
    r"(.+) ends at (\w+) (<=|<|>=|>) (.+)": _edge,
    r"(.+) survives a search": _dominates,
    r"(.+) can be below (.+)": _informative,
    r"(.+) has slope (\S+)(?: \+- (\S+))? in (\w+) from 10\^(\d+) to 10\^(\d+)(?: by 10\^(\d+))?": _slope,
    r"(.+) has (mixed )?units? (?:for )?(.+)": _unit,
    r"(.+) is (at most )?of order (.+)": _order,
    r"(.+) is smallest at (.+)": _smallest,
    r"(.+) (rises|falls) in (\w+)": _monotone,
    r"(.+) -> (.+)": _limit,
    r"(.+) == (.+)": _same,
    r"(.+) <= (.+)": _implied,
}
"""The statements, in the order in which they are tried."""

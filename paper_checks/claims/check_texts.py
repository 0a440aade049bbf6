"""Parse the checks in ``claims.toml``: a statement on formulas, followed by clauses.

A formula may use the paper's symbols, the quantities of the vocabulary, the names of the paper's bounds and the names
that the file's ``define`` gives to formulas. ``theorem_1["noise", "start"]`` is the sum of these terms of a bound;
``theorem_1(eta=1/L)`` and ``at(FORMULA, eta=1/L)`` substitute expressions for quantities; ``slope(FORMULA, eta)`` is
the derivative (``slope(FORMULA, eta, 2)`` the second); ``for_equal_clients(FORMULA)`` is the formula for identical
clients of equal weights; ``of(f)`` is the formula that a Python function of the book returns; ``point(K=5)`` are
numbers for ``given``.

The statements, for formulas A and B, a bound T, quantities K and n, and conditions c and d:

    A == B                          Same            clauses: ratio R, difference D, where c, d
    A <= B                          ImpliedBy                where, under T, squares A, B, within K 1..40, n 0..0.1
    A rises in K, A falls in K      MonotoneIn               where
    A -> B as K -> oo               TendsTo                  where
    A is of order B as K -> oo      OrderIs                  where (``at most of order``: O for Theta)
    A is smallest at B over K       ArgminIs                 ratio R, where
    A has slope R +- E in K from 10^4 to 10^18 by 10^2
                                    SlopeIs                  given
    A has unit U                    MeasuredIn               off by V (``has mixed units for U``)
    A can be below B                Informative              where, under, within, given K=5, n=2
    T ends at K <= B                EdgeIs                   where (``<``: edge excluded; ``>=``: valid above the edge)
    T requires c, d                 requires                 several, joined by ``;``
    T requires c, d assumes x, y    States                   words 2 (number of conditions in words), relation =
    T survives a search             Dominates                family quadratics, seed 1
    T is broken by FILE             Broken                   ratio R
    not STATEMENT                   Refuted

Any other text names a check in Python: ``noisy``, a function of the section's module, or ``noisy(0)`` with arguments
after the book; ``runs.noisy(0)`` is a check in another module of the paper.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import isfunction
from typing import Any, cast

import sympy as sp

from bounds import assumptions, units, vocabulary
from bounds.catalog import BOUNDS
from bounds.operators import ClassMax, ClassSum, ClientMax, ClientMean, ClientSum, equal_clients

from . import checkers
from .checkers.formulas import At, Formula, resolve, slope_of, term
from .checkers.numbers import value
from .claim import Book, Check, Checks, ClaimError

CLAUSES = r" (where|under|within|squares|ratio|difference|as|over|off by|given|assumes|words|relation|family|seed) "
FUNCTIONS = {
    name: getattr(sp, name)
    for name in ("sqrt", "exp", "log", "Max", "Min", "Or", "Eq", "summation", "Integer", "Float", "oo")
}
FUNCTIONS |= {f.__name__: f for f in (ClientSum, ClientMean, ClientMax, ClassSum, ClassMax)}


class Named(sp.Dummy):
    """A symbol that stands for a formula which depends on the book of bounds; ``names`` resolve the names in texts."""

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
    """A formula: an expression in which ``parts`` gives the formulas that some symbols stand for."""

    expression: sp.Basic
    parts: Mapping[sp.Symbol, Formula]

    def __call__(self, book: Book) -> sp.Basic:
        return self.expression.xreplace({symbol: resolve(formula, book) for symbol, formula in self.parts.items()})


def _formula(made: Any) -> Any:
    """Convert the value of a text to a formula for checkers: a bound's name, an expression, or ``Composed``."""
    if isinstance(made, Named):
        return made.formula
    inside = made.atoms(Named) if isinstance(made, sp.Basic) else ()
    return Composed(made, {part: part.formula for part in inside}) if inside else made


class _ExactNumbers(ast.NodeTransformer):
    """Turn numbers in source code into SymPy's numbers, so that 1/3 is exact."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) not in (int, float):
            return node
        kind = ast.Name("Integer" if isinstance(node.value, int) else "Float", ast.Load())
        return ast.Call(kind, [ast.Constant(str(node.value))], [])


class Names(dict[str, Any]):
    """The values of the names in texts; texts in ``defined`` are evaluated when their names are first used."""

    def __init__(self, defined: Mapping[str, str]) -> None:
        super().__init__()
        self.defined = defined

    def __missing__(self, name: str) -> Any:
        self[name] = self.read(self.defined[name])
        return self[name]

    def read(self, text: str, exact: bool = True) -> Any:
        """Evaluate a Python expression; with ``exact`` its numbers are SymPy's."""
        tree = ast.parse(" ".join(text.split()), mode="eval")
        if exact:
            tree = ast.fix_missing_locations(_ExactNumbers().visit(tree))
        return eval(compile(tree, text, "eval"), {}, self)


class Texts:
    """Parses the texts of a section; ``define``: definitions of the file, ``made``: objects of its module."""

    def __init__(self, paper: str, define: Mapping[str, str], made: Mapping[str, Any]) -> None:
        self.paper = paper
        letters = {} if paper == "classics" else vars(import_module(f"bounds.{paper}.letters"))
        self.names = Names(define)
        known = {**vars(assumptions), **vars(units), **vars(vocabulary), **letters}
        bounds = {name.removeprefix(f"{paper}."): name for name in BOUNDS if name.startswith(f"{paper}.")}
        own = {**FUNCTIONS, "at": self.put, "of": self.of, "slope": self.slope, "for_equal_clients": self.equal_clients}
        if clash := {*bounds, *own} & {name for name, item in made.items() if isfunction(item)}:
            raise ClaimError(
                f"{', '.join(sorted(clash))}: a function in the claims of {paper} has the name of a bound or of a "
                "built-in function"
            )
        known |= {name: self.of(bound) for name, bound in bounds.items()} | {**made, **own}
        known["point"] = lambda **values: {self.names[q]: number for q, number in values.items()}
        self.names.update({name: found for name, found in known.items() if name not in define})

    def value(self, text: str) -> Any:
        """Evaluate a text: an expression, or a tuple of them if it has commas."""
        try:
            return self.names.read(text)
        except Exception as error:
            raise ClaimError(f"{text!r} is not a formula: {error}") from error

    def of(self, formula: Formula) -> Named:
        return Named.of(formula, self.names)

    def slope(self, formula: Any, by: Any, order: int = 1) -> Named:
        made = _formula(formula)
        return self.of(lambda book: slope_of(resolve(made, book), by, int(order)))

    def equal_clients(self, formula: Any) -> Any:
        made = _formula(formula)
        return equal_clients(made) if isinstance(made, sp.Basic) else self.of(lambda b: equal_clients(resolve(made, b)))

    def put(self, formula: Any, *pair: sp.Basic, **put: Any) -> Named:
        """Substitute expressions for quantities given by name, or in ``pair`` the second expression for the first."""
        substitutes = {_formula(old): _formula(new) for old, new in zip(pair[::2], pair[1::2], strict=True)}
        substitutes |= {self.names[q]: _formula(new) for q, new in put.items()}
        return self.of(At(_formula(formula), substitutes))

    def formula(self, text: str) -> Formula:
        return _formula(self.value(text))

    def several(self, text: str) -> tuple[Any, ...]:
        """Return the formulas of a text in which they are separated by commas; an empty text has none."""
        return tuple(map(_formula, _flat(self.value(f"({text},)") if text else ())))

    def checked(self, check: str | Mapping[str, Any], wrong: Iterable[str] = ()) -> Checks:
        """Return the check that a text states, or several by label; ``wrong`` are labels audited as failing.

        A mapping may instead have ``readings``, the checks by reading of an unclear text, and ``holding``, the readings
        audited as holding.
        """
        if isinstance(check, str):
            return self.check(check)
        if "readings" in check:
            return checkers.Readings(self._labelled(check["readings"]), tuple(check.get("holding", ())))
        checks = self._labelled(check)
        return checkers.All(checks, tuple(wrong)) if wrong else checks

    def _labelled(self, checks: Mapping[str, Any]) -> dict[str, Check]:
        by_label = {label: self.checked(part) for label, part in checks.items()}
        return {label: checkers.All(part) if isinstance(part, Mapping) else part for label, part in by_label.items()}

    def check(self, text: str) -> Check:
        """Return the check that one text states."""
        text = " ".join(text.split())
        if text.startswith("not "):
            return checkers.Refuted(self.check(text.removeprefix("not ")))
        if re.match(r"\w+\.\w+(\(|$)", text):
            return self.in_python(text)
        head, *rest = re.split(CLAUSES, text)
        clauses = dict(zip(rest[::2], rest[1::2], strict=True))
        for pattern, make in STATEMENTS.items():
            if match := re.fullmatch(pattern, head):
                try:
                    check = make(self, clauses, *match.groups())
                except (KeyError, ValueError, TypeError) as error:
                    raise ClaimError(f"{text!r}: {error!r}") from error
                if clauses:
                    raise ClaimError(f"{text!r}: the statement does not take {', '.join(clauses)}")
                return check
        return self.in_python(text)

    def in_python(self, text: str) -> Check:
        """Return a check that a module of the paper defines, with the arguments that the text gives after the book."""
        match = re.fullmatch(r"(?:(\w+)\.)?(\w+)(?:\((.*)\))?", text)
        if match is None:
            raise ClaimError(f"{text!r} is neither a statement nor a check in Python")
        module, name, arguments = match.groups()
        names = vars(import_module(f"{__package__}.{self.paper}.{module}")) if module else self.names
        check = names.get(name)
        if not callable(check) or isinstance(check, sp.Basic):
            raise ClaimError(f"{text!r} is neither a statement nor a check of its module")
        if arguments is None:
            return cast(Check, check)
        positional, named = self.names.read(f"(lambda *args, **named: (args, named))({arguments})", exact=False)
        return lambda book: check(book, *positional, **named)

    def options(self, clauses: dict[str, str], *names: str) -> dict[str, Any]:
        """Return the arguments of a checker from the clauses of these names, and remove them from ``clauses``."""
        arguments: dict[str, Any] = {}
        for name in set(names) & set(clauses):
            text = clauses.pop(name)
            if name in ("where", "squares"):
                arguments[name] = self.several(text)
            elif name == "under":
                arguments[name] = tuple(str(bound) for bound in self.several(text))
            elif name == "within":
                ranges = (part.replace("..", " ").split() for part in text.split(", "))
                arguments[name] = {self.names[q]: (float(low), float(high)) for q, low, high in ranges}
            elif name == "given":
                arguments[name] = self.value(f"point({text})") if "=" in text else self.names[text]
            else:
                arguments[name] = self.formula(text)
        return arguments


def _flat(parts: Any) -> Iterable[Any]:
    for part in parts:
        yield from _flat(part) if isinstance(part, tuple) else (part,)


Clauses = dict[str, str]


def _same(t: Texts, clauses: Clauses, left: str, right: str) -> Check:
    return checkers.Same(t.formula(left), t.formula(right), **t.options(clauses, "ratio", "difference", "where"))


def _implied(t: Texts, clauses: Clauses, left: str, right: str) -> Check:
    options = t.options(clauses, "where", "under", "squares", "within")
    return checkers.ImpliedBy(t.formula(left), t.formula(right), **options)


def _monotone(t: Texts, clauses: Clauses, of: str, way: str, by: str) -> Check:
    return checkers.MonotoneIn(t.formula(of), t.names[by], way == "rises", **t.options(clauses, "where"))


def _limit(t: Texts, clauses: Clauses, of: str, limit: str) -> Check:
    by, to = clauses.pop("as").split(" -> ")
    return checkers.TendsTo(t.formula(of), t.names[by], t.value(to), t.formula(limit), **t.options(clauses, "where"))


def _order(t: Texts, clauses: Clauses, of: str, most: str, order: str) -> Check:
    by, to = clauses.pop("as").split(" -> ")
    parts = t.formula(of), t.names[by], t.formula(order), t.value(to)
    return checkers.OrderIs(*parts, at_most=bool(most), **t.options(clauses, "where"))


def _smallest(t: Texts, clauses: Clauses, of: str, printed: str) -> Check:
    by = t.names[clauses.pop("over")]
    return checkers.ArgminIs(t.formula(of), by, t.formula(printed), **t.options(clauses, "ratio", "where"))


def _slope(
    t: Texts, clauses: Clauses, of: str, power: str, off: str | None, by: str, first: str, last: str, step: str | None
) -> Check:
    formula, quantity, fixed = t.formula(of), t.names[by], t.options(clauses, "given").get("given", {})
    powers = [sp.Integer(10) ** e for e in range(int(first), int(last) + 1, int(step or 1))]

    def curve(book: Book) -> tuple[list[float], list[float]]:
        of_quantity = resolve(formula, book).xreplace({q: v for q, v in fixed.items() if q != quantity})
        return [float(x) for x in powers], [float(value(of_quantity, {quantity: x})) for x in powers]

    return checkers.SlopeIs(curve, float(t.value(power)), float(off or 0.05))


def _unit(t: Texts, clauses: Clauses, of: str, mixed: str, unit: str) -> Check:
    off = t.value(clauses.pop("off by")) if "off by" in clauses else None
    return checkers.MeasuredIn(t.formula(of), t.value(unit), off, bool(mixed))


def _informative(t: Texts, clauses: Clauses, bound: str, trivial: str) -> Check:
    options = t.options(clauses, "given", "where", "under", "within")
    return checkers.Informative(t.formula(bound), t.formula(trivial), **options)


def _edge(t: Texts, clauses: Clauses, bound: str, by: str, side: str, edge: str) -> Check:
    below, closed = side.startswith("<"), side.endswith("=")
    options = t.options(clauses, "where")
    return checkers.EdgeIs(str(t.formula(bound)), t.names[by], t.formula(edge), below, closed, **options)


def _requires(t: Texts, clauses: Clauses, bound: str, conditions: str) -> Check:
    if clauses:
        assumed = [t.names[name] if name in t.names.defined else name for name in _listed(clauses.pop("assumes", ""))]
        words, relation = int(clauses.pop("words", 0)), clauses.pop("relation", "<=")
        return checkers.States(str(t.formula(bound)), t.several(conditions), tuple(_flat(assumed)), words, relation)
    required: dict[str, tuple[sp.Basic, ...]] = {}
    for part in f"{bound} requires {conditions}".split("; "):
        names, _, relations = part.partition(" requires ")
        required |= dict.fromkeys((str(t.formula(name)) for name in names.split(", ")), t.several(relations))
    return checkers.requires(required)


def _listed(text: str) -> list[str]:
    return text.split(", ") if text else []


def _dominates(t: Texts, clauses: Clauses, bound: str) -> Check:
    seed, family = int(clauses.pop("seed", 0)), clauses.pop("family", None)
    return checkers.Dominates(str(t.formula(bound)), seed=seed, family=family)


def _broken(t: Texts, clauses: Clauses, bound: str, witness: str) -> Check:
    ratio = clauses.pop("ratio", None)
    return checkers.Broken(str(t.formula(bound)), witness, None if ratio is None else float(t.value(ratio)))


STATEMENTS: dict[str, Callable[..., Check]] = {
    r"(.+?) requires ?(.*)": _requires,
    r"(.+) ends at (\w+) (<=|<|>=|>) (.+)": _edge,
    r"(.+) survives a search": _dominates,
    r"(.+) is broken by (\S+)": _broken,
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
"""For each pattern of a statement the function that makes its check; patterns are tried in this order."""

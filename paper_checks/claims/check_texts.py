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
from .claim import Book, Check, ClaimError

FUNCTIONS = {
    name: getattr(sp, name)
    for name in ("sqrt", "exp", "log", "Max", "Min", "Or", "Eq", "summation", "Integer", "Float", "oo")
}
FUNCTIONS |= {f.__name__: f for f in (ClientSum, ClientMean, ClientMax, ClassSum, ClassMax)}


class FormulaSymbol(sp.Dummy):
    """A symbol in an expression that stands for a formula which depends on the book of bounds, such as a bound's name.

    ``names`` are the values of the names in texts, in which a call finds the quantities that it substitutes.
    """

    formula: Formula
    names: Mapping[str, Any]

    @classmethod
    def standing_for(cls, formula: Formula, names: Mapping[str, Any]) -> FormulaSymbol:
        symbol = cls("formula")
        symbol.formula, symbol.names = formula, names
        return symbol

    def __getitem__(self, terms: str | tuple[str, ...]) -> FormulaSymbol:
        of_terms = term(str(self.formula), *((terms,) if isinstance(terms, str) else terms))
        return FormulaSymbol.standing_for(of_terms, self.names)

    def __call__(self, **substitutes: Any) -> FormulaSymbol:
        by_quantity = {self.names[name]: formula_of(new) for name, new in substitutes.items()}
        return FormulaSymbol.standing_for(At(self.formula, by_quantity), self.names)


def formula_of(evaluated: Any) -> Any:
    """Return a text's value as checkers take it: formulas in place of the symbols that stand for them."""
    if isinstance(evaluated, FormulaSymbol):
        return evaluated.formula
    symbols = evaluated.atoms(FormulaSymbol) if isinstance(evaluated, sp.Basic) else ()
    symbols = sorted(symbols, key=lambda symbol: symbol.dummy_index)  # in the order of the text, as the set has none
    return At(evaluated, {symbol: symbol.formula for symbol in symbols}) if symbols else evaluated


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
        self[name] = self.evaluate(self.defined[name])
        return self[name]

    def evaluate(self, text: str, exact: bool = True) -> Any:
        """Evaluate a Python expression; with ``exact`` its numbers are SymPy's."""
        tree = ast.parse(" ".join(text.split()), mode="eval")
        if exact:
            tree = ast.fix_missing_locations(_ExactNumbers().visit(tree))
        return eval(compile(tree, text, "eval"), {}, self)


class CheckParser:
    """Makes the checks of a section from their texts.

    ``define`` are the definitions of the paper's file, ``of_module`` the values in the section's Python module.
    """

    def __init__(self, paper: str, define: Mapping[str, str], of_module: Mapping[str, Any]) -> None:
        self.paper = paper
        self.names = Names(define)
        letters = {} if paper == "classics" else vars(import_module(f"bounds.{paper}.letters"))
        bounds = {name.removeprefix(f"{paper}."): name for name in BOUNDS if name.startswith(f"{paper}.")}
        own = {**FUNCTIONS, "at": self.at, "of": self.symbol, "slope": self.slope,
               "for_equal_clients": self.for_equal_clients, "point": self.point_of}  # fmt: skip
        if clash := {*bounds, *own} & {name for name, item in of_module.items() if isfunction(item)}:
            raise ClaimError(
                f"{', '.join(sorted(clash))}: a function in the claims of {paper} has the name of a bound or of a "
                "built-in function"
            )
        known = {**vars(assumptions), **vars(units), **vars(vocabulary), **letters}
        known |= {name: self.symbol(bound) for name, bound in bounds.items()} | {**of_module, **own}
        self.names.update({name: meaning for name, meaning in known.items() if name not in define})

    # ---- functions that texts may call ----

    def symbol(self, formula: Formula) -> FormulaSymbol:
        return FormulaSymbol.standing_for(formula, self.names)

    def slope(self, formula: Any, by: Any, order: int = 1) -> FormulaSymbol:
        differentiated = formula_of(formula)
        return self.symbol(lambda book: slope_of(resolve(differentiated, book), by, int(order)))

    def for_equal_clients(self, formula: Any) -> Any:
        general = formula_of(formula)
        if isinstance(general, sp.Basic):
            return equal_clients(general)
        return self.symbol(lambda book: equal_clients(resolve(general, book)))

    def at(self, formula: Any, *pair: sp.Basic, **substitutes: Any) -> FormulaSymbol:
        """Substitute expressions for quantities given by name, or in ``pair`` the second expression for the first."""
        by_expression = {formula_of(old): formula_of(new) for old, new in zip(pair[::2], pair[1::2], strict=True)}
        by_expression |= {self.names[name]: formula_of(new) for name, new in substitutes.items()}
        return self.symbol(At(formula_of(formula), by_expression))

    def point_of(self, **numbers: Any) -> dict[Any, Any]:
        return {self.names[name]: number for name, number in numbers.items()}

    # ---- parts of a text ----

    def value(self, text: str) -> Any:
        """Evaluate an expression, or a tuple of them if the text has commas."""
        try:
            return self.names.evaluate(text)
        except Exception as error:
            raise ClaimError(f"{text!r} is not a formula: {error}") from error

    def formula(self, text: str) -> Formula:
        return formula_of(self.value(text))

    def formulas(self, text: str) -> tuple[Any, ...]:
        """Return the formulas of a text in which they are separated by commas; an empty text has none."""
        return tuple(map(formula_of, _flat(self.value(f"({text},)") if text else ())))

    def bound(self, text: str) -> str:
        return str(self.formula(text))

    def bounds(self, text: str) -> tuple[str, ...]:
        return tuple(map(str, self.formulas(text)))

    def ranges(self, text: str) -> dict[Any, tuple[float, float]]:
        """Return the intervals of ``K 1..40, n 0..0.1`` by quantity."""
        parts = (part.replace("..", " ").split() for part in text.split(", "))
        return {self.names[name]: (float(low), float(high)) for name, low, high in parts}

    def point(self, text: str) -> Any:
        """Return the numbers of ``K=5, n=2`` by quantity, or of a point that the module has."""
        return self.value(f"point({text})") if "=" in text else self.names[text]

    def assumptions(self, text: str) -> tuple[str, ...]:
        """Return names of assumptions; a defined name stands for several."""
        return tuple(_flat(self.names[name] if name in self.names.defined else name for name in text.split(", ")))

    # ---- checks ----

    def checks(self, check: str | Check | Mapping[str, Any], wrong: Iterable[str] = ()) -> Check:
        """Return the check that a text states, or all of a mapping; ``wrong`` are its labels audited as failing.

        A mapping may instead have ``readings``, the checks by reading of an unclear text, and ``holding``, the readings
        audited as holding.
        """
        if isinstance(check, str):
            return self.check(check)
        if callable(check):
            return check
        if "readings" in check:
            return checkers.Readings(self._by_label(check["readings"]), tuple(check.get("holding", ())))
        return checkers.All(self._by_label(check), tuple(wrong))

    def _by_label(self, checks: Mapping[str, Any]) -> dict[str, Check]:
        return {label: self.checks(part) for label, part in checks.items()}

    def check(self, text: str) -> Check:
        """Return the check that one text states."""
        text = " ".join(text.split())
        if text.startswith("not "):
            return checkers.Refuted(self.check(text.removeprefix("not ")))
        if re.match(r"\w+\.\w+(\(|$)", text):
            return self.python_check(text)
        statement, *rest = re.split(rf" ({'|'.join(CLAUSES)}) ", text)
        for pattern, make in STATEMENTS.items():
            if match := re.fullmatch(pattern, statement):
                try:
                    clauses = zip(rest[::2], rest[1::2], strict=True)
                    return make(self, *match.groups(), **{name.replace(" ", "_"): CLAUSES[name](self, clause)
                                                          for name, clause in clauses})  # fmt: skip
                except (KeyError, ValueError, TypeError) as error:  # such as a clause that the statement does not take
                    raise ClaimError(f"{text!r}: {error!r}") from error
        return self.python_check(text)

    def python_check(self, text: str) -> Check:
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
        positional, named = self.names.evaluate(f"(lambda *args, **named: (args, named))({arguments})", exact=False)
        return lambda book: check(book, *positional, **named)


def _flat(parts: Any) -> Iterable[Any]:
    for part in parts:
        yield from _flat(part) if isinstance(part, tuple) else (part,)


CLAUSES: dict[str, Callable[[CheckParser, str], Any]] = {
    "where": CheckParser.formulas,
    "under": CheckParser.bounds,
    "within": CheckParser.ranges,
    "squares": CheckParser.formulas,
    "ratio": CheckParser.formula,
    "difference": CheckParser.formula,
    "off by": CheckParser.value,
    "given": CheckParser.point,
    "assumes": CheckParser.assumptions,
    "words": lambda parser, text: int(text),
    "relation": lambda parser, text: text,
    "family": lambda parser, text: text,
    "seed": lambda parser, text: int(text),
}
"""For each clause that may follow a statement the function that reads it."""


def _slope(
    p: CheckParser, of: str, power: str, off: str | None, by: str, first: str, last: str, step: str | None,
    given: Mapping[Any, Any] | None = None,
) -> Check:  # fmt: skip
    formula, quantity = p.formula(of), p.names[by]
    powers = [sp.Integer(10) ** e for e in range(int(first), int(last) + 1, int(step or 1))]

    def curve(book: Book) -> tuple[list[float], list[float]]:
        of_quantity = resolve(formula, book).xreplace({q: v for q, v in (given or {}).items() if q != quantity})
        return [float(x) for x in powers], [float(value(of_quantity, {quantity: x})) for x in powers]

    return checkers.SlopeIs(curve, float(p.value(power)), float(off or 0.05))


def _requires(p: CheckParser, bound: str, conditions: str, **clauses: Any) -> Check:
    if clauses:
        stated = clauses.pop("assumes", ())
        return checkers.States(p.bound(bound), p.formulas(conditions), stated, **clauses)
    required: dict[str, tuple[sp.Basic, ...]] = {}
    for part in f"{bound} requires {conditions}".split("; "):
        names, _, relations = part.partition(" requires ")
        required |= dict.fromkeys(map(p.bound, names.split(", ")), p.formulas(relations))
    return checkers.requires(required)


STATEMENTS: dict[str, Callable[..., Check]] = {
    r"(.+?) requires ?(.*)": _requires,
    r"(.+) ends at (\w+) (<|>)(=?) (.+)": lambda p, bound, by, side, closed, edge, **clauses: checkers.EdgeIs(
        p.bound(bound), p.names[by], p.formula(edge), side == "<", bool(closed), **clauses
    ),
    r"(.+) survives a search": lambda p, bound, **clauses: checkers.Dominates(p.bound(bound), **clauses),
    r"(.+) is broken by (\S+)": lambda p, bound, file, ratio=None: checkers.Broken(
        p.bound(bound), file, None if ratio is None else float(ratio)
    ),
    r"(.+) can be below (.+)": lambda p, bound, trivial, **clauses: checkers.Informative(
        p.formula(bound), p.formula(trivial), **clauses
    ),
    r"(.+) has slope (\S+)(?: \+- (\S+))? in (\w+) from 10\^(\d+) to 10\^(\d+)(?: by 10\^(\d+))?": _slope,
    r"(.+) has (mixed )?units? (?:for )?(.+)": lambda p, of, mixed, unit, **clauses: checkers.MeasuredIn(
        p.formula(of), p.value(unit), mixed=bool(mixed), **clauses
    ),
    r"(.+) is (at most )?of order (.+) as (\w+) -> (\S+)": lambda p, of, at_most, order, by, to, **clauses: (
        checkers.OrderIs(p.formula(of), p.names[by], p.formula(order), p.value(to), bool(at_most), **clauses)
    ),
    r"(.+) is smallest at (.+) over (\w+)": lambda p, of, printed, by, **clauses: checkers.ArgminIs(
        p.formula(of), p.names[by], p.formula(printed), **clauses
    ),
    r"(.+) (rises|falls) in (\w+)": lambda p, of, way, by, **clauses: checkers.MonotoneIn(
        p.formula(of), p.names[by], way == "rises", **clauses
    ),
    r"(.+) -> (.+) as (\w+) -> (\S+)": lambda p, of, limit, by, to, **clauses: checkers.TendsTo(
        p.formula(of), p.names[by], p.value(to), p.formula(limit), **clauses
    ),
    r"(.+) == (.+)": lambda p, left, right, **clauses: checkers.Same(p.formula(left), p.formula(right), **clauses),
    r"(.+) <= (.+)": lambda p, left, right, **clauses: checkers.ImpliedBy(p.formula(left), p.formula(right), **clauses),
}
"""For each pattern of a statement the function that makes its check; patterns are tried in this order."""

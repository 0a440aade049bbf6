"""Systematic errors in one expression: constants, exponents, signs, terms, symbols, parentheses."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bounds.quantities import quantities_of

Error = tuple[str, sp.Expr]
"""What was done, and the expression after it."""


def errors(expression: sp.Expr) -> Iterator[Error]:
    """Every planted error of the expression that changes it, each one place at a time."""
    yield "doubled", 2 * expression
    yield "sign turned", -expression
    for maker in (constants, exponents, terms, symbols, parentheses):  # a mean's weights are not to be exchanged
        yield from ((error, wrong) for error, wrong in maker(expression) if wrong != expression)


def constants(expression: sp.Expr) -> Iterator[Error]:
    """Each number other than 1, -1 and exponents replaced by the next one."""
    for number in sorted(_factors(expression), key=str):
        other = number + 1 if number.is_Integer else 2 * number
        yield f"constant {number} made {other}", _exchange(expression, number, other)


def _factors(expression: sp.Expr) -> set[sp.Expr]:
    """The numbers that stand in sums and products."""
    found = set()
    for part in sp.preorder_traversal(expression):
        if isinstance(part, (sp.Add, sp.Mul)):
            found |= {a for a in part.args if a.is_Rational and a not in (1, -1)}
    return found


def _exchange(expression: sp.Expr, number: sp.Expr, other: sp.Expr) -> sp.Expr:
    def swap(part: sp.Expr) -> sp.Expr:
        return part.func(*(other if a == number else a for a in part.args))

    return expression.replace(lambda e: isinstance(e, (sp.Add, sp.Mul)) and number in e.args, swap)


def exponents(expression: sp.Expr) -> Iterator[Error]:
    """Each power of something that varies raised by one; each quantity that stands alone squared."""
    powers = {p for p in expression.atoms(sp.Pow) if p.base.free_symbols}
    for power in sorted(powers, key=str):
        yield f"exponent of {power} raised by 1", expression.xreplace({power: power * power.base})
    for q in quantities_of([expression]):
        if not any(p.base == q for p in powers):
            yield f"{q} squared", expression.xreplace({q: q**2})


def terms(expression: sp.Expr) -> Iterator[Error]:
    """Each term of each sum dropped, and its sign turned."""
    for part in sorted(expression.atoms(sp.Add), key=str):
        for term in part.args:
            yield f"{term} dropped from {_short(part)}", expression.xreplace({part: part - term})
            yield f"sign of {term} turned in {_short(part)}", expression.xreplace({part: part - 2 * term})


def symbols(expression: sp.Expr) -> Iterator[Error]:
    """Each quantity replaced by another of the same expression: of the same unit and axis where there is one."""
    used = quantities_of([expression])
    for q in used:
        alike = [o for o in used if o != q and o.card.axis == q.card.axis]
        alike.sort(key=lambda o: (o.card.unit != q.card.unit, o.name))
        if alike:
            yield f"{q} replaced by {alike[0]}", expression.xreplace({q: alike[0]})
        yield f"{q} lost", expression.xreplace({q: sp.S.One})


def parentheses(expression: sp.Expr) -> Iterator[Error]:
    """A product with a sum in it: the factors reach only the sum's first term."""
    for product in sorted(expression.atoms(sp.Mul), key=str):
        for part in (a for a in product.args if isinstance(a, sp.Add)):
            first, *rest = part.args
            moved = product / part * first + sp.Add(*rest)
            yield f"parenthesis of {_short(part)} moved", expression.xreplace({product: moved})


def _short(expression: sp.Expr) -> str:
    text = str(expression)
    return text if len(text) <= 40 else text[:37] + "..."

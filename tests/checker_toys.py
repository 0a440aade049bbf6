"""Quantities and bounds of no paper, for tests of the checkers."""

import sympy as sp

from bounds import units
from bounds.core import Bound, Condition
from bounds.domains import COUNT, FRACTION, NONNEGATIVE, REAL, SHARE
from bounds.papers import Source
from bounds.quantities import quantity
from paper_checks.claims.claim import Book

speed = quantity("speed", "v", "a positive number")
width = quantity("width", "w", "another positive number")
depth = quantity("depth", "d", "a third positive number")
offset = quantity("offset", "o", "what can be 0", domain=NONNEGATIVE)
place = quantity("place", "z", "a real number", domain=REAL)
repeats = quantity("repeats", "n", "a count", domain=COUNT)
portion = quantity("portion", "s", "a share", domain=SHARE)
inner = quantity("inner", "q", "a share short of 1", domain=FRACTION)
limited = quantity("limited", "m", "never above speed", at_most=speed)
cost = quantity("cost", "c", "a loss", units.LOSS)
delay = quantity("delay", "t", "a time", units.SECOND)


def bound(name, expression, *relations, target=cost):
    """A bound of one term under numeric conditions."""
    conditions = tuple(Condition(f"condition {i}", r) for i, r in enumerate(relations))
    return Bound(
        name=name,
        target=target,
        terms={"whole": sp.sympify(expression)},
        source=Source("toys", "a note"),
        conditions=conditions,
    )


def run(check, **bounds):
    """A check's finding in a book that has these expressions as bounds ``toys.<name>`` besides the catalogue's."""
    made = {f"toys.{name}": e if isinstance(e, Bound) else bound(f"toys.{name}", e) for name, e in bounds.items()}
    return check(Book(made))


def all_are(status, *checks, **bounds):
    """The findings of these checks, all of which must have this status."""
    found = [(check, run(check, **bounds)) for check in checks]
    other = [f"{check}: {each.status}, {each.evidence}" for check, each in found if each.status is not status]
    assert not other, "\n".join(other)
    return [each for _, each in found]


def audited(*checks, **bounds):
    """Whether each of these checks fails in the way that it says."""
    return [run(check, **bounds).as_audited for check in checks]

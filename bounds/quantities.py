"""Quantities: SymPy symbols with a descriptive name and a card that holds letter, meaning, unit and domain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword
from typing import Any

import sympy as sp

from .domains import Domain, POSITIVE
from .errors import DeclarationError
from .units import ONE, Unit

CLIENTS = "clients"
CLASSES = "classes"
AXES = (CLIENTS, CLASSES)
RESERVED = ("for_", "outside", "over", "side", "target", "value")
"""Names of arguments of a bound's methods and of a column of its tables, which no quantity may have."""


@dataclass(frozen=True)
class Card:
    """The description of a quantity: its name in code, LaTeX letter, meaning, unit and domain.

    ``axis`` is the axis it varies over (``clients`` or ``classes``), empty for a single number. ``at_most`` is another
    quantity that it never exceeds (mu <= L); other values are rejected.
    """

    name: str
    letter: str
    meaning: str
    unit: Unit = ONE
    domain: Domain = POSITIVE
    axis: str = ""
    at_most: Quantity | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or iskeyword(self.name):
            raise DeclarationError(f"a quantity's name must be a plain word like 'step_size'; got {self.name!r}")
        if self.axis and self.axis not in AXES:
            raise DeclarationError(f"{self.name}: axis must be one of {', '.join(AXES)} or empty; got {self.axis!r}")
        if not self.meaning:
            raise DeclarationError(f"{self.name} needs a meaning")
        if self.name in RESERVED:
            raise DeclarationError(f"{self.name} is an argument of a bound's methods; choose another name")
        for attribute, value, kind in (("domain", self.domain, Domain), ("unit", self.unit, Unit)):
            if not isinstance(value, kind):
                raise DeclarationError(f"{self.name}: {attribute} must be a {kind.__name__}; got {value!r}")
        if not isinstance(self.at_most, Quantity | None):
            raise DeclarationError(f"{self.name}: at_most must be a quantity; got {self.at_most!r}")

    @property
    def per_client(self) -> bool:
        return self.axis == CLIENTS

    @cached_property
    def identity(self) -> str:
        """A string that distinguishes cards of the same name; SymPy orders symbols by it."""
        limit = self.at_most.name if self.at_most is not None else ""
        return "|".join((self.letter, self.meaning, str(self.unit), repr(self.domain), self.axis, limit))


class Quantity(sp.Symbol):
    """A SymPy symbol with a ``card``. Two quantities are equal if name and card are."""

    __slots__ = ("card",)
    card: Card

    def __new__(cls, card: Card) -> Quantity:
        symbol = sp.Symbol.__xnew__(cls, card.name, **card.domain.assumptions)
        symbol.card = card
        return symbol

    def _hashable_content(self) -> tuple[Any, ...]:
        return (self.name, self.card.identity, *self._assumptions0)

    def __getnewargs_ex__(self) -> tuple[tuple[Card], dict[str, Any]]:
        return (self.card,), {}


def quantity(
    name: str,
    letter: str,
    meaning: str,
    unit: Unit = ONE,
    domain: Domain = POSITIVE,
    *,
    axis: str = "",
    per_client: bool = False,
    at_most: Quantity | None = None,
) -> Quantity:
    """Declare a quantity; the arguments are the attributes of ``Card``, and ``per_client`` means ``axis="clients"``.

    >>> from bounds.domains import SHARE
    >>> kept = quantity("kept", "q", "share of an update's entries that a client sends", domain=SHARE)
    >>> (1 - kept) ** 2, kept.is_positive
    ((1 - kept)**2, True)
    """
    return Quantity(Card(name, letter, meaning, unit, domain, CLIENTS if per_client else axis, at_most))


def quantities_of(expressions: Iterable[sp.Basic]) -> tuple[Quantity, ...]:
    """Return the quantities that occur in ``expressions``, sorted by name."""
    found = {s for e in expressions for s in e.free_symbols if isinstance(s, Quantity)}
    return tuple(sorted(found, key=lambda q: q.name))

"""One class per way of being wrong; every message is one line that says what, the rule, the value, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMED = 20
"""From more names than this, an error shows a few."""


class BoundsError(ValueError):
    """The caller's mistake; the command line prints it as one line and exits with status 2."""


class DomainError(BoundsError):
    """A value that is nonsense for its quantity, whatever the theorem."""


class MissingQuantityError(BoundsError):
    """Quantities a bound needs and did not get, all named at once."""


class UnknownNameError(BoundsError, KeyError):
    """An undeclared name, with the nearest ones that exist."""

    __str__ = Exception.__str__  # that of KeyError puts quotes around the message


class DeclarationError(BoundsError):
    """A bound or quantity that is declared inconsistently."""


class NoMinimumError(BoundsError):
    """There is no minimum that can be certified: the reason says which requirement failed."""


class NoSolutionError(Exception):
    """No value in the domain meets the target: a finding about the bound, not a mistake of the caller."""


class OutsideConditionsWarning(UserWarning):
    """The theorem applies at none of the points."""


class TermOverflowWarning(UserWarning):
    """A term left the range of floating-point numbers; the value is infinite."""


class UndefinedValueWarning(UserWarning):
    """The conditions hold, but the formula has no real value: a root of a negative number, infinity over infinity."""


class SignWarning(UserWarning):
    """A bound is negative whose terms are declared nonnegative."""


class UnderflowWarning(UserWarning):
    """A value is not zero but too small for a float with all its digits."""


class UnsettledWarning(UserWarning):
    """Rounding may have spoilt a value or a condition, at more points than are rechecked or beyond repair."""


def shortened(text: str, most: int = 60) -> str:
    """A text as an error shows it, however long it is."""
    return text if len(text) <= most else f"{text[: most - 20]}... ({len(text)} characters)"


def unknown(kind: str, name: str, known: Iterable[str], meant: str = "") -> UnknownNameError:
    """The error for a ``name`` that is not among the ``known`` ones, with "did you mean", or what is ``meant``."""
    names = sorted(known)
    near = get_close_matches(name[:200], names, n=3, cutoff=0.5)  # a longer one is near to none, and slow to compare
    hint = meant or (f"did you mean {' or '.join(repr(n) for n in near)}?" if near else _known(names))
    return UnknownNameError(f"unknown {kind} {shortened(name)!r}; {hint}")


def _known(names: list[str]) -> str:
    if len(names) <= MOST_NAMED:
        return f"known: {', '.join(names) or 'none'}"
    return f"there are {len(names)}, such as {', '.join(names[:: len(names) // 3][:3])}"


def said(error: BaseException) -> str:
    """``Type: message``; a class whose message cannot be made still has its name."""
    kind = type(error).__name__
    try:
        words = str(error)
    except BaseException:  # whatever a user's class raises
        words = ""
    return f"{kind}: {words}" if words else kind

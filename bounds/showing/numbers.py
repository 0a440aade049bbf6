"""How a number is written wherever a user writes one: options, values, calls, logs. Python reads more than is meant."""

from __future__ import annotations

import math
import re

from ..errors import DomainError, shortened

MOST_WORKERS = 1024
"""Maximum number of processes."""
WHOLE = re.compile(r"[+-]?[0-9]{1,400}")
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
"""A plain number: Python would also take 1_000 and the digits of other scripts, which are more often slips."""


def decimal(text: str) -> float | None:
    """The plain number that is written, None where none is; ValueError where it leaves the range of floats."""
    if not DECIMAL.fullmatch(text):
        return None
    found = float(text)
    if not math.isfinite(found) or (found == 0 and not is_zero(text)):
        raise ValueError("must be of a size that a floating-point number can have")
    return found


def held(text: str) -> float | None:
    """``decimal``, where an integer must be distinguished from its neighbours, which floats beyond 2^53 are not."""
    from ..domains import changed  # brings numpy, which help does without

    found = decimal(text)
    if WHOLE.fullmatch(text) and (said := changed(int(text))):
        raise ValueError(f"must be {said.partition(';')[0]}")
    return found


def is_zero(text: str) -> bool:
    """Whether a plain number is written as zero, and not only too small for a float."""
    return not re.search("[1-9]", text.lower().partition("e")[0])


def whole_word(text: str) -> int:
    """An integer of any size, where an option's rule is applied later; Python's own would take 1_0 and any script."""
    if not WHOLE.fullmatch(text):
        raise DomainError(f"must be an integer; got {shortened(text)!r}")
    return int(text)


def number(text: str) -> float:
    """A number, infinity among them; NaN is none."""
    try:
        found = float(text) if text.lower().lstrip("+-") == "inf" else decimal(text)
    except ValueError as error:
        raise DomainError(f"{error}; got {shortened(text)!r}") from None
    if found is None:
        raise DomainError(f"must be a number; got {shortened(text)!r}")
    return found


def number_word(text: str) -> float:
    """A number of any size, also as a fraction 1/3 and NaN, where an option's rule is applied later."""
    over, slash, under = text.partition("/")
    if slash and (divisor := number(under)):
        return number(over) / divisor
    return math.nan if text.lower().lstrip("+-") == "nan" else number(text)


def check_between(name: str, value: int | None, low: int, high: int) -> None:
    """Refuse an integer that is not in a range; None is left open."""
    if value is not None and not low <= value <= high:
        raise DomainError(f"{name} must be an integer from {low} to {high}; got {shortened(str(value))}")


def check_workers(value: int | None, low: int = 0) -> None:
    """Refuse more processes than the maximum."""
    check_between("workers", value, low, MOST_WORKERS)

"""The number syntax accepted in options, values, calls and logs. Stricter than ``float()``: no underscores, no other
scripts."""

from __future__ import annotations

import math
import re

from ..errors import DomainError, shortened

MOST_WORKERS = 1024
"""The largest number of processes."""
WHOLE = re.compile(r"[+-]?[0-9]{1,400}")
NOT_FINITE = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)
"""Numbers that are accepted here and then rejected by the domain of every quantity."""
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
"""A plain number. Python would also accept 1_000 and digits of other scripts, which are usually mistakes."""

SUFFIXES = {"": 1, "%": 0.01, "k": 1000, "s": 1, "sec": 1, "seconds": 1}
"""What suffixes of a number that users type stand for; other units would have to be converted."""
SUFFIXED = re.compile(f"({DECIMAL.pattern})(%|[a-z]*)", re.IGNORECASE)


def decimal(text: str) -> float | None:
    """Return the plain number in a text, or None if it is not one; raise ``ValueError`` if it over- or underflows."""
    if not DECIMAL.fullmatch(text):
        return None
    found = float(text)
    if not math.isfinite(found) or (found == 0 and not is_zero(text)):
        raise ValueError("must be of a size that a floating-point number can have")
    return found


def exact_decimal(text: str) -> float | None:
    """Return ``decimal(text)``; raise ``ValueError`` for an integer that a float does not hold exactly."""
    from ..domains import changed  # imports NumPy, which help texts do not need

    found = decimal(text)
    if WHOLE.fullmatch(text) and (fault := changed(int(text))):
        raise ValueError(f"must be {fault.partition(';')[0]}")
    return found


def plainly(text: str, whole: bool = False) -> str:
    """Return how to type a number that is written in another way: "; write 0.03" for 3%; empty if it is none."""
    found = SUFFIXED.fullmatch(re.sub("^0,", "0.", re.sub(r"[\s_]", "", text)))
    if found and (factor := SUFFIXES.get(found[4].lower())) is None:
        return "; write a number without a unit"
    value = float(found[1]) * factor if found and factor else math.nan
    return f"; write {value:.12g}" if value.is_integer() or (math.isfinite(value) and not whole) else ""


def is_zero(text: str) -> bool:
    """Whether a plain number is written as zero, rather than too small for a float."""
    return not re.search("[1-9]", text.lower().partition("e")[0])


def whole_word(text: str) -> int:
    """Parse an integer of any size; range checks follow elsewhere."""
    if not WHOLE.fullmatch(text):
        raise DomainError(f"must be an integer; got {shortened(text)!r}{plainly(text, whole=True)}")
    return int(text)


def read_number(text: str, otherwise: str = "") -> float:
    """Parse a number, a fraction such as 1/3, infinity or NaN; range checks follow elsewhere.

    ``otherwise`` says in errors what else would be valid.
    """
    parts = [part.strip() for part in text.split("/")]
    if len(parts) == 1 and NOT_FINITE.fullmatch(parts[0]):
        return float(parts[0])
    try:
        read = [exact_decimal(part) for part in parts]
    except ValueError as error:
        raise DomainError(f"{error}; got {shortened(text)!r}") from None
    numbers = [x for x in read if x is not None]
    if len(numbers) < len(read) or len(numbers) > 2 or (len(numbers) == 2 and is_zero(parts[1])):
        raise DomainError(f"must be a number{otherwise}; got {shortened(text)!r}{plainly(text)}")
    value = numbers[0] if len(numbers) == 1 else numbers[0] / numbers[1]
    if not math.isfinite(value) or (value == 0 and not is_zero(parts[0])):
        raise DomainError(f"must be of a size that a floating-point number can have; got {shortened(text)!r}")
    return value


def check_between(name: str, value: int | None, low: int, high: int) -> None:
    """Raise ``DomainError`` if an integer is not in a range; None is accepted."""
    if value is not None and not low <= value <= high:
        raise DomainError(f"{name} must be an integer from {low} to {high}; got {shortened(str(value))}")


def check_workers(value: int | None, low: int = 0) -> None:
    """Raise ``DomainError`` if the number of processes is not in its range."""
    check_between("workers", value, low, MOST_WORKERS)

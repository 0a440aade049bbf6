"""How a number is written wherever people write one: options, values, calls, logs. Python reads more than is meant."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable

from ..domains import changed

MOST_WORKERS = 1024
"""Processes that a machine is asked for at most."""
WHOLE = re.compile(r"[+-]?[0-9]{1,400}")
HUGE = 10**18 - 1
"""The largest whole number of a rule without an upper end."""
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
    """``decimal``, where a whole number is to be told from its neighbours, which floats beyond 2^53 are not."""
    found = decimal(text)
    if WHOLE.fullmatch(text) and (said := changed(int(text))):
        raise ValueError(f"must be {said.partition(';')[0]}")
    return found


def is_zero(text: str) -> bool:
    """Whether a plain number is written as zero, and not only too small for a float."""
    return not re.search("[1-9]", text.lower().partition("e")[0])


def whole_word(text: str) -> int:
    """A whole number of any size, where an option's rule is told later; Python's own would take 1_0 and any script."""
    if not WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"must be a whole number; got {_short(text)}")
    return int(text)


def whole_number(low: int, high: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers from ``low`` to ``high``."""
    rule = f"a whole number >= {low} of at most 18 digits" if high is None else f"a whole number from {low} to {high}"

    def read(text: str) -> int:
        found = int(text) if WHOLE.fullmatch(text) else None
        if found is None or found < low or found > (HUGE if high is None else high):
            raise argparse.ArgumentTypeError(f"must be {rule}; got {_short(text)}")
        return found

    return read


def number(text: str) -> float:
    """A number, infinity among them; NaN is none."""
    try:
        found = float(text) if text.lower().lstrip("+-") == "inf" else decimal(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; got {_short(text)}") from None
    if found is None:
        raise argparse.ArgumentTypeError(f"must be a number; got {_short(text)}")
    return found


def real_word(text: str) -> float:
    """A number of any size, NaN too, where an option's rule is told later."""
    return math.nan if text.lower().lstrip("+-") == "nan" else number(text)


def positive(text: str) -> float:
    """A finite number > 0."""
    found = number(text)
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a finite number > 0; got {_short(text)}")
    return found


def _short(text: str) -> str:
    """What was typed, as far as one line holds it."""
    return repr(text if len(text) <= 60 else text[:57] + "...")

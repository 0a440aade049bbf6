"""Numbers as values of options, for argparse: what is no plain number, or outside its range, is refused in one line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

MOST_WORKERS = 1024
"""Processes that a machine is asked for at most."""
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?inf", re.IGNORECASE)


def whole_number(low: int, high: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers from ``low`` to ``high``; Python's own would take 1_0 and digits of any script."""
    rule = f"a whole number >= {low}" if high is None else f"a whole number from {low} to {high}"

    def read(text: str) -> int:
        found = int(text) if WHOLE.fullmatch(text) else None
        if found is None or found < low or (high is not None and found > high):
            raise argparse.ArgumentTypeError(f"must be {rule}; got {_short(text)}")
        return found

    return read


def number(text: str) -> float:
    """A number, infinity among them; NaN is none."""
    if not PLAIN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"must be a number; got {_short(text)}")
    return float(text)


def positive(text: str) -> float:
    """A finite number > 0."""
    found = number(text)
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a finite number > 0; got {_short(text)}")
    return found


def _short(text: str) -> str:
    """What was typed, as far as one line holds it."""
    return repr(text if len(text) <= 60 else text[:57] + "...")

"""Tables 10 and 11: seconds per round, rounds and seconds to a target accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ...reported import table
from ..checkers import exact
from ..checkers.tables import Cell
from .tables import METHODS

PLACES, TARGETS = ("10%-100", "5%-200"), ("CIFAR-10 (>70%)", "CIFAR-100 (>30%)")
TEN, ELEVEN = ({key: cell.value for key, cell in table("fedinit", name).items()} for name in ("Table 10", "Table 11"))


def _seconds(place: str) -> dict[str, str | Fraction]:
    """Return the seconds of a round by method, and 1.06 times FedAvg's."""
    seconds = {m: TEN[m, f"{place}/wall-clock"] for m in METHODS}
    return {**seconds, "1.06 FedAvg": exact(seconds["FedAvg"]) * Fraction(106, 100)}


def _reached(target: str, column: str) -> dict[str, str]:
    """Return the ``rounds`` or the ``time`` in seconds (``column``) to a target accuracy, by method."""
    return {m: ELEVEN[m, f"{target}/{column}"] for m in METHODS}


NUMBERS: dict[str, Mapping[str, Cell]] = {
    "times": {f"{m}, {t}": seconds for t in TARGETS for m, seconds in _reached(t, "time").items()},
    **{place: _seconds(place) for place in PLACES},
    **{f"{t}, {column}": _reached(t, column) for t in TARGETS for column in ("rounds", "time")},
    **{t: _reached(t, "rounds") for t in TARGETS},
    **{column: _reached(TARGETS[0], column) for column in ("rounds", "time")},
}
